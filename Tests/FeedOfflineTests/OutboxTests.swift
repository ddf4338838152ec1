import FeedClient
import FeedOffline
import FeedProto
import FeedTestSupport
import Testing

/// Changes without a service, and what becomes of them once there is one.
@Suite(.timeLimit(.minutes(10)))
struct OutboxTests {
    @Test func changesWithoutAServiceAreShownAndCountOnceLater() async throws {
        try await TestService.run { service in
            let id = try await service.withClient {
                try await $0.createPost(Post(title: "seed")).id
            }
            try await service.withFeed { try await $0.sync() }
            await service.end(signal: 9)

            // The app is started without a service: lists, votes and posts work.
            try await service.withFeed { feed async throws in
                #expect(try await feed.titled("seed")?.score == 0)
                for _ in 0..<3 { try await feed.vote(on: id, .up) }
                try await feed.vote(on: id, .down)
                let local = try await feed.createPost(Post(title: "made here")).localPostID
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
                let post = try await feed.createPost(Post(title: long))
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
                return try await client.createPost(Post(title: "poll"), in: "polls").id
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
            let id = try await service.withClient { try await $0.createPost(Post(title: "old")).id }
            try await service.withFeed { feed async throws in
                try await feed.sync()
                let vote = try await feed.vote(on: id, .up)
                try await feed.createPost(Post(title: "made here"))
                await service.end(signal: 9)
                service.loseState()
                try await service.start()
                let other = try await service.withClient {
                    try await $0.createPost(Post(title: "other")).id
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
                let local = try await feed.createPost(Post(title: "made here")).localPostID
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
