import FeedTestSupport
import FeedTransport
import Testing

@Suite(.timeLimit(.minutes(1))) struct LiveDeadlineTests {
    /// Runs a server with short limits whose handler waits for a byte 0, and says how it closed.
    private func closeReason(
        afterSending bytes: [UInt8],
        _ change: (inout TransportConfiguration) -> Void
    ) async throws -> CloseReason {
        var configuration = TransportConfiguration()
        configuration.sweepInterval = .milliseconds(5)
        change(&configuration)
        let reasons = Recorder<CloseReason>()
        try await TestServer.Plan(configuration: configuration) { handler in
            handler.received = { _, bytes in
                let end = bytes.lastIndex(of: 0).map { $0 + 1 } ?? 0
                return ReadProgress(consumedByteCount: end)
            }
            handler.closed = { _, reason in reasons.record(reason) }
        }.run { server in
            let socket = try await server.client()
            let rest = try await offload {
                try socket.send(bytes)
                return try socket.receiveUntilEndOfFile()
            }
            #expect(rest.isEmpty)
        }
        return try await reasons.next()
    }

    @Test func closesAConnectionWithoutAByte() async throws {
        let reason = try await closeReason(afterSending: []) {
            $0.idleTimeout = .milliseconds(30)
        }
        #expect(reason == .idleTimeout)
    }

    @Test func closesAConnectionThatFellSilent() async throws {
        let reason = try await closeReason(afterSending: [1, 2, 0]) {
            $0.idleTimeout = .milliseconds(30)
            $0.partialReadTimeout = .milliseconds(1)
        }
        #expect(reason == .idleTimeout)
    }

    @Test func closesAConnectionThatLeavesAFrameUnfinished() async throws {
        let reason = try await closeReason(afterSending: [0, 1, 2]) {
            $0.partialReadTimeout = .milliseconds(30)
        }
        #expect(reason == .partialReadTimeout)
    }
}
