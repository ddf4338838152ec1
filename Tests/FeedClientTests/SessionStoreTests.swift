import FeedClient
import FeedClientTesting
import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Foundation
import Testing

/// Sessions that outlive a launch.
@Suite(.timeLimit(.minutes(10))) struct SessionStoreTests {
    private static func session(_ byte: UInt8, of userID: UserID) throws -> StoredSession {
        let token = try #require(Secret(bytes: Array(repeating: byte, count: Secret.byteCount)))
        return StoredSession(token: token, userID: userID)
    }

    @Test func keepsASessionThatOnlyItsOwnerMayRead() throws {
        let directory = try TemporaryDirectory()
        let store = FileSessionStore(path: directory.path + "/session")
        let session = try Self.session(7, of: 1)
        #expect(store.load() == nil)
        store.save(session)
        #expect(store.load() == session)
        let attributes = try FileManager.default.attributesOfItem(atPath: store.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        let other = try Self.session(8, of: .max)
        store.save(other)
        #expect(store.load() == other)
        store.remove()
        store.remove()
        #expect(store.load() == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
    }

    @Test func aSessionThatCannotBeSavedDoesNotLeaveTheOneBefore() throws {
        let directory = try TemporaryDirectory()
        let reports = Locked<[String]>([])
        let store = FileSessionStore(path: directory.path + "/session") { text in
            reports.withLock { $0.append(text) }
        }
        store.save(try Self.session(7, of: 1))
        try FileManager.default.createDirectory(
            atPath: store.path + ".new",
            withIntermediateDirectories: false
        )
        store.save(try Self.session(8, of: 2))
        #expect(store.load() == nil)
        #expect(reports.withLock(\.count) == 1)
    }

    @Test func leavesWhatOthersMayReadAndWhatIsNoSession() throws {
        let directory = try TemporaryDirectory()
        let reports = Locked<[String]>([])
        let store = FileSessionStore(path: directory.path + "/session") { text in
            reports.withLock { $0.append(text) }
        }
        store.save(try Self.session(7, of: 1))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: store.path)
        #expect(store.load() == nil)
        let digits = String(repeating: "07", count: Secret.byteCount)
        for text in ["no session", digits, "\(digits) 0", "\(digits) ada", "\(digits) 1 2"] {
            try Data(text.utf8).write(to: URL(filePath: store.path))
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600],
                ofItemAtPath: store.path
            )
            #expect(store.load() == nil, "\(text)")
        }
        let lost = FileSessionStore(path: directory.path + "/none/session") { text in
            reports.withLock { $0.append(text) }
        }
        lost.save(try Self.session(7, of: 1))
        #expect(reports.withLock(\.count) == 7)
    }

    @Test func whoHasSignedInIsSignedInAtTheNextLaunch() async throws {
        let directory = try TemporaryDirectory()
        let store = FileSessionStore(path: directory.path + "/session")
        let port = try ReservedPort()
        func launch() async throws -> FeedClient {
            var configuration = ClientConfiguration.patient
            configuration.sessionStore = store
            return try await FeedClient.connect(to: port.address, configuration: configuration)
        }
        let first = try Self.serve(port)
        var client = try await launch()
        #expect(client.service?.user == nil)
        let made = try await client.signUp(email: "ada@example.org", password: "secret")
        await client.close()
        #expect(store.load()?.userID == made.user?.id)
        client = try await launch()
        #expect(client.service?.user?.id == made.user?.id)
        #expect(try await client.session().user?.displayName == "ada")
        await client.close()
        try await first.drain()

        // Another state does not know the session.
        let second = try Self.serve(port)
        client = try await launch()
        #expect(client.service?.user == nil)
        #expect(store.load() == nil)
        try await client.signUp(email: "ada@example.org", password: "secret")
        #expect(store.load() != nil)
        try await client.signOut()
        #expect(store.load() == nil)
        await client.close()
        try await second.drain()
    }

    /// The clients of a sync, which show the session that another client has left for a new one.
    @Test func anEndedSessionLeavesTheNextOneOfAnotherClient() async throws {
        let directory = try TemporaryDirectory()
        let store = FileSessionStore(path: directory.path + "/session")
        let port = try ReservedPort()
        let server = try Self.serve(port)
        var configuration = ClientConfiguration.patient
        configuration.sessionStore = store
        func connect() async throws -> FeedClient {
            try await FeedClient.connect(to: port.address, configuration: configuration)
        }
        let client = try await connect()
        try await client.signUp(email: "ada@example.org", password: "secret")
        let (calling, voting) = (try await connect(), try await connect())
        let next = try await client.changePassword("secret", to: "another")
        #expect(await refusal { try await calling.session() } == .sessionExpired)
        #expect(await refusal { try await voting.vote(on: 1, .up) } == .sessionExpired)
        #expect(store.load()?.token == next.secret)
        for each in [client, calling, voting] { await each.close() }
        try await server.drain()
    }

    @Test func anEndedSessionInMemoryLeavesTheNextOneOfAnotherClient() async throws {
        let directory = try TemporaryDirectory()
        let store = FileSessionStore(path: directory.path + "/session")
        let service = InMemoryFeedService()
        var configuration = ClientConfiguration()
        configuration.sessionStore = store
        let client = try service.connect(configuration)
        try await client.signUp(email: "ada@example.org", password: "secret")
        let calling = try service.connect(configuration)
        let next = try await client.changePassword("secret", to: "another")
        #expect(await refusal { try await calling.session() } == .sessionExpired)
        #expect(store.load()?.token == next.secret)
    }

    /// A store into which another client puts its session while one connects with the former.
    private final class SharedStore: SessionStore {
        private let sessions: Locked<[StoredSession]>

        init(_ former: StoredSession, then next: StoredSession) {
            sessions = Locked([former, next])
        }

        func load() -> StoredSession? {
            sessions.withLock { $0.count > 1 ? $0.removeFirst() : $0.first }
        }

        func save(_ session: StoredSession) { sessions.withLock { $0 = [session] } }

        func remove() { sessions.withLock { $0 = [] } }
    }

    @Test(arguments: ClientKind.allCases)
    func whoConnectsWithAnEndedSessionLeavesTheNextOne(_ kind: ClientKind) async throws {
        let next = try Self.session(8, of: 2)
        let store = SharedStore(try Self.session(7, of: 1), then: next)
        var configuration = ClientConfiguration.patient
        configuration.sessionStore = store
        switch kind {
        case .connected:
            let port = try ReservedPort()
            let server = try Self.serve(port)
            let client = try await FeedClient.connect(
                to: port.address,
                configuration: configuration
            )
            #expect(client.user == nil)
            await client.close()
            try await server.drain()
        case .inMemory: #expect(try InMemoryFeedService().connect(configuration).user == nil)
        }
        #expect(store.load() == next)
    }

    private static func serve(_ port: ReservedPort) throws -> FeedServer {
        try FeedServer.startQuietly(port: port.number)
    }
}
