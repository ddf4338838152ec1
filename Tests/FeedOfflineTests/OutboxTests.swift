import FeedClient
import FeedOffline
import FeedProto
import FeedSQLite
import FeedTestSupport
import Testing

/// Changes without a service, and what becomes of them once there is one.
@Suite(.timeLimit(.minutes(10))) struct OutboxTests {
    @Test func changesWithoutAServiceAreShownAndCountOnceLater() async throws {
        try await TestService.run { service in
            let id = try await service.withClient {
                try await $0.createPost(PostDraft(title: "seed")).id
            }
            try await service.withFeed { try await $0.sync() }
            await service.end(signal: 9)

            // The app is started without a service: lists, votes and posts work.
            try await service.withFeed { feed async throws in
                #expect(try await feed.titled("seed")?.score == 0)
                for _ in 0..<3 { try await feed.vote(on: id, .up) }
                try await feed.vote(on: id, .down)
                let local = try await feed.createPost(PostDraft(title: "made here")).localPostID
                try await feed.vote(on: local, .up)
                #expect(try await feed.post(id)?.score == 2)
                #expect(try await feed.titled("made here")?.score == 1)
                await #expect(throws: OfflineError.self) { try await feed.sync() }
            }
            // It is ended and started again.
            let local = try await service.withFeed { feed async throws in
                #expect(try await feed.outbox().count == 6)
                #expect(try await feed.post(id)?.score == 2)
                return try #require(try await feed.titled("made here")).id
            }
            #expect(LocalPostID.isLocal(local))

            try await service.start()
            try await service.withFeed { feed async throws in
                let report = try await feed.sync()
                #expect(report.sentCount == 6)
                #expect(report.leftCount == 0)
                #expect(try await feed.outbox().isEmpty)
                let made = try #require(try await feed.titled("made here"))
                #expect(!LocalPostID.isLocal(made.id))
                #expect(made.score == 1)
                // The local id still names the post, also for new changes.
                #expect(try await feed.post(local)?.id == made.id)
                try await feed.vote(on: local, .up)
                try await feed.sync()
                try await service.withClient { client async throws in
                    #expect(try await client.getPost(id).upvoteCount == 3)
                    #expect(try await client.getPost(id).downvoteCount == 1)
                    #expect(try await client.getPost(made.id).score == 2)
                }
            }
        }
    }

    @Test func aRefusedChangeIsKeptWithItsErrorAndCanBeDropped() async throws {
        try await TestService.run { service in
            try await service.withFeed { feed async throws in
                let long = String(repeating: "x", count: 300)
                let post = try await feed.createPost(PostDraft(title: long))
                let vote = try await feed.vote(on: post.localPostID, .up)
                let lost = try await feed.vote(on: 4_711, .up)
                let report = try await feed.sync()
                #expect(report.failedCount == 2)
                #expect(report.leftCount == 1)
                let entries = try await feed.outbox()
                #expect(entries.map(\.number) == [post.number, vote.number, lost.number])
                #expect(entries[0].failure?.reason == .titleTooLong)
                #expect(entries[1].state == .waiting)
                #expect(entries[2].failure?.reason == .postNotFound)
                try await feed.drop(lost.number)
                // With the post its vote goes.
                try await feed.drop(post.number)
                #expect(try await feed.outbox().isEmpty)
                #expect(try await feed.post(post.localPostID) == nil)
            }
        }
    }

    @Test func editsMarksAndDeletionsAreShownAndSent() async throws {
        try await TestService.run { service in
            let ids = try await service.withClient { client async throws in
                try await client.importPosts(
                    (0..<6).map { Post(title: "post \($0)", createTimeMilliseconds: 1_000 + $0) },
                    in: "posts"
                )
            }
            try await service.withFeed { feed async throws in
                try await feed.sync()
                var edited = Post(title: "edited")
                edited.id = ids[0]
                try await feed.updatePost(edited, fields: [.title])
                try await feed.deletePost(ids[1])
                try await feed.mark([ids[2]], as: .read)
                try await feed.mark(through: ids[3], as: .dismissed, in: "posts")
                let unread = PostList(order: .old, unreadOnly: true, includesDismissed: true)
                #expect(try await feed.posts(unread).posts.map(\.id) == [ids[0]] + ids[3...])
                #expect(
                    try await feed.posts(PostList(order: .old)).posts.map(\.id) == Array(ids[4...])
                )
                #expect(try await feed.post(ids[0])?.title == "edited")

                #expect(try await feed.sync().sentCount == 4)
                #expect(
                    try await feed.posts(PostList(order: .old)).posts.map(\.id) == Array(ids[4...])
                )
                #expect(try await feed.posts(unread).posts.map(\.id) == [ids[0]] + ids[3...])
                try await service.withClient { client async throws in
                    #expect(try await client.getPost(ids[0]).title == "edited")
                    await #expect(throws: FeedClientError.self) { try await client.getPost(ids[1]) }
                }
            }
        }
    }

    @Test func aBallotReplacesTheOneBefore() async throws {
        try await TestService.run { service in
            let id = try await service.withClient { client async throws in
                try await client.createFeed(
                    Feed(name: "polls", voteMode: .ballot, voters: .devices)
                )
                return try await client.createPost(PostDraft(title: "poll"), in: "polls").id
            }
            try await service.withFeed { feed async throws in
                try await feed.sync()
                try await feed.vote(on: id, .up)
                try await feed.vote(on: id, .up)
                #expect(try await feed.post(id)?.score == 1)
                try await feed.vote(on: id, .down)
                #expect(try await feed.post(id)?.score == -1)
                try await feed.sync()
                #expect(try await feed.post(id)?.score == -1)
                #expect(try await feed.post(id)?.viewer?.vote == .down)
                try await feed.vote(on: id, .clear)
                #expect(try await feed.post(id)?.score == 0)
            }
        }
    }

    @Test func changesOnPostsOfAnotherStateComeIntoDoubt() async throws {
        try await TestService.run { service in
            let id = try await service.withClient {
                try await $0.createPost(PostDraft(title: "old")).id
            }
            try await service.withFeed { feed async throws in
                try await feed.sync()
                let vote = try await feed.vote(on: id, .up)
                try await feed.createPost(PostDraft(title: "made here"))
                await service.end(signal: 9)
                service.loseState()
                try await service.start()
                let other = try await service.withClient {
                    try await $0.createPost(PostDraft(title: "other")).id
                }
                #expect(other == id)

                let report = try await feed.sync()
                #expect(report.isReset)
                #expect(report.sentCount == 1)
                #expect(report.inDoubtCount == 1)
                #expect(try await feed.outbox().map(\.state) == [.inDoubt(.otherPosts)])
                #expect(try await feed.post(id)?.title == "other")
                #expect(try await feed.post(id)?.score == 0)
                #expect(try await feed.titled("made here") != nil)
                // The program decides.
                try await feed.resend(vote.number)
                try await feed.sync()
                #expect(try await feed.post(id)?.score == 1)
            }
        }
    }

    @Test func aChangeOnAPostThatWasMadeHereFollowsItIntoAnotherState() async throws {
        try await TestService.run { service in
            try await service.withFeed { feed async throws in
                try await feed.sync()
                let local = try await feed.createPost(PostDraft(title: "made here")).localPostID
                try await feed.vote(on: local, .up)
                await service.end(signal: 9)
                service.loseState()
                try await service.start()

                let report = try await feed.sync()
                #expect(report.sentCount == 2)
                #expect(report.inDoubtCount == 0)
                #expect(try await feed.outbox().isEmpty)
                #expect(try await feed.post(local)?.score == 1)
            }
        }
    }

    @Test func anOutboxHasALimit() async throws {
        try await TestService.run { service in
            try await service.withFeed("full.db") {
                $0.maximumOutboxCount = 2
            } _: { feed async throws in
                try await feed.vote(on: 1, .up)
                try await feed.vote(on: 1, .up)
                await #expect(throws: OfflineError.outboxFull(limit: 2)) {
                    try await feed.vote(on: 1, .up)
                }
            }
        }
    }
}

