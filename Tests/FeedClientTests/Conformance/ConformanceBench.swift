import FeedClient
import FeedClientTesting
import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// A kind of client that the conformance suites run against.
enum ClientKind: String, CaseIterable, Sendable {
    /// `FeedClient` and a service in this process, over TCP.
    case connected
    case inMemory
}

/// A service of either kind, and clients of it.
struct ConformanceBench {
    /// Makes a client of a device, or of none.
    let connect: (ClientID?, Secret?) async throws -> any FeedCalling

    func device() async throws -> any FeedCalling { try await connect(ClientID(), nil) }

    /// A client without identity.
    func anonymous() async throws -> any FeedCalling { try await connect(nil, nil) }

    /// Runs a test with a service of a kind, which ends with it.
    static func run(
        _ kind: ClientKind,
        _ body: (ConformanceBench) async throws -> Void
    ) async throws {
        switch kind {
        case .inMemory:
            let service = InMemoryFeedService()
            try await body(ConformanceBench { try service.connect(as: $0, sessionToken: $1) })
        case .connected:
            let server = try FeedServer.startQuietly()
            let address = try #require(server.addresses.first).description
            let clients = Locked<[FeedClient]>([])
            let bench = ConformanceBench { id, token in
                var configuration = ClientConfiguration.patient
                configuration.clientID = id
                configuration.sessionToken = token
                let client = try await FeedClient.connect(to: address, configuration: configuration)
                clients.withLock { $0.append(client) }
                return client
            }
            let outcome: Result<Void, any Error>
            do { outcome = .success(try await body(bench)) } catch { outcome = .failure(error) }
            for client in clients.withLock({ $0 }) { await client.close() }
            try await server.drain()
            try outcome.get()
        }
    }
}

/// The refusal that a call ends with; an issue where it ends otherwise.
func refusal<Value>(
    _ call: () async throws -> Value,
    _ location: SourceLocation = #_sourceLocation
) async -> Reason? {
    do {
        _ = try await call()
    } catch let FeedClientError.refused(status) {
        return status.reason
    } catch {
        Issue.record("The call ended with \(error).", sourceLocation: location)
        return nil
    }
    Issue.record("The call was not refused.", sourceLocation: location)
    return nil
}

@Suite(.timeLimit(.minutes(10))) struct InMemoryServiceTests {
    @Test func aFaultEndsACallInPlaceOfItsExecution() async throws {
        let service = InMemoryFeedService()
        let client = try service.connect()
        let post = try await client.createPost(PostDraft(title: "Apple"))
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
        #expect(
            try await client.createPost(PostDraft(title: "Apple")).createTimeMilliseconds == 5_000
        )
        let session = try await client.signUp(email: "a@b", password: "secret")
        now.withLock { $0 = session.expireTimeMilliseconds }
        #expect(await refusal { try await client.session() } == .sessionExpired)
        #expect(throws: FeedClientError.self) { try service.connect(sessionToken: session.secret) }
    }

    @Test func withKeysOnlyTheirHoldersAreServices() async throws {
        let key = try #require(Secret(bytes: Array(repeating: 7, count: 32)))
        let service = InMemoryFeedService(serviceKeys: [key])
        let stranger = try service.connect()
        #expect(await refusal { try await stranger.createFeed(Feed(name: "x")) } == .serviceOnly)
        let user = stranger.acting(for: .ofService(1))
        #expect(await refusal { try await user.feeds() } == .serviceOnly)
        try await service.connect(serviceKey: key).createFeed(Feed(name: "x"))
    }

    @Test func onlyItsAuthorChangesAPost() async throws {
        let key = try #require(Secret(bytes: Array(repeating: 7, count: 32)))
        let service = InMemoryFeedService(serviceKeys: [key])
        let ada = try service.connect(as: ClientID())
        let ben = try service.connect(as: ClientID())
        let nobody = try service.connect()
        let post = try await ada.createPost(PostDraft(title: "Apple"))
        #expect(post.author == nil)
        #expect(await refusal { try await nobody.deletePost(post.id) } == .identityRequired)
        #expect(await refusal { try await ben.deletePost(post.id) } == .notAuthor)
        try await ada.signUp(email: "ada@example.org", password: "secret")
        try await ben.signUp(email: "ben@example.org", password: "secret")
        let own = try await ada.createPost(PostDraft(title: "Pear"))
        #expect(await refusal { try await ben.deletePost(own.id) } == .notAuthor)
        try await ada.deletePost(own.id)
        // The post of the device, on which somebody has signed in since.
        try await ada.deletePost(post.id)
    }
}
