import FeedClient
import FeedOffline
import FeedProto
import FeedTestSupport
import Testing

/// Changes that no service would take, and what rows say of those that wait.
@Suite(.timeLimit(.minutes(10))) struct ChangeRulesTests {
    @Test func whatTheServiceRefusesForCertainIsRefusedAtOnce() async throws {
        try await TestService.run { service in
            let id = try await service.withClient { client async throws in
                let members = Feed(
                    name: "members",
                    voteMode: .ballot,
                    maximumTitleLength: 5,
                    voters: .users
                )
                try await client.createFeed(members)
                return [
                    try await client.createPost(PostDraft(title: "tally")).id,
                    try await client.createPost(PostDraft(title: "ours"), in: "members").id,
                ]
            }
            var edit = UpdatePostRequest(post: Post(id: id[1], title: "longer"), updateMask: [])
            let noEdit = Request.updatePost(edit)
            edit.updateMask = [.title]
            let refused: [Request] = [
                .createPost(CreatePostRequest(feed: "members", post: Post(title: "longer"))),
                .createPost(CreatePostRequest(feed: "tweets", post: Post())),
                .createPost(
                    CreatePostRequest(
                        feed: "tweets",
                        post: Post(text: String(repeating: "é", count: 141))
                    )
                ),
                .updatePost(edit), noEdit,
                .castVote(CastVoteRequest(postID: id[0], direction: .clear)),
                .castVote(CastVoteRequest(postID: id[1], direction: .up)),
                .markPosts(MarkPostsRequest(mark: .read, postIDs: [])),
                .markPosts(
                    MarkPostsRequest(mark: .read, postIDs: (1...101).map(PostID.init(rawValue:)))
                ),
            ]
            try await service.withFeed { feed async throws in
                // What nobody has said yet cannot be known.
                let early = try await Self.add(refused[0], to: feed)
                try await feed.drop(try #require(early).number)
                try await feed.sync()
                try await service.withClient {
                    $0.clientID = ClientID()
                } _: { client async throws in
                    for request in refused {
                        await #expect("\(request)") {
                            try await Self.add(request, to: feed)
                        } throws: { error in
                            guard case OfflineError.refused(let status) = error else {
                                return false
                            }
                            return await Self.reason(request, client) == status.reason
                                && status.isNotExecuted
                        }
                    }
                }
                #expect(try await feed.outbox().isEmpty)
                // The limits themselves are taken.
                try await feed.createPost(PostDraft(title: "short"), in: "members")
                let text = String(repeating: "é", count: 140)
                try await feed.createPost(PostDraft(text: text), in: "tweets")
                try await feed.vote(on: id[0], .down)
                try await feed.mark([id[0]], as: .read)
                #expect(try await feed.sync().sentCount == 4)
            }
        }
    }

    private static func reason(_ request: Request, _ client: FeedClient) async -> Reason? {
        do throws(FeedClientError) {
            _ = try await client.call(request)
        } catch {
            if case .refused(let status) = error { return status.reason }
        }
        return nil
    }

    @discardableResult
    private static func add(_ request: Request, to feed: OfflineFeed) async throws -> OutboxEntry? {
        switch request {
        case .createPost(let creation):
            try await feed.createPost(PostDraft(creation.post ?? Post()), in: creation.feed)
        case .updatePost(let edit):
            try await feed.updatePost(edit.post ?? Post(), fields: edit.updateMask)
        case .castVote(let vote): try await feed.vote(on: vote.postID, vote.direction)
        case .markPosts(let marks): try await feed.mark(marks.postIDs, as: marks.mark)
        default: nil
        }
    }

    @Test func aRowSaysThatItsChangeWaitsOrFailed() async throws {
        try await TestService.run { service in
            let ids = try await service.withClient { client async throws in
                var ids: [PostID] = []
                for title in ["a", "b", "c", "d"] {
                    ids.append(try await client.createPost(PostDraft(title: title)).id)
                }
                return ids
            }
            try await service.withFeed { feed async throws in
                try await feed.sync()
                let list = PostList(order: .new)
                #expect(try await feed.posts(list).states.isEmpty)
                try await feed.vote(on: ids[0], .up)
                try await feed.mark([ids[1]], as: .read)
                let shown = try #require(try await feed.post(ids[2]))
                try await feed.editPost(shown) { $0.title = "mine" }
                #expect(try await feed.editPost(shown) { _ in } == nil)
                let local = try await feed.createPost(PostDraft(title: "e")).localPostID
                #expect(
                    try await feed.posts(list).states
                        == [ids[0]: .waiting, ids[2]: .waiting, local: .waiting]
                )
                _ = try await service.withClient { client async throws in
                    try await client.updatePost(Post(id: ids[2], text: "theirs"), fields: [.text])
                }
                try await feed.sync()
                #expect(try await feed.posts(list).states == [ids[2]: .failed])
            }
        }
    }

    @Test func whatWasDoneSignedOutIsTakenAlong() async throws {
        try await Device.run { device in
            let id = try await device.service.withClient {
                try await $0.createPost(PostDraft(title: "seed")).id
            }
            try await device.withFeed { feed async throws in
                try await feed.createPost(PostDraft(title: "first"))
                let second = try await feed.createPost(PostDraft(title: "second"))
                try await feed.vote(on: second.localPostID, .up)
                try await feed.vote(on: id, .up)
                // There is nobody to take them.
                #expect(try await feed.adopt() == 0)
            }
            let ann = try await device.signIn("ann")
            try await device.withFeed { feed async throws in
                #expect(try await feed.titled("second") == nil)
                #expect(try await feed.adopt() == 4)
                #expect(try await feed.adopt() == 0)
                #expect(try await feed.titled("second")?.score == 1)
                #expect(try await feed.sync().sentCount == 4)
                #expect(try await feed.outbox().isEmpty)
            }
            #expect(try await device.authors() == ["seed": 0, "first": ann, "second": ann])
        }
    }
}
