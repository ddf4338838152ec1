import FeedJournal
import FeedProto
import FeedService
import FeedState
import FeedTestSupport
import FeedTransport
import Foundation
import Testing

/// Backups as clients meet them, onto a disk that stands still.
@Suite(.serialized, .timeLimit(.minutes(10))) struct BackupTests {
    private static func withGate(
        _ configure: @escaping @Sendable (inout ServiceConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (UInt16, BackupGate, String) throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let gate = BackupGate()
        try await withService {
            var state = StateOptions(path: directory.path, logCount: $0.threadCount)
            state.journal.space.ballastByteCount = 1 << 20
            state.checkpointByteCount = 1
            state.testHooks.backups.beforeCopyStep = { gate.pass() }
            $0.state = state
            configure(&$0)
        } _: { [path = directory.path] port in
            // However it ends, the service can end.
            defer { gate.open() }
            try body(port, gate, path)
        }
    }

    private static func backup(_ answer: ServerFrame?) throws -> BackupResponse {
        guard case .backup(let response) = answer?.response else {
            throw answer?.status ?? Status(code: .unknown, reason: .internal, message: "no answer")
        }
        return response
    }

    private static func names(_ path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path + "/backups").sorted()
    }

    private static func awaitStats(_ client: WireClient, _ isWanted: (ServerStats) -> Bool) throws {
        while true {
            let stats = try client.serverStats()
            if isWanted(stats) { return }
        }
    }

    @Test("while a backup hangs, calls are answered, votes checkpointed, and no other one begins")
    func holdsNothingUp() async throws {
        try await Self.withGate { port, gate, path in
            let client = try WireClient(port: port)
            let id = try client.createPost(title: "kept")
            let asker = try WireClient(port: port)
            let asked = try asker.send(.backup)
            gate.awaitStep()
            let journal = try #require(try client.serverStats().journal)
            let checkpointed = journal.checkpointedPosition
            for count in 1...100 as ClosedRange<UInt64> {
                #expect(try client.vote(id).upvoteCount == count)
            }
            let executed = try #require(try client.serverStats().journal).executedPosition
            #expect(executed > checkpointed)
            try Self.awaitStats(client) { ($0.journal?.checkpointedPosition ?? 0) >= executed }
            let stats = try #require(try client.serverStats().backups)
            #expect(stats.isRunning && stats.byteCount > 0 && stats.lastName.isEmpty)
            let refused = try client.call(.backup).status
            #expect(refused?.reason == .backupRunning)
            #expect(refused?.isNotExecuted == true)
            #expect((refused?.retryAfterMilliseconds ?? 0) > 0)
            gate.open()
            let answer = try #require(try asker.receive())
            #expect(answer.id == asked)
            let made = try Self.backup(answer)
            #expect(try Self.names(path) == [made.name])
            #expect(BackupFolders.time(of: made.name) != nil)
            let after = try #require(try client.serverStats().backups)
            #expect(!after.isRunning && after.lastName == made.name && after.lastError.isEmpty)
            #expect(after.lastByteCount > 0)
            // The next one begins.
            #expect(try Self.backup(client.call(.backup)).name != made.name)
        }
    }

    @Test("answers to later calls come before a backup's, and each in its order")
    func answersOutOfOrder() async throws {
        try await Self.withGate { port, gate, _ in
            let client = try WireClient(port: port)
            try client.send(.ping(PingRequest()))
            let asked = try client.send(.backup)
            try client.send(.ping(PingRequest()))
            try client.send(.ping(PingRequest()))
            gate.awaitStep()
            let ids = try (0..<3).map { _ in try client.receive()?.id }
            #expect(ids == [asked - 1, asked + 1, asked + 2])
            gate.open()
            #expect(try client.receive()?.id == asked)
        }
    }

    @Test("a client that has shut down its side gets the answer, and then the end")
    func answersAfterHalfClose() async throws {
        try await Self.withGate { port, gate, path in
            let client = try WireClient(port: port)
            let asked = try client.send(.backup)
            try client.send(.ping(PingRequest()))
            client.socket.shutDownSending()
            #expect(try client.receive()?.id == asked + 1)
            gate.awaitStep()
            gate.open()
            let rest = try client.receiveAll()
            #expect(rest.map(\.id) == [asked])
            #expect(try Self.names(path) == [try Self.backup(rest.first).name])
        }
    }

    @Test("a silent client is closed, but not while it waits for a backup")
    func isPatientMeanwhile() async throws {
        let isImpatient = { @Sendable (configuration: inout ServiceConfiguration) in
            configuration.limits.idleTimeout = .seconds(1)
        }
        try await Self.withGate(isImpatient) { port, gate, _ in
            let asker = try WireClient(port: port)
            try asker.send(.backup)
            gate.awaitStep()
            let silent = try WireClient(port: port)
            #expect(try silent.receive() == nil)
            gate.open()
            _ = try Self.backup(asker.receive())
        }
    }

    @Test("a backup behind which too many changes wait is cancelled, and leaves nothing")
    func cancelsWhatHoldsUp() async throws {
        let hasShortLog = { @Sendable (configuration: inout ServiceConfiguration) -> Void in
            configuration.state?.backups.maximumLogByteCount = 64 << 10
        }
        try await Self.withGate(hasShortLog) { port, gate, path in
            let client = try WireClient(port: port)
            let id = try client.createPost(title: "kept")
            let asker = try WireClient(port: port)
            try asker.send(.backup)
            gate.awaitStep()
            let text = String(repeating: "x", count: 10_000)
            let posts = [Post](repeating: Post(title: "import", text: text), count: 20)
            _ = try client.call(.importPosts(ImportPostsRequest(posts: posts)))
            // Answered although the copy still hangs.
            let status = try #require(try asker.receive()?.status)
            #expect(status.code == .aborted && status.reason == .backupCancelled)
            #expect(status.message.contains("limit is 65536 bytes"))
            #expect(status.isNotExecuted)
            #expect(try client.serverStats().backups?.lastError == status.message)
            gate.open()
            try Self.awaitStats(client) { $0.backups?.isRunning == false }
            #expect(try Self.names(path) == [])
            #expect(try client.vote(id).upvoteCount == 1)
        }
    }

    @Test("without room no backup is begun")
    func needsRoom() async throws {
        let hasNoRoom = { @Sendable (configuration: inout ServiceConfiguration) -> Void in
            configuration.state?.journal.space.readOnlyByteCount = 1 << 60
        }
        try await Self.withGate(hasNoRoom) { port, gate, path in
            gate.open()
            let client = try WireClient(port: port)
            let status = try #require(try client.call(.backup).status)
            // By the free space of the disk at the time of the request.
            #expect([.readOnly, .backupNoRoom].contains(status.reason))
            #expect(status.code == .resourceExhausted && status.isNotExecuted)
            let names = (try? Self.names(path)) ?? []
            #expect(names == [])
        }
    }
}

