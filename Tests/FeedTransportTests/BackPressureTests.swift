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
                    connection.write([UInt8](repeating: bytes[consumed], count: answerByteCount))
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

@Suite struct BufferBudgetTests {
    private static let first = HostSlot(.v4(0x7f00_0001))
    private static let second: HostSlot = {
        var number: UInt32 = 1
        while HostSlot(.v4(number)) == first { number += 1 }
        return HostSlot(.v4(number))
    }()

    @Test func leavesHalfToChangesWhateverIsAskedFor() {
        let budget = BufferBudget(limitByteCount: 800)
        var taken = 0
        while budget.reserve(10, for: Self.first) { taken += 10 }
        #expect(taken == 600)
        #expect(!budget.isExhausted)
        #expect(budget.bufferedByteCount == taken)
    }

    @Test func takesNothingWhereThereIsNoRoom() {
        let budget = BufferBudget(limitByteCount: 800)
        budget.addReserved(590)
        #expect(!budget.reserve(20, for: Self.first))
        #expect(budget.bufferedByteCount == 590)
    }

    @Test func letsOneAnswerThroughWhereNothingElseIsHeld() {
        let budget = BufferBudget(limitByteCount: 800)
        #expect(budget.reserve(500, for: Self.first))
        #expect(!budget.reserve(500, for: Self.first))
        budget.addReserved(-500)
        #expect(budget.reserve(500, for: Self.second))
    }

    @Test func reportsTheDegreesOfWant() {
        let budget = BufferBudget(limitByteCount: 800)
        budget.addReserved(200)
        #expect(!budget.isCrowded)
        budget.addReserved(1)
        #expect(budget.isCrowded && !budget.isNearlyExhausted)
        budget.addReserved(400)
        #expect(budget.isNearlyExhausted && !budget.isExhausted)
        budget.addReserved(200)
        #expect(budget.isExhausted)
    }

    /// The bytes of each level where the limit is 800, and the sum that is compared with them.
    private static let levels: [BudgetLevel: (byteCount: Int, sum: BudgetLevel.Sum)] = [
        .notable: (100, .all),
        .crowded: (200, .all),
        .sharing: (300, .connections),
        .answering: (400, .all),
        .closing: (500, .connections),
        .unfinished: (600, .connections),
        .nearlyExhausted: (600, .all),
        .exhausted: (800, .all),
    ]

    @Test(arguments: BudgetLevel.allCases)
    func comparesALevelWithItsPartAndItsSum(_ level: BudgetLevel) throws {
        let expected = try #require(Self.levels[level])
        let budget = BufferBudget(limitByteCount: 800)
        budget.add(expected.byteCount, for: Self.first)
        #expect(!budget.isAbove(level))
        budget.addReserved(1)
        #expect(budget.isAbove(level) == (expected.sum == .all))
        budget.add(1, for: Self.first)
        #expect(budget.isAbove(level))
    }

    @Test func closesNoConnectionForReservedBytes() {
        let budget = BufferBudget(limitByteCount: 800)
        budget.addReserved(801)
        #expect(budget.isExhausted)
        #expect(!budget.isAbove(.sharing) && !budget.isAbove(.closing))
        #expect(budget.hasRoom(forUnfinished: 300, of: Self.first))
    }

    @Test func remembersThePeakOfAllTimeAndTheLatestOne() {
        let budget = BufferBudget(limitByteCount: 800)
        budget.addReserved(100)
        budget.addReserved(-100)
        #expect(budget.peakByteCount == 0)
        budget.addReserved(300)
        budget.addReserved(-300)
        #expect(budget.peakByteCount == 300)
        #expect(budget.takeLatestPeak() == 300)
        #expect(budget.takeLatestPeak() == 0)
        #expect(budget.peakByteCount == 300)
    }

    @Test func keepsUnfinishedFramesOfAHostWithinItsShareOnly() {
        let budget = BufferBudget(limitByteCount: 800)
        var kept = 0
        while budget.hasRoom(forUnfinished: 10, of: Self.first) {
            budget.add(10, for: Self.first)
            kept += 10
        }
        #expect(kept == budget.answerLimitByteCount)
        // Now there are two hosts, and one of them is above its share.
        budget.add(100, for: Self.second)
        #expect(!budget.hasRoom(forUnfinished: 1, of: Self.first))
        budget.add(-220, for: Self.first)
        #expect(budget.hasRoom(forUnfinished: 20, of: Self.first))
        #expect(budget.hasRoom(forUnfinished: 100, of: Self.second))
        #expect(!budget.hasRoom(forUnfinished: 101, of: Self.second))
    }

    @Test("hosts that come one after another do not pass the limit with the shares they each had")
    func boundsTheSumOfSharesThatBecomeSmaller() {
        let budget = BufferBudget(limitByteCount: 8_000_000)
        for number in 1...200 as ClosedRange<UInt32> {
            let host = HostSlot(.v4(number))
            while budget.hasRoom(forUnfinished: 1_000, of: host) { budget.add(1_000, for: host) }
        }
        #expect(budget.bufferedByteCount > budget.limitByteCount / 2)
        #expect(budget.bufferedByteCount <= budget.limitByteCount / 4 * 3)
    }

    @Test func sharesEvenlyWhereHostsTakeTurns() {
        let budget = BufferBudget(limitByteCount: 8_000_000)
        let hosts = Set((1...40).map { HostSlot(.v4($0)) })
        var isFull = false
        while !isFull {
            isFull = true
            for host in hosts where budget.hasRoom(forUnfinished: 1_000, of: host) {
                budget.add(1_000, for: host)
                isFull = false
            }
        }
        let share = budget.hostShareByteCount
        #expect(hosts.allSatisfy { budget.byteCount(of: $0) > share - 1_000 })
        #expect(budget.bufferedByteCount <= budget.answerLimitByteCount)
    }

