import FeedJournal
import FeedProto
import FeedService
import FeedState
import FeedTestSupport
import FeedTransport
import Foundation
import Logging
import Testing

/// A service that stops while a backup is made.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct BackupDrainTests {
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
        let server = try FeedServer.start(
            configuration,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        let port = try #require(server.addresses.first?.port)
        try await offload {
            defer { gate.open() }
            let client = try WireClient(port: port)
            let asked = try client.send(.backup)
            gate.awaitStep()
            server.beginDraining()
            guard case .goAway(let goAway) = try client.receive()?.response else {
                Issue.record("The first that comes is GoAway.")
                return
            }
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
