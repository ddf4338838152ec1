import FeedTestSupport
import FeedTransport
import Testing

/// Bytes that a handler keeps and writes later.
@Suite(.timeLimit(.minutes(1))) struct OwedBytesTests {
    /// Each byte `o` owes its number as an answer, `p` pays the oldest answer, and `c` closes.
    private static func script(_ pending: Recorder<Int>) -> TestServer.Script {
        { handler in
            var owed: UInt8 = 0
            var paid: UInt8 = 0
            handler.received = { connection, bytes in
                for byte in bytes {
                    switch byte {
                    case UInt8(ascii: "o"):
                        connection.owe(2)
                        owed += 1
                    case UInt8(ascii: "p"):
                        unsafe connection.writeOwed([paid, paid].span.bytes)
                        paid += 1
                    default: connection.closeAfterFlush()
                    }
                    pending.record(connection.pendingByteCount)
                }
                return ReadProgress(consumedByteCount: bytes.count)
            }
        }
    }

    /// Pays owed answers of two bytes.
    private static func pay(_ answers: [UInt8], on server: TestServer) async {
        await server.onLoop { loop in
            loop.forEachConnection { connection in
                for answer in answers { unsafe connection.writeOwed([answer, answer].span.bytes) }
            }
        }
    }

    @Test func countAsUnsentUntilTheyAreWritten() async throws {
        let pending = Recorder<Int>()
        try await TestServer.Plan(script: Self.script(pending)).run { server in
            let socket = try await server.client()
            try await offload { try socket.send(Array("ooopp".utf8)) }
            let answers = try await offload { try socket.receive(4) }
            #expect(answers == [0, 0, 1, 1])
            try await offload { try socket.send(Array("pop".utf8)) }
            let rest = try await offload { try socket.receive(4) }
            #expect(rest == [2, 2, 3, 3])
            var counts: [Int] = []
            for _ in 0..<8 { counts.append(try await pending.next()) }
            #expect(counts == [2, 4, 6, 4, 2, 0, 2, 0])
        }
    }

    @Test func keepAConnectionFromClosingUntilTheyAreSent() async throws {
        let pending = Recorder<Int>()
        try await TestServer.Plan(script: Self.script(pending)).run { server in
            let socket = try await server.client()
            try await offload { try socket.send(Array("ooc".utf8)) }
            for _ in 0..<3 { _ = try await pending.next() }
            await Self.pay([0], on: server)
            let first = try await offload { try socket.receive(2) }
            #expect(first == [0, 0])
            await Self.pay([1], on: server)
            let rest = try await offload { try socket.receiveUntilEndOfFile() }
            #expect(rest == [1, 1])
        }
    }

    @Test func stopTheReadingAboveTheHighWatermark() async throws {
        var configuration = TransportConfiguration.patient
        configuration.highWatermarkByteCount = 8
        configuration.lowWatermarkByteCount = 2
        let pending = Recorder<Int>()
        let plan = TestServer.Plan(configuration: configuration, script: Self.script(pending))
        try await plan.run { server in
            let socket = try await server.client()
            for _ in 0..<4 {
                try await offload { try socket.send(Array("o".utf8)) }
                _ = try await pending.next()
            }
            try await offload { try socket.send(Array("o".utf8)) }
            // Further iterations of the loop read nothing.
            for _ in 0..<50 { await server.onLoop { _ in } }
            #expect(pending.events.count == 4)
            await Self.pay([0, 1, 2], on: server)
            #expect(try await pending.next() == 4)
            let answers = try await offload { try socket.receive(6) }
            #expect(answers == [0, 0, 1, 1, 2, 2])
        }
    }

    @Test func areForgottenWhenTheConnectionIsReset() async throws {
        let pending = Recorder<Int>()
        try await TestServer.Plan(script: Self.script(pending)).run { server in
            let socket = try await server.client()
            try await offload { try socket.send(Array("o".utf8)) }
            _ = try await pending.next()
            let left = await server.onLoop { loop in
                var count = 0
                loop.forEachConnection {
                    $0.reset()
                    unsafe $0.writeOwed([UInt8](repeating: 0, count: 2).span.bytes)
                    count += $0.pendingByteCount
                }
                return count
            }
            #expect(left == 0)
            #expect(server.budget.bufferedByteCount == 0)
        }
    }

    @Test("what is owed is no stall of a peer that is slow to take what was sent before")
    func areNoStall() async throws {
        var configuration = TransportConfiguration()
        configuration.clock = ManualClock()
        configuration.sendBufferByteCount = 1 << 20
        let sent = 64 << 10
        let written = Recorder<Void>()
        let reasons = Recorder<CloseReason>()
        let plan = TestServer.Plan(configuration: configuration) { handler in
            handler.received = { connection, bytes in
                connection.write([UInt8](repeating: 1, count: sent))
                connection.owe(1)
                written.record(())
                return ReadProgress(consumedByteCount: 1)
            }
            handler.closed = { _, reason in reasons.record(reason) }
        }
        try await plan.run { server in
            let socket = try await server.client(receiveBufferByteCount: 4 << 10)
            try await offload { try socket.send([1]) }
            try await written.next()
            // Longer than a stall may last, and less than a silence.
            await server.advance(by: TransportLimits.writeProgressTimeout * 4)
            #expect(reasons.events.isEmpty)
            await server.onLoop { loop in
                loop.forEachConnection { unsafe $0.writeOwed([UInt8(2)].span.bytes) }
            }
            let answer = try await offload { try socket.receive(sent + 1) }
            #expect(answer.last == 2)
        }
    }
}