/// A service that stops while a backup is made.
@Suite(.serialized, .timeLimit(.minutes(10))) struct BackupDrainTests {
    @Test(
        "a client that waits for a backup when the service stops is answered",
        arguments: [false, true]
    )
    func answersAWaitingClient(_ endsInTime: Bool) async throws {
        let directory = try TemporaryDirectory()
        let gate = BackupGate()
        var configuration = ServiceConfiguration(addresses: [.loopback(port: 0)], threadCount: 2)
        var state = StateOptions(path: directory.path, logCount: 2)
        state.journal.space.ballastByteCount = 1 << 20
        state.testHooks.backups.beforeCopyStep = { gate.pass() }
        configuration.state = state
        // A backup gets half of it.
        configuration.limits.drainTimeout = .seconds(endsInTime ? 40 : 4)
        ProcessSetup.ignoreBrokenPipes()
        let server = try FeedServer.startQuietly(configuration)
        let port = try #require(server.addresses.first?.port)
        try await offload {
            defer { gate.open() }
            let client = try WireClient(port: port)
            let asked = try client.send(.backup)
            gate.awaitStep()
            server.beginDraining()
            guard case .goAway(let goAway) = try client.receive()?.response
            else { throw Unexpected("The first that comes is GoAway.") }
            #expect(goAway.lastID == asked)
            if endsInTime { gate.open() }
            let answer = try #require(try client.receive())
            #expect(answer.id == asked)
            if endsInTime {
                #expect(answer.status == nil)
            } else {
                #expect(answer.status?.reason == .draining)
                #expect(answer.status?.isNotExecuted == true)
            }
            #expect(try client.receive() == nil)
        }
        try await offload { server.wait() }
        let folders = try FileManager.default.contentsOfDirectory(
            atPath: directory.path + "/backups"
        )
        #expect(folders.count == (endsInTime ? 1 : 0))
    }
}

/// Stands before each step of a backup's copy and lets it through when a test says so: a disk for
/// backups that is slow.
final class BackupGate: @unchecked Sendable {
    private let isClosed = Locked(true)
    private let arrived = DispatchSemaphore(value: 0)
    private let permits = DispatchSemaphore(value: 0)

    /// Waits until a step of a copy waits.
    func awaitStep() { arrived.wait() }

    /// Lets all steps through from now on.
    func open() {
        isClosed.withLock { $0 = false }
        permits.signal()
    }

    func pass() {
        guard isClosed.withLock({ $0 }) else { return }
        arrived.signal()
        permits.wait()
        permits.signal()
    }
}
