import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// The service with a standard error that is full and that nobody reads.
@Suite(.timeLimit(.minutes(2)))
struct UnreadLogTests {
    let directory = try? TemporaryDirectory()

    private func pipe() throws -> UnreadPipe {
        try UnreadPipe(at: #require(directory).path + "/log-\(UUID().uuidString)")
    }

    @Test("lines of strangers hold up no call, and SIGTERM ends the service")
    func answersWithoutAReader() async throws {
        let receiver = try DatagramReceiver(at: #require(directory).path + "/notify")
        let pipe = try pipe()
        let process = try pipe.start(
            Programs.feedService,
            ["--listen", "127.0.0.1:0", "--in-memory", "--threads", "1"],
            environment: ["NOTIFY_SOCKET": receiver.address]
        )
        let ready = try await offload { try receiver.receive() }
        let match = try #require(
            ready.wholeMatch(of: #/READY=1\nSTATUS=Serves on 127\.0\.0\.1:(\d+)/#),
            "\(ready)"
        )
        let port = try #require(UInt16(match.1))
        try await offload {
            // The only loop has a line to write of the first one.
            for _ in 0..<3 {
                let stranger = try TestSocket(port: port)
                try stranger.send([0xff, 0xff, 0xff, 0xff])
                _ = try WireClient(port: port).call(.ping(PingRequest()))
            }
        }
        process.signal(15)
        #expect(await process.exitStatus() == 0)
    }

    @Test("a refused start ends, and so does one with a flag that lacks its value")
    func endsWithoutAReader() async throws {
        for arguments in [["--listen", "nowhere"], ["--threads"]] {
            let pipe = try pipe()
            let process = try pipe.start(Programs.feedService, arguments)
            #expect(await process.exitStatus() == 2, "\(arguments)")
            // Without its only reader a pipe is broken, and not full.
            withExtendedLifetime(pipe) {}
        }
    }
}
