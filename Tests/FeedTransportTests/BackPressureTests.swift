import FeedTestSupport
import FeedTransport
import Testing

@Suite(.timeLimit(.minutes(10))) struct BackPressureTests {
    private static let answerByteCount = 16 * 1_024

    private static var configuration: TransportConfiguration {
        var configuration = TransportConfiguration.patient
        configuration.highWatermarkByteCount = 256 * 1_024
        configuration.lowWatermarkByteCount = 64 * 1_024
        configuration.sendBufferByteCount = 16 * 1_024
        return configuration
    }

    private enum Event: Sendable {
        case executed(pending: Int)
        case stoppedAbove(pending: Int)
        case resumed(pending: Int)
        case closed(CloseReason)
    }

    /// Each byte is a request for 16 KiB.
    private static func script(_ events: Recorder<Event>) -> TestServer.Script {
        { handler in
            var wasAbove = false
            handler.received = { connection, bytes in
                if wasAbove { events.record(.resumed(pending: connection.pendingByteCount)) }
                wasAbove = false
                var consumed = 0
                while consumed < bytes.count {
                    if connection.isAboveHighWatermark {
                        wasAbove = true
                        events.record(.stoppedAbove(pending: connection.pendingByteCount))
                        break
                    }
                    connection.write(
                        [UInt8](repeating: bytes[consumed], count: answerByteCount)
                    )
                    consumed += 1
                    events.record(.executed(pending: connection.pendingByteCount))
                }
                return ReadProgress(
                    consumedByteCount: consumed,
                    wantsIteration: consumed < bytes.count
                )
            }
            handler.closed = { _, reason in events.record(.closed(reason)) }
        }
    }

    @Test func executesNothingForAPeerThatDoesNotReadAndGoesOnWhenItDoes() async throws {
        let events = Recorder<Event>()
        try await TestServer.Plan(configuration: Self.configuration, script: Self.script(events))
            .run {
                server in
                let socket = try await server.client(receiveBufferByteCount: 16 * 1_024)
                let requests = (0..<400).map { UInt8(truncatingIfNeeded: $0) }
                try await offload { try socket.send(requests) }
                while case .executed = try await events.next() {}
                // Further loop iterations bring no further work.
                for _ in 0..<50 { await server.onLoop { _ in } }
                let executed = events.events.count {
                    if case .executed = $0 { true } else { false }
                }
                #expect(executed < 100)
                let held = server.budget.bufferedByteCount
                #expect(held > Self.configuration.highWatermarkByteCount)

                let answers = try await offload {
                    let answers = try socket.receive(400 * Self.answerByteCount)
                    socket.shutDownSending()
                    return answers + (try socket.receiveUntilEndOfFile())
                }
                #expect(answers == requests.flatMap { [UInt8](repeating: $0, count: 16 * 1_024) })
                #expect(server.budget.bufferedByteCount == 0)
                for event in events.events {
                    switch event {
                    case .executed(let pending), .stoppedAbove(let pending):
                        #expect(
                            pending
                                <= Self.configuration.highWatermarkByteCount + Self.answerByteCount
                        )
                    case .resumed(let pending):
                        #expect(pending <= Self.configuration.lowWatermarkByteCount)
                    case .closed: break
                    }
                }
            }
    }

    @Test func takesNoIterationsWhileAHandlerWaitsForItsWrites() async throws {
        // Well below the high watermark, and more than the kernel takes.
        let byteCount = 200 * 1_024
        let shown = Recorder<Int>()
        let plan = TestServer.Plan(configuration: Self.configuration) { handler in
            var hasWritten = false
            handler.received = { connection, bytes in
                shown.record(connection.pendingByteCount)
                if !hasWritten { connection.write([UInt8](repeating: 1, count: byteCount)) }
                defer { hasWritten = true }
                let isDone = hasWritten && connection.pendingByteCount == 0
                return ReadProgress(
                    consumedByteCount: isDone ? bytes.count : 0,
                    wantsIteration: !isDone,
                    waitsForWrites: true
                )
            }
        }
        try await plan.run { server in
            let socket = try await server.client(receiveBufferByteCount: 16 * 1_024)
            try await offload { try socket.send([1]) }
            _ = try await shown.next()
            for _ in 0..<50 { await server.onLoop { _ in } }
            #expect(shown.events == [0])
            let answers = try await offload {
                socket.shutDownSending()
                return try socket.receiveUntilEndOfFile()
            }
            #expect(answers.count == byteCount)
            #expect(shown.events == [0, 0])
            #expect(server.budget.bufferedByteCount == 0)
        }
    }

    @Test func finishesWhatAPeerAskedForBeforeItClosedItsSide() async throws {
        let events = Recorder<Event>()
        try await TestServer.Plan(configuration: Self.configuration, script: Self.script(events))
            .run {
                server in
                let socket = try await server.client(receiveBufferByteCount: 16 * 1_024)
                let byteCount = try await offload {
                    try socket.send([UInt8](repeating: 1, count: 200))
                    socket.shutDownSending()
                    return try socket.receiveUntilEndOfFile().count
                }
                #expect(byteCount == 200 * Self.answerByteCount)
            }
    }

    @Test func resetsAPeerThatTakesNothing() async throws {
        let events = Recorder<Event>()
        var configuration = Self.configuration
        configuration.clock = ManualClock()
        configuration.writeProgressTimeout = TransportLimits.writeProgressTimeout
        try await TestServer.Plan(configuration: configuration, script: Self.script(events)).run {
            server in
            let socket = try await server.client(receiveBufferByteCount: 16 * 1_024)
            try await offload { try socket.send([UInt8](repeating: 1, count: 100)) }
            while case .executed = try await events.next() {}
            // The bytes that the kernels pass on meanwhile are progress, which ends.
            var reason: CloseReason?
            while reason == nil {
                await server.advance(by: configuration.sweepInterval)
                if case .closed(let why) = events.events.last { reason = why }
            }
            #expect(reason == .writeStalled)
            #expect(server.budget.bufferedByteCount == 0)
            await #expect(throws: TestSocket.Failure.system(call: "recv", number: 104)) {
                try await offload { try socket.receiveUntilEndOfFile() }
            }
        }
    }

    @Test func keepsAPeerThatTakesItsAnswersSlowly() async throws {
        // One write of 4 MiB, taken over many times the limit.
        let byteCount = 4 * 1_024 * 1_024
        let reasons = Recorder<CloseReason>()
        var configuration = Self.configuration
        configuration.clock = ManualClock()
        configuration.writeProgressTimeout = TransportLimits.writeProgressTimeout
        try await TestServer.Plan(configuration: configuration) { handler in
            handler.received = { connection, bytes in
                connection.write([UInt8](repeating: 1, count: byteCount))
                return ReadProgress(consumedByteCount: bytes.count)
            }
            handler.closed = { _, reason in reasons.record(reason) }
        }.run { server in
            let socket = try await server.client(receiveBufferByteCount: 16 * 1_024)
            try await offload { try socket.send([1]) }
            for _ in 0..<32 {
                // More than the receive buffer holds, so the peer has said that it took some.
                try await offload { _ = try socket.receive(byteCount / 64) }
                await server.advance(by: TransportLimits.writeProgressTimeout / 2)
            }
            #expect(reasons.events.isEmpty)
            try await offload {
                _ = try socket.receive(byteCount / 2)
                socket.shutDownSending()
            }
            let reason = try await reasons.next()
            #expect(reason == .peerClosed)
        }
    }

    @Test func keepsAPeerThatTakesLessThanTheKernelWaitsForBeforeItTakesMore() async throws {
        // The kernel takes more only when a third of its send buffer is free again: several times
        // what the peer takes within the limit.
        let reasons = Recorder<CloseReason>()
        var configuration = TransportConfiguration()
        configuration.clock = ManualClock()
        configuration.idleTimeout = nil
        configuration.sendBufferByteCount = 1_024 * 1_024
        try await TestServer.Plan(configuration: configuration) { handler in
            handler.received = { connection, bytes in
                connection.write([UInt8](repeating: 1, count: 4 * 1_024 * 1_024))
                return ReadProgress(consumedByteCount: bytes.count)
            }
            handler.closed = { _, reason in reasons.record(reason) }
        }.run { server in
            let socket = try await server.client(receiveBufferByteCount: 8 * 1_024)
            try await offload { try socket.send([1]) }
            for _ in 0..<8 {
                // What the receive buffer holds several times, and a tenth of the send buffer.
                try await offload { _ = try socket.receive(96 * 1_024) }
                await server.advance(by: TransportLimits.writeProgressTimeout / 2)
            }
            #expect(reasons.events.isEmpty)
        }
    }

    @Test func stopsReadingAboveTheFairShareOfAnExhaustedBudget() async throws {
        // The handler waits for a frame of 512 KiB; the budget is of 32 KiB for two connections.
        var configuration = TransportConfiguration()
        configuration.clock = ManualClock()
        configuration.receiveBufferByteCount = 16 * 1_024
        let budget = BufferBudget(limitByteCount: 32 * 1_024)
        let closed = Recorder<CloseReason>()
        let shown = Recorder<Int>()
        try await TestServer.Plan(configuration: configuration, budget: budget) { handler in
            handler.received = { connection, bytes in
                shown.record(bytes.count)
                let isSmall = bytes[0] == 1
                if isSmall { connection.write([1]) }
                return ReadProgress(consumedByteCount: isSmall ? bytes.count : 0)
            }
            handler.closed = { _, reason in closed.record(reason) }
        }.run { server in
            let greedy = try await server.client()
            let modest = try await server.client()
            try await offload { try greedy.send([UInt8](repeating: 0, count: 512 * 1_024)) }
            let answer = try await offload {
                try modest.send([1])
                return try modest.receive(1)
            }
            #expect(answer == [1])
            // Further iterations of the loop read nothing more of it.
            for _ in 0..<50 { await server.onLoop { _ in } }
            await server.advance(by: TransportLimits.partialReadTimeout)
            #expect(closed.events.isEmpty)
            await server.advance(by: configuration.sweepInterval * 2)
            #expect(try await closed.next() == .partialReadTimeout)
            #expect(try #require(shown.events.max()) <= 32 * 1_024 + 16 * 1_024)
            #expect(budget.bufferedByteCount == 0)
            #expect(!budget.isExhausted)
        }
    }
}
