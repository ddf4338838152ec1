import FeedTestSupport
import FeedTransport
import Testing

@Suite(.timeLimit(.minutes(10))) struct LiveDeadlineTests {
    /// What a server with the usual limits says of a connection that has sent `bytes` to a handler
    /// that waits for a byte 0: whether it is still open right before `deadline`, and how it closed
    /// after.
    private func reasons(
        afterSending bytes: [UInt8],
        deadline: Duration
    ) async throws -> [CloseReason] {
        var configuration = TransportConfiguration()
        configuration.clock = ManualClock()
        let reasons = Recorder<CloseReason>()
        let shown = Recorder<Int>()
        try await TestServer.Plan(configuration: configuration) { handler in
            handler.opened = { _ in shown.record(0) }
            handler.received = { _, bytes in
                let end = bytes.lastIndex(of: 0).map { $0 + 1 } ?? 0
                shown.record(bytes.count)
                return ReadProgress(consumedByteCount: end)
            }
            handler.closed = { _, reason in reasons.record(reason) }
        }.run { server in
            let socket = try await server.client()
            _ = try await shown.next()
            try await offload { try socket.send(bytes) }
            if !bytes.isEmpty { while try await shown.next() < bytes.count {} }
            await server.advance(by: deadline)
            #expect(reasons.events.isEmpty)
            // A deadline is late by at most two sweeps.
            await server.advance(by: TransportLimits.sweepInterval * 2)
            let rest = try await offload { try socket.receiveUntilEndOfFile() }
            #expect(rest.isEmpty)
        }
        return reasons.events
    }

    @Test func closesAConnectionWithoutAByte() async throws {
        let reasons = try await reasons(afterSending: [], deadline: TransportLimits.idleTimeout)
        #expect(reasons == [.idleTimeout])
    }

    @Test func closesAConnectionThatFellSilent() async throws {
        let reasons = try await reasons(
            afterSending: [1, 2, 0],
            deadline: TransportLimits.idleTimeout
        )
        #expect(reasons == [.idleTimeout])
    }

    @Test func closesAConnectionThatLeavesAFrameUnfinished() async throws {
        let reasons = try await reasons(
            afterSending: [0, 1, 2],
            deadline: TransportLimits.partialReadTimeout
        )
        #expect(reasons == [.partialReadTimeout])
    }
}