extension OutboxEntry {
    fileprivate var failure: Status? {
        if case .failed(let status) = state { status } else { nil }
    }
}

/// Edits that stand on one another, and posts that are deleted before a service has them.
@Suite(.timeLimit(.minutes(10))) struct OutboxEditTests {
    @Test(arguments: ServiceKind.allCases)
    func editsOfAPostStandOnTheEditsBefore(_ kind: ServiceKind) async throws {
        try await OutboxBench.run(kind) { bench in
            let made = try await bench.client.createPost(PostDraft(title: "a", text: "old"))
            try await bench.withFeed { feed async throws in
                try await feed.sync()
                var post = try await feed.post(made.id) ?? made
                for title in ["b", "c", "d"] {
                    post.title = title
                    try await feed.updatePost(post, fields: [.title])
                    post = try await feed.post(made.id) ?? post
                }
                post.text = "new"
                try await feed.updatePost(post, fields: [.text])
                #expect(try await feed.sync().sentCount == 4)
                #expect(try await feed.outbox().isEmpty)
                // The next one stands on the answer to the last.
                post = try await feed.post(made.id) ?? post
                post.title = "e"
                try await feed.updatePost(post, fields: [.title])
                #expect(try await feed.sync().failedCount == 0)
            }
            let now = try await bench.client.getPost(made.id)
            #expect((now.title, now.text) == ("e", "new"))
        }
    }

    @Test("an edit of somebody else is a conflict", arguments: ServiceKind.allCases)
    func anEditOfSomebodyElseIsAConflict(_ kind: ServiceKind) async throws {
        try await OutboxBench.run(kind) { bench in
            let made = try await bench.client.createPost(PostDraft(title: "a"))
            try await bench.withFeed { feed async throws in
                try await feed.sync()
                var post = made
                post.title = "b"
                try await feed.updatePost(post, fields: [.title])
                post.title = "c"
                let last = try await feed.updatePost(post, fields: [.title]).number
                _ = try await bench.client.updatePost(
                    Post(id: made.id, text: "theirs"),
                    fields: [.text]
                )
                #expect(try await feed.sync().failedCount == 2)
                let reasons = try await feed.outbox().map { entry -> Reason? in
                    if case .failed(let status) = entry.state { status.reason } else { nil }
                }
                #expect(reasons == [.revisionMismatch, .revisionMismatch])
                // The person has seen the other edit, and wants this one all the same.
                #expect(try await feed.post(made.id)?.text == "theirs")
                try await feed.resend(last)
                #expect(try await feed.sync().sentCount == 1)
                let now = try await bench.client.getPost(made.id)
                #expect((now.title, now.text) == ("c", "theirs"))
            }
        }
    }

    @Test func anEditThatMetAnotherOneCarriesTheNextNoFurther() async throws {
        try await OutboxBench.run(.connected) { bench in
            let made = try await bench.client.createPost(PostDraft(title: "a"))
            try await bench.withFeed { feed async throws in
                try await feed.sync()
                // The first edit names no revision, so it is taken whatever others have written.
                try await feed.updatePost(Post(id: made.id, title: "b"), fields: [.title])
                var post = made
                post.title = "c"
                try await feed.updatePost(post, fields: [.title])
                _ = try await bench.client.updatePost(
                    Post(id: made.id, text: "theirs"),
                    fields: [.text]
                )
                let outcome = try await feed.sync()
                #expect((outcome.sentCount, outcome.failedCount) == (1, 1))
                // The second edit stands on a post that the person has not seen.
                guard case .failed(let status) = try await feed.outbox().first?.state
                else { throw Unexpected(try await feed.outbox()) }
                #expect(status.reason == .revisionMismatch)
            }
            #expect(try await bench.client.getPost(made.id).title == "b")
        }
    }

    @Test(arguments: ServiceKind.allCases)
    func aDraftOfACopiedPostHasNoRevision(_ kind: ServiceKind) async throws {
        try await OutboxBench.run(kind) { bench in
            let made = try await bench.client.createPost(PostDraft(title: "a"))
            try await bench.withFeed { feed async throws in
                try await feed.sync()
                let draft = try await feed.createPost(PostDraft(made), in: made.feed).localPostID
                var shown = try #require(try await feed.post(draft))
                #expect(shown.revision == 0)
                shown.title = "b"
                try await feed.updatePost(shown, fields: [.title])
                #expect(try await feed.sync().failedCount == 0)
                let newest = try await bench.client.listPosts(order: .new, pageSize: 1)
                #expect(newest.posts.first?.title == "b")
            }
        }
    }

    @Test func whatAnotherAccountHasEditedIsNoEditOfOnesOwn() async throws {
        try await Device.run { device in
            try await device.signIn("ann")
            let made = try await device.withClient {
                try await $0.createPost(PostDraft(title: "a"))
            }
            try await device.withFeed { feed async throws in
                try await feed.sync()
                var post = made
                post.title = "b"
                try await feed.updatePost(post, fields: [.title])
            }
            try await device.signOut()
            try await device.withFeed { feed async throws in
                var post = made
                post.title = "c"
                try await feed.updatePost(post, fields: [.title])
            }
            try await device.signIn("ann")
            try await device.withFeed { feed async throws in
                try await feed.sync()
                let left = try await feed.outbox()
                #expect(left.count == 1)
                guard case .updatePost(let update) = left.first?.request
                else { throw Unexpected("The device's edit is gone: \(left)") }
                #expect(update.post?.revision == made.revision)
            }
        }
    }

    @Test(arguments: ServiceKind.allCases)
    func aDraftThatIsDeletedIsNeverSent(_ kind: ServiceKind) async throws {
        try await OutboxBench.run(kind) { bench in
            try await bench.withFeed { feed async throws in
                try await feed.sync()
                let kept = try await feed.createPost(PostDraft(title: "kept")).localPostID
                let draft = try await feed.createPost(PostDraft(title: "draft")).localPostID
                try await feed.updatePost(Post(id: draft, title: "edited"), fields: [.title])
                try await feed.vote(on: draft, .up)
                try await feed.vote(on: kept, .up)
                try await feed.mark([draft], as: .read)
                let deletion = try await feed.deletePost(draft)
                #expect(try await feed.post(draft) == nil)
                #expect(try await feed.outbox().map(\.request.isCreation) == [true, false])
                let unknown = OfflineError.unknownPost(draft)
                await #expect(throws: unknown) { try await feed.vote(on: draft, .up) }
                let gone = OfflineError.unknownEntry(deletion.number)
                await #expect(throws: gone) { try await feed.drop(deletion.number) }
                #expect(try await feed.sync().sentCount == 2)
                let posts = try await bench.client.listPosts(order: .new).posts
                #expect(posts.map(\.title) == ["kept"])
                // A post that was published and deleted would have taken an id.
                let next = try await bench.client.createPost(PostDraft(title: "next")).id
                #expect(posts.map(\.id.rawValue) == [next.rawValue - 1])
            }
        }
    }

    @Test func aRefusedPostThatIsDeletedIsForgotten() async throws {
        try await TestService.run { service in
            try await service.withFeed {
                $0.maximumOutboxCount = 2
            } _: { feed async throws in
                let long = String(repeating: "x", count: 2_000)
                let entry = try await feed.createPost(PostDraft(title: long))
                try await feed.vote(on: entry.localPostID, .up)
                #expect(try await feed.sync().failedCount == 1)
                // A full outbox has room for what empties it.
                try await feed.deletePost(entry.localPostID)
                #expect(try await feed.outbox().isEmpty)
            }
        }
    }
}

