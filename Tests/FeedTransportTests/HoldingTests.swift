import FeedTestSupport
import FeedTransport
import Testing

/// Bytes that are held until they are released.
@Suite(.timeLimit(.minutes(1))) struct HoldingTests {
    /// Each byte `h` holds its number as an answer, `r` releases the oldest answer, and `c` closes.
    private static func script(_ pending: Recorder<Int>) -> TestServer.Script {
        { handler in
            var answer: UInt8 = 0
            handler.received = { connection, bytes in
                for byte in bytes {
                    switch byte {
                    case UInt8(ascii: "h"):
                        unsafe connection.hold([answer, answer].span.bytes)
                        answer += 1
                    case UInt8(ascii: "r"): connection.releaseHeld(2)
                    default: connection.closeAfterFlush()
                    }
                    pending.record(connection.pendingByteCount)
                }
                return ReadProgress(consumedByteCount: bytes.count)
            }
        }
    }

    @Test func sendsNothingBeforeItIsReleasedAndAllInOrder() async throws {
        let pending = Recorder<Int>()
        try await TestServer.Plan(script: Self.script(pending)).run { server in
            let socket = try await server.client()
            try await offload { try socket.send(Array("hhhrr".utf8)) }
            let answers = try await offload { try socket.receive(4) }
            #expect(answers == [0, 0, 1, 1])
            try await offload { try socket.send(Array("rhr".utf8)) }
            let rest = try await offload { try socket.receive(4) }
            #expect(rest == [2, 2, 3, 3])
            var counts: [Int] = []
            for _ in 0..<8 { counts.append(try await pending.next()) }
            #expect(counts == [2, 4, 6, 4, 2, 0, 2, 0])
        }
    }

    @Test func closesOnlyWhenWhatItHoldsIsReleasedAndSent() async throws {
        let pending = Recorder<Int>()
        try await TestServer.Plan(script: Self.script(pending)).run { server in
            let socket = try await server.client()
            try await offload { try socket.send(Array("hhc".utf8)) }
            for _ in 0..<3 { _ = try await pending.next() }
            await server.onLoop { loop in loop.forEachConnection { $0.releaseHeld(2) } }
            let first = try await offload { try socket.receive(2) }
            #expect(first == [0, 0])
            await server.onLoop { loop in loop.forEachConnection { $0.releaseHeld(2) } }
            let rest = try await offload { try socket.receiveUntilEndOfFile() }
            #expect(rest == [1, 1])
        }
    }

    @Test func isNotReadFromWhileItHoldsTooMuch() async throws {
        var configuration = TransportConfiguration()
        configuration.highWatermarkByteCount = 8
        configuration.lowWatermarkByteCount = 2
        let pending = Recorder<Int>()
        let plan = TestServer.Plan(configuration: configuration, script: Self.script(pending))
        try await plan.run { server in
            let socket = try await server.client()
            for _ in 0..<4 {
                try await offload { try socket.send(Array("h".utf8)) }
                _ = try await pending.next()
            }
            try await offload { try socket.send(Array("h".utf8)) }
            // Further turns of the loop read nothing.
            for _ in 0..<50 { await server.onLoop { _ in } }
            #expect(pending.events.count == 4)
            await server.onLoop { loop in loop.forEachConnection { $0.releaseHeld(6) } }
            #expect(try await pending.next() == 4)
            let answers = try await offload { try socket.receive(6) }
            #expect(answers == [0, 0, 1, 1, 2, 2])
        }
    }

    @Test func forgetsWhatItHoldsWhenItIsReset() async throws {
        let pending = Recorder<Int>()
        try await TestServer.Plan(script: Self.script(pending)).run { server in
            let socket = try await server.client()
            try await offload { try socket.send(Array("h".utf8)) }
            _ = try await pending.next()
            let left = await server.onLoop { loop in
                var count = 0
                loop.forEachConnection {
                    $0.reset()
                    $0.releaseHeld(2)
                    count += $0.heldByteCount
                }
                return count
            }
            #expect(left == 0)
            #expect(server.budget.bufferedByteCount == 0)
        }
    }

    @Test("what is held is no stall of a peer that is slow to take what was sent before")
    func takesWhatItHoldsForNoStall() async throws {
        var configuration = TransportConfiguration()
        configuration.sweepInterval = .milliseconds(5)
        configuration.writeProgressTimeout = .milliseconds(10)
        configuration.partialReadTimeout = .milliseconds(60)
        configuration.sendBufferByteCount = 1 << 20
        let sent = 64 << 10
        let reasons = Recorder<CloseReason>()
        let plan = TestServer.Plan(configuration: configuration) { handler in
            handler.received = { connection, bytes in
                guard bytes == Array("h".utf8) else { return ReadProgress(consumedByteCount: 0) }
                connection.write([UInt8](repeating: 1, count: sent))
                unsafe connection.hold([2].span.bytes)
                return ReadProgress(consumedByteCount: 1)
            }
            handler.closed = { _, reason in reasons.record(reason) }
        }
        try await plan.run { server in
            let socket = try await server.client(receiveBufferByteCount: 4 << 10)
            try await offload { try socket.send(Array("h".utf8)) }
            // Another one, whose unfinished frame is waited for longer than a stall may last.
            let clock = try await server.client()
            try await offload {
                try clock.send(Array("?".utf8))
                _ = try clock.receiveUntilEndOfFile()
            }
            #expect(reasons.events == [.partialReadTimeout])
            await server.onLoop { loop in loop.forEachConnection { $0.releaseHeld(1) } }
            let answer = try await offload { try socket.receive(sent + 1) }
            #expect(answer.last == 2)
        }
    }
}
