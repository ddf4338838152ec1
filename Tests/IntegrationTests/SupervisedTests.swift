import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// The service under a supervisor, whose socket is the test's.
@Suite(.timeLimit(.minutes(10)))
struct SupervisedTests {
    @Test("says that it is ready once it listens, that it reads its keys again, and that it stops")
    func tellsItsLife() async throws {
        let directory = try TemporaryDirectory()
        let receiver = try DatagramReceiver(at: directory.path + "/notify")
        let keys = directory.path + "/service.keys"
        let line = "web blake2b:" + String(repeating: "3f", count: 32) + "\n"
        try line.write(toFile: keys, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keys)
        let process = try RunningProcess(
            Programs.feedService,
            ["--listen", "127.0.0.1:0", "--in-memory", "--service-keys", keys],
            environment: ["NOTIFY_SOCKET": receiver.address]
        )
        let ready = try await offload { try receiver.receive() }
        let match = try #require(
            ready.wholeMatch(of: #/READY=1\nSTATUS=Serves on 127\.0\.0\.1:(\d+)/#),
            "\(ready)"
        )
        let port = try #require(UInt16(match.1))
        try await offload { _ = try WireClient(port: port).call(.getServerStats) }
        process.signal(1)
        let reload = try await offload { try (receiver.receive(), receiver.receive()) }
        #expect(reload.0.hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
        #expect(reload.1 == "READY=1")
        process.signal(15)
        #expect(try await offload { try receiver.receive() } == "STOPPING=1\nSTATUS=Draining")
        #expect(await process.exitStatus() == 0)
    }

    @Test("a watched process is told of while its loops run, and no more once it is stopped")
    func keepsARunningServiceAlive() async throws {
        let directory = try TemporaryDirectory()
        let receiver = try DatagramReceiver(at: directory.path + "/notify")
        let process = try RunningProcess(
            Programs.feedService,
            ["--listen", "127.0.0.1:0", "--in-memory", "--threads", "2"],
            environment: ["NOTIFY_SOCKET": receiver.address, "WATCHDOG_USEC": "20000"]
        )
        // The loops run, and may say so, before the start has said that it is ready.
        let first = try await offload {
            var texts = [try receiver.receive()]
            while texts.count < 4 || !texts.contains(where: { $0.hasPrefix("READY=1") }) {
                texts.append(try receiver.receive())
            }
            return texts
        }
        #expect(first.count(where: { $0.hasPrefix("READY=1") }) == 1)
        #expect(first.allSatisfy { $0 == "WATCHDOG=1" || $0.hasPrefix("READY=1") }, "\(first)")
        process.signal(15)
        let last = try await offload {
            var text = try receiver.receive()
            while text == "WATCHDOG=1" { text = try receiver.receive() }
            return text
        }
        #expect(last == "STOPPING=1\nSTATUS=Draining")
        #expect(await process.exitStatus() == 0)
    }
}