extension Request {
    fileprivate var isCreation: Bool {
        if case .createPost = self { true } else { false }
    }
}

/// Which entries of the outbox lists show.
@Suite(.timeLimit(.minutes(10))) struct OutboxShownTests {
    @Test func aPostThatWasRefusedIsShownOnceItIsSentAgain() async throws {
        try await TestService.run { service in
            try await service.withFeed { feed async throws in
                let title = String(repeating: "x", count: 300)
                let entry = try await feed.createPost(PostDraft(title: title))
                let made = try #require(try await feed.titled(title))
                #expect(made.id == entry.localPostID)
                var reader = feed.changes.makeAsyncIterator()
                #expect(try await feed.sync().failedCount == 1)
                #expect(await reader.next()?.removedPosts == [made.id])
                #expect(try await feed.post(made.id) == nil)
                #expect(try await feed.posts(PostList(order: .new)).posts.isEmpty)
                #expect(try await feed.postCount() == 0)
                // A vote on it waits, and does not show it.
                try await feed.vote(on: made.id, .up)
                #expect(try await feed.postCount() == 0)

                try await feed.resend(entry.number)
                let again = try #require(try await feed.titled(title))
                #expect(again.id == made.id)
                #expect(again.createTimeMilliseconds == made.createTimeMilliseconds)
                #expect(again.score == 1)
            }
        }
    }

    @Test func anEditThatWasRefusedIsTakenBack() async throws {
        try await TestService.run { service in
            let id = try await service.withClient {
                try await $0.createPost(PostDraft(title: "old")).id
            }
            try await service.withFeed { feed async throws in
                try await feed.sync()
                let link = "javascript:alert(1)"
                let edit = Post(id: id, linkURL: link)
                let entry = try await feed.updatePost(edit, fields: [.linkURL])
                #expect(try await feed.post(id)?.linkURL == link)
                #expect(try await feed.sync().failedCount == 1)
                #expect(try await feed.post(id)?.linkURL == "")
                try await feed.resend(entry.number)
                #expect(try await feed.post(id)?.linkURL == link)
            }
        }
    }

    /// Swift takes both titles for equal; the service and SQLite compare bytes.
    @Test func anEditOfTheBytesAloneIsShownAndSorted() async throws {
        try await TestService.run { service in
            let (composed, apart) = ("\u{e9}", "e\u{301}")
            let ids = try await service.withClient { client async throws in
                let last = try await client.createPost(PostDraft(title: composed)).id
                return [last, try await client.createPost(PostDraft(title: apart)).id]
            }
            try await service.withFeed { feed async throws in
                try await feed.sync()
                let top = PostList(order: .top)
                #expect(try await feed.posts(top).posts.map(\.id) == [ids[1], ids[0]])
                try await feed.updatePost(Post(id: ids[0], title: apart), fields: [.title])
                let shown = try #require(try await feed.post(ids[0]))
                #expect(Array(shown.title.utf8) == Array(apart.utf8))
                #expect(try await feed.posts(top).posts.map(\.id) == ids)
            }
        }
    }

    @Test func listsShowTheChangesOfTheOneWhoHasSignedIn() async throws {
        try await Device.run { device in
            let id = try await device.service.withClient { client async throws in
                try await client.createFeed(Feed(name: "polls", voteMode: .ballot, voters: .users))
                return try await client.createPost(PostDraft(title: "poll"), in: "polls").id
            }
            try await device.signIn("bob")
            _ = try await device.withClient { try await $0.vote(on: id, .up) }
            try await device.signIn("ann")
            try await device.withFeed { feed async throws in
                try await feed.sync()
                try await feed.vote(on: id, .down)
                try await feed.mark(through: id, as: .dismissed)
                try await feed.createPost(PostDraft(title: "Ann's"))
                #expect(try await feed.titled("poll") == nil)
                #expect(try await feed.post(id)?.viewer?.vote == .down)
                #expect(try await feed.titled("Ann's") != nil)
            }
            try await device.signIn("bob")
            try await device.withFeed { feed async throws in
                #expect(try await feed.titled("poll")?.score == 1)
                #expect(try await feed.titled("Ann's") == nil)
                #expect(try await feed.sync().otherUserCount == 3)
                #expect(try await feed.titled("poll")?.viewer?.vote == .up)
                #expect(try await feed.titled("poll")?.score == 1)
                #expect(try await feed.titled("Ann's") == nil)
                #expect(try await feed.outbox().count == 3)
            }
            // Ann's changes are there again, before they are sent and after.
            try await device.signIn("ann")
            try await device.withFeed { feed async throws in
                for sentCount in [3, 0] {
                    #expect(try await feed.titled("poll") == nil)
                    #expect(try await feed.post(id)?.viewer?.vote == .down)
                    #expect(try await feed.titled("Ann's") != nil)
                    #expect(try await feed.sync().sentCount == sentCount)
                }
                #expect(try await feed.post(id)?.score == 0)
            }
        }
    }

    @Test func aFileThatShowedTheChangesOfAllShowsThoseOfOne() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/offline.db"
        let sessions = FileSessionStore(path: folder.path + "/session")
        var configuration = OfflineConfiguration(path: path, address: "127.0.0.1:1")
        configuration.client.sessionStore = sessions
        let feed = try await OfflineFeed.open(configuration)
        let mine = try await feed.createPost(PostDraft(title: "the device's")).localPostID
        let token = try #require(Secret(bytes: [UInt8](repeating: 1, count: 32)))
        sessions.save(StoredSession(token: token, userID: 5))
        try await feed.createPost(PostDraft(title: "Ann's"))
        try await feed.vote(on: mine, .up)
        await feed.close()
        sessions.remove()
        // The file as an earlier version has left it.
        try Database(path: path).execute(
            """
            UPDATE posts SET is_gone = 0;
            ALTER TABLE identity DROP COLUMN shown_user;
            PRAGMA user_version = 2
            """
        )
        let again = try await OfflineFeed.open(configuration)
        #expect(again.notice == nil)
        let posts = try await again.posts(PostList(order: .new)).posts
        #expect(posts.map(\.title) == ["the device's"])
        #expect(posts.map(\.score) == [0])
        #expect(try await again.outbox().count == 3)
        await again.close()
    }

    @Test func noChangeNamesThePostZero() async throws {
        let folder = try TemporaryDirectory()
        let configuration = OfflineConfiguration(
            path: folder.path + "/offline.db",
            address: "127.0.0.1:1"
        )
        let feed = try await OfflineFeed.open(configuration)
        let post = try await feed.createPost(PostDraft(title: "post"))
        let unknown = OfflineError.unknownPost(0)
        await #expect(throws: unknown) { try await feed.vote(on: 0, .up) }
        await #expect(throws: unknown) { try await feed.deletePost(0) }
        await #expect(throws: unknown) { try await feed.mark([post.localPostID, 0], as: .read) }
        await #expect(throws: unknown) {
            try await feed.updatePost(Post(title: "edited"), fields: [.title])
        }
        await #expect(throws: unknown) { try await feed.mark(through: 0, as: .read) }
        #expect(try await feed.outbox().map(\.number) == [post.number])
        await feed.close()
    }

    @Test func onlyAMarkThroughAPostIsOneOfAllPosts() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/offline.db"
        let configuration = OfflineConfiguration(path: path, address: "127.0.0.1:1")
        let feed = try await OfflineFeed.open(configuration)
        let first = try await feed.createPost(PostDraft(title: "first")).localPostID
        let second = try await feed.createPost(PostDraft(title: "second")).localPostID
        try await feed.vote(on: first, .up)
        await feed.close()
        // As an earlier version has left a vote on the post 0.
        try Database(path: path).execute("UPDATE targets SET post = 0")
        let again = try await OfflineFeed.open(configuration)
        try await again.vote(on: second, .up)
        #expect(try await again.post(second)?.score == 1)
        await again.close()
    }
}
