import FeedClient
import FeedClientTesting
import FeedOffline
import FeedProto
import FeedTestSupport
import Testing

/// Syncs over a client of a program's own, which gives changes no sequences.
@Suite(.timeLimit(.minutes(10))) struct CallingTests {
    /// A client in front of another one, whose answers a function may lose.
    private struct OwnClient: FeedCalling {
        let client: FeedClient
        let isLost: @Sendable (Request) -> Bool

        var service: HelloResponse? { client.service }

        func answer(
            to request: Request,
            minimumRevision: UInt64,
            timeout: Duration?
        ) async throws(FeedClientError) -> Answer {
            let answer = try await client.answer(
                to: request,
                minimumRevision: minimumRevision,
                timeout: timeout
            )
            if isLost(request) { throw .connectionLost(reason: "lost", effect: .unknown) }
            return answer
        }

        func acting(for userID: UserID) -> OwnClient { self }
        func close() async { await client.close() }
    }

    @Test func aChangeWithoutASequenceIsInDoubtWithoutItsAnswer() async throws {
        try await TestService.run { service in
            let ids = try await service.withClient { client async throws in
                var ids: [PostID] = []
                for title in ["one", "two", "three"] {
                    ids.append(try await client.createPost(PostDraft(title: title)).id)
                }
                return ids
            }
            let lostCount = Locked(0)
            let address = service.address
            let feed = try await OfflineFeed.open(
                service.configuration(),
                wrapping: { $0 },
                waiting: { _ in },
                connecting: { configuration throws(FeedClientError) in
                    OwnClient(
                        client: try await FeedClient.connect(
                            to: address,
                            configuration: configuration
                        )
                    ) { request in
                        guard case .castVote(let vote) = request, vote.postID == ids[1] else {
                            return false
                        }
                        return lostCount.withLock { count in
                            count += 1
                            return true
                        }
                    }
                }
            )
            for id in ids { try await feed.vote(on: id, .up) }
            let report = try await feed.sync()
            #expect((report.sentCount, report.inDoubtCount) == (2, 1))
            #expect(try await feed.outbox().map(\.state) == [.inDoubt(.channelForgotten)])
            #expect(lostCount.withLock { $0 } == 1)
            try await feed.sync()
            #expect(lostCount.withLock { $0 } == 1)
            await feed.close()
            try await service.withClient { client async throws in
                for id in ids { #expect(try await client.getPost(id).score == 1) }
            }
        }
    }

    /// An app's own unit test: no process, no network.
    @Test func aServiceInMemoryIsSyncedWith() async throws {
        let folder = try TemporaryDirectory()
        let service = InMemoryFeedService()
        func open(_ name: String) async throws -> (feed: OfflineFeed, client: any FeedCalling) {
            var configuration = OfflineConfiguration(path: "\(folder.path)/\(name).db")
            configuration.client.clientID = ClientID()
            configuration.client.sessionStore = FileSessionStore(path: "\(folder.path)/\(name)")
            let feed = try await OfflineFeed.open(
                configuration,
                connecting: service.connect(_:)
            )
            return (feed, try service.connect(configuration.client))
        }
        let (phone, phoneClient) = try await open("phone")
        let (tablet, tabletClient) = try await open("tablet")
        for client in [phoneClient, tabletClient] {
            try await client.signIn(
                email: "ann@example.org",
                password: "secret",
                createsIfMissing: true
            )
        }
        let ids = [
            try await phoneClient.createPost(PostDraft(title: "one")).id,
            try await phoneClient.createPost(PostDraft(title: "two")).id,
        ]
        for feed in [phone, tablet] { #expect(try await feed.sync().changedPostCount == 2) }
        // The vote is sent until it is answered, and counts once.
        try await phone.vote(on: ids[0], .up)
        try await phone.mark([ids[0]], as: .read)
        try await phone.mark(through: ids[1], as: .dismissed)
        service.fail { request in
            if case .castVote = request {
                .connectionLost(reason: "test", effect: .unknown)
            } else {
                nil
            }
        }
        await #expect(throws: OfflineError.self) { try await phone.sync() }
        #expect(try await phone.outbox().first?.state == .sent)
        service.fail(nil)
        #expect(try await phone.sync().leftCount == 0)
        // What the person has marked on the phone is marked on the tablet, without a change of the posts.
        try await tablet.sync()
        let post = try #require(try await tablet.post(ids[0]))
        #expect((post.score, post.viewer?.isRead, post.viewer?.isDismissed) == (1, true, true))
        #expect(try await tablet.posts(PostList()).posts.isEmpty)
        try await tablet.mark([ids[1]], as: .restored)
        try await tablet.sync()
        try await phone.sync()
        #expect(try await phone.posts(PostList()).posts.map(\.id) == [ids[1]])
        try await tabletClient.deletePost(ids[1])
        try await phone.sync()
        #expect(try await phone.postCount() == 0)
        await phone.close()
        await tablet.close()
    }
}