    @Test func countsAnIPv6HostByItsNetwork() {
        let one = HostSlot(.v6(high: 0x2001_0db8_0000_0001, low: 1))
        #expect(one == HostSlot(.v6(high: 0x2001_0db8_0000_0001, low: 2)))
    }
}

@Suite(.timeLimit(.minutes(10))) struct FairnessTests {
    @Test func servesOthersBetweenTheTurnsOfAFlood() async throws {
        // A byte is a request; the flood is of 1, the other's of 2. At most 64 a call.
        let order = Recorder<(byte: UInt8, count: Int)>()
        try await TestServer.Plan { handler in
            handler.received = { connection, bytes in
                let count = min(64, bytes.count)
                order.record((bytes[0], count))
                connection.write(Array(bytes[..<count]))
                return ReadProgress(consumedByteCount: count, wantsIteration: count < bytes.count)
            }
        }.run { server in
            let flood = try await server.client()
            let other = try await server.client()
            // Both are accepted, and the loop is held until both have sent.
            try await offload { [flood, other] in
                try flood.send([1])
                _ = try flood.receive(1)
                try other.send([2])
                _ = try other.receive(1)
            }
            let gate = try await server.holdLoop()
            try await offload {
                try flood.send([UInt8](repeating: 1, count: 20_000))
                try other.send([2])
                gate.open()
                _ = try other.receive(1)
                _ = try flood.receive(20_000)
            }
            let served = order.events.dropFirst(2)
            let place = try #require(served.firstIndex { $0.byte == 2 })
            let before = served[..<place].reduce(0) { $0 + $1.count }
            #expect(before <= 2 * 64, "\(before) requests of the flood went first.")
            #expect(served.filter { $0.byte == 1 }.reduce(0) { $0 + $1.count } == 20_000)
        }
    }

    @Test func readsOneBufferOfAConnectionATurn() async throws {
        // Consuming everything does not let a flood have the loop for itself either.
        var configuration = TransportConfiguration.patient
        configuration.receiveBufferByteCount = 1_024
        let order = Recorder<UInt8>()
        try await TestServer.Plan(configuration: configuration) { handler in
            handler.received = { connection, bytes in
                order.record(bytes[0])
                connection.write([bytes[bytes.count - 1]])
                return ReadProgress(consumedByteCount: bytes.count)
            }
        }.run { server in
            let flood = try await server.client()
            let other = try await server.client()
            try await offload {
                try flood.send([0])
                _ = try flood.receive(1)
                try other.send([0])
                _ = try other.receive(1)
            }
            let gate = try await server.holdLoop()
            try await offload {
                try flood.send([UInt8](repeating: 1, count: 20_480))
                try other.send([2])
                gate.open()
                _ = try other.receive(1)
                _ = try flood.receive(20)
            }
            let served = order.events.dropFirst(2)
            let place = try #require(served.firstIndex { $0 == 2 })
            #expect(served[..<place].count <= 1)
        }
    }
}

@Suite struct WriteQueueTests {
    private static func queue(high: Int = 100, low: Int = 20) -> WriteQueue {
        var configuration = TransportConfiguration()
        configuration.highWatermarkByteCount = high
        configuration.lowWatermarkByteCount = low
        return WriteQueue(configuration)
    }

    @Test func keepsOneWriteAtATime() {
        var queue = Self.queue()
        let startsFirst = queue.append(10)
        queue.startWrite()
        let startsSecond = queue.append(5)
        let startsThird = queue.append(6)
        #expect([startsFirst, startsSecond, startsThird] == [true, false, false])
        #expect(queue.inFlightByteCount == 10)
        let needsWrite = queue.endWrite()
        #expect(needsWrite)
        queue.startWrite()
        #expect(queue.inFlightByteCount == 11)
        let needsWriteAgain = queue.endWrite()
        #expect(!needsWriteAgain)
        #expect(queue.isEmpty)
    }

    @Test func isAboveFromTheHighWatermarkToTheLowOne() {
        var queue = Self.queue()
        _ = queue.append(99)
        #expect(!queue.isAboveHighWatermark)
        queue.startWrite()
        _ = queue.append(1)
        #expect(queue.isAboveHighWatermark)
        _ = queue.append(20)
        _ = queue.endWrite()
        #expect(queue.byteCount == 21)
        #expect(queue.isAboveHighWatermark)
        queue.startWrite()
        _ = queue.append(20)
        _ = queue.endWrite()
        #expect(queue.byteCount == 20)
        #expect(!queue.isAboveHighWatermark)
    }

    @Test func forgetsEverythingAtOnce() {
        var queue = Self.queue()
        _ = queue.append(150)
        queue.startWrite()
        _ = queue.append(7)
        #expect(queue.byteCount == 157)
        queue.removeAll()
        #expect(queue.isEmpty)
        #expect(!queue.isAboveHighWatermark)
    }

    @Test(arguments: 0..<8)
    func countsWhatAModelCounts(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = Self.queue()
        var appended = 0
        var inFlight = 0
        for step in 0..<1_000 {
            if Bool.random(using: &random) {
                let count = Int.random(in: 1...40, using: &random)
                appended += count
                if queue.append(count) {
                    queue.startWrite()
                    #expect(inFlight == 0, "seed \(seed), step \(step)")
                    (inFlight, appended) = (appended, 0)
                }
            } else if inFlight > 0 {
                inFlight = 0
                if queue.endWrite() {
                    queue.startWrite()
                    (inFlight, appended) = (appended, 0)
                }
            }
            #expect(queue.appendedByteCount == appended, "seed \(seed), step \(step)")
            #expect(queue.inFlightByteCount == inFlight, "seed \(seed), step \(step)")
        }
    }
}
