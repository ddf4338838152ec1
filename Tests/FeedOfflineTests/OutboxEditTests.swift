import FeedClient
import FeedOffline
import FeedProto
import FeedTestSupport
import Testing

/// Edits that stand on one another, and posts that are deleted before a service has them.
@Suite(.timeLimit(.minutes(10)))
struct OutboxEditTests {
    @Test(arguments: ServiceKind.allCases)
    func editsOfAPostStandOnTheEditsBefore(_ kind: ServiceKind) async throws {
        try await OutboxBench.run(kind) { bench in
            let made = try await bench.client.createPost(Post(title: "a", text: "old"))
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
                if kind == .inMemory {
                    post.revision = try await bench.client.getPost(made.id).revision
                }
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
            let made = try await bench.client.createPost(Post(title: "a"))
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
                // The person has seen the other edit, and wants this one all the same. In memory there is
                // no copy, and so no later revision to stand on.
                guard kind == .connected else { return }
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
            let made = try await bench.client.createPost(Post(title: "a"))
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
                guard case .failed(let status) = try await feed.outbox().first?.state else {
                    Issue.record("The second edit stands on a post that the person has not seen.")
                    return
                }
                #expect(status.reason == .revisionMismatch)
            }
            #expect(try await bench.client.getPost(made.id).title == "b")
        }
    }

    @Test(arguments: ServiceKind.allCases)
    func aDraftOfACopiedPostHasNoRevision(_ kind: ServiceKind) async throws {
        try await OutboxBench.run(kind) { bench in
            let made = try await bench.client.createPost(Post(title: "a"))
            try await bench.withFeed { feed async throws in
                try await feed.sync()
                let draft = try await feed.createPost(made, in: made.feed).localPostID
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
            let made = try await device.withClient { try await $0.createPost(Post(title: "a")) }
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
                guard case .updatePost(let update) = left.first?.request else {
                    Issue.record("The device's edit is gone: \(left)")
                    return
                }
                #expect(update.post?.revision == made.revision)
            }
        }
    }

    @Test(arguments: ServiceKind.allCases)
    func aDraftThatIsDeletedIsNeverSent(_ kind: ServiceKind) async throws {
        try await OutboxBench.run(kind) { bench in
            try await bench.withFeed { feed async throws in
                try await feed.sync()
                let kept = try await feed.createPost(Post(title: "kept")).localPostID
                let draft = try await feed.createPost(Post(title: "draft")).localPostID
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
                let next = try await bench.client.createPost(Post(title: "next")).id
                #expect(posts.map(\.id) == [next - 1])
            }
        }
    }

    @Test func aRefusedPostThatIsDeletedIsForgotten() async throws {
        try await TestService.run { service in
            try await service.withFeed {
                $0.maximumOutboxCount = 2
            } _: { feed async throws in
                let long = String(repeating: "x", count: 2_000)
                let entry = try await feed.createPost(Post(title: long))
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
