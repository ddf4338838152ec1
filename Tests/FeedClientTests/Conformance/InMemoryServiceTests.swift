import FeedClient
import FeedClientTesting
import FeedProto
import FeedTestSupport
import Testing

/// What only a service in memory does.
@Suite(.timeLimit(.minutes(10)))
struct InMemoryServiceTests {
    @Test func aFaultEndsACallInPlaceOfItsExecution() async throws {
        let service = InMemoryFeedService()
        let client = try service.connect()
        let post = try await client.createPost(Post(title: "Apple"))
        service.fail { request in
            guard case .castVote = request else { return nil }
            return .connectionLost(reason: "test", effect: .unknown)
        }
        let error = await failure { try await client.vote(on: post.id, .up) }
        #expect(error == .connectionLost(reason: "test", effect: .unknown))
        service.fail(nil)
        #expect(try await client.vote(on: post.id, .up).score == 1)
    }

    @Test func itsClockTimesPostsAndSessions() async throws {
        let now = Locked<Int64>(5_000)
        let service = InMemoryFeedService { now.withLock { $0 } }
        let client = try service.connect()
        #expect(try await client.createPost(Post(title: "Apple")).createTimeMilliseconds == 5_000)
        let session = try await client.signUp(email: "a@b", password: "secret")
        now.withLock { $0 = session.expireTimeMilliseconds }
        #expect(await refusal { try await client.session() } == .sessionExpired)
        #expect(throws: FeedClientError.self) {
            try service.connect(sessionToken: session.secret)
        }
    }

    @Test func withKeysOnlyTheirHoldersAreServices() async throws {
        let key = try #require(Secret(bytes: Array(repeating: 7, count: 32)))
        let service = InMemoryFeedService(serviceKeys: [key])
        let stranger = try service.connect()
        #expect(await refusal { try await stranger.createFeed(Feed(name: "x")) } == .serviceOnly)
        let user = stranger.acting(for: 1 << 63 | 1)
        #expect(await refusal { try await user.feeds() } == .serviceOnly)
        try await service.connect(serviceKey: key).createFeed(Feed(name: "x"))
    }

    @Test func onlyItsAuthorChangesAPost() async throws {
        let key = try #require(Secret(bytes: Array(repeating: 7, count: 32)))
        let service = InMemoryFeedService(serviceKeys: [key])
        let ada = try service.connect()
        let ben = try service.connect()
        let post = try await ada.createPost(Post(title: "Apple"))
        #expect(await refusal { try await ada.deletePost(post.id) } == .identityRequired)
        try await ada.signUp(email: "ada@example.org", password: "secret")
        try await ben.signUp(email: "ben@example.org", password: "secret")
        let own = try await ada.createPost(Post(title: "Pear"))
        #expect(await refusal { try await ben.deletePost(own.id) } == .notAuthor)
        try await ada.deletePost(own.id)
    }
}
