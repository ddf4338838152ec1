import FeedTestSupport
import FeedTransport
import Testing

/// The bytes that are kept of frames that never end, and the time that their peers have.
@Suite(.timeLimit(.minutes(10))) struct UnfinishedFrameTests {
    private static let kibibyte = 1_024
    private static let greedy: UInt32 = 0x7f00_0001
    /// Another host, in a slot of its own.
    private static let modest: UInt32 = {
        var number = greedy + 1
        while HostSlot(.v4(number)) == HostSlot(.v4(greedy)) { number += 1 }
        return number
    }()
    private static let part = [UInt8](repeating: 1, count: 32 * kibibyte)

    private struct Closing: Sendable {
        let host: SocketAddress.Host
        let reason: CloseReason
        var isForBudget: Bool { if case .overBudget = reason { true } else { false } }
    }

    /// The events of a server's handlers.
    private struct Events: Sendable {
        let shown = Recorder<Int>()
        let closings = Recorder<Closing>()
    }

    /// A server that holds so much at most; a frame ends with a byte 0, and is answered with one.
    private static func plan(
        _ events: Events,
        limitByteCount: Int = 1_024 * kibibyte
    ) -> TestServer.Plan {
        var configuration = TransportConfiguration()
        configuration.clock = ManualClock()
        configuration.closesOverBudget = true
        return TestServer.Plan(
            configuration: configuration,
            budget: BufferBudget(limitByteCount: limitByteCount)
        ) { handler in
            handler.opened = { _ in events.shown.record(0) }
            handler.received = { connection, bytes in
                events.shown.record(bytes.count)
                guard let end = bytes.lastIndex(of: 0) else {
                    return ReadProgress(consumedByteCount: 0)
                }
                connection.write([0])
                return ReadProgress(consumedByteCount: end + 1)
            }
            handler.closed = { connection, reason in
                events.closings.record(Closing(host: connection.peer.host, reason: reason))
            }
        }
    }

    /// Connections that the server has opened.
    private static func sockets(
        _ count: Int,
        from source: UInt32,
        _ server: TestServer,
        _ events: Events
    ) async throws -> [TestSocket] {
        var sockets: [TestSocket] = []
        for _ in 0..<count {
            sockets.append(try await server.client(from: source))
            while try await events.shown.next() > 0 {}
        }
        return sockets
    }

    /// Has one wait of the loop bring a part of a frame from each of the connections.
    private static func sendAtOnce(_ sockets: [TestSocket], to server: TestServer) async throws {
        let gate = try await server.holdLoop()
        try await offload {
            defer { gate.open() }
            for socket in sockets { try socket.send(part) }
        }
        // The wait that the gate was in, and the one that reads.
        for _ in 0..<2 { await server.onLoop { _ in } }
    }

    @Test func oneWaitOfTheLoopBringsAGreedyHostNoFurtherThanItsShare() async throws {
        let events = Events()
        try await Self.plan(events).run { server in
            // Nearly twice the limit.
            let sockets = try await Self.sockets(60, from: Self.greedy, server, events)
            try await Self.sendAtOnce(sockets, to: server)
            // A connection that is closed was shown what it does not keep.
            #expect(try await events.closings.next().isForBudget)
            let share = server.budget.answerLimitByteCount
            #expect(server.budget.peakByteCount <= share + 2 * Self.part.count)
            #expect(server.budget.bufferedByteCount > share / 2)
            withExtendedLifetime(sockets) {}
        }
    }

    @Test func aHostWithinItsShareKeepsItsFrameAndFinishesIt() async throws {
        let events = Events()
        try await Self.plan(events).run { server in
            let modest = try await Self.sockets(1, from: Self.modest, server, events)
            let greedy = try await Self.sockets(60, from: Self.greedy, server, events)
            try await Self.sendAtOnce(Array(greedy[..<20]) + modest, to: server)
            try await Self.sendAtOnce(Array(greedy[20...]) + modest, to: server)
            #expect(try await events.closings.next().isForBudget)
            let answer = try await offload {
                try modest[0].send(Self.part + [0])
                return try modest[0].receive(1)
            }
            #expect(answer == [0])
            let host = SocketAddress.Host.v4(Self.greedy)
            #expect(events.closings.events.allSatisfy { $0.isForBudget && $0.host == host })
            withExtendedLifetime((greedy, modest)) {}
        }
    }

    /// As much as a vote takes, which other clients of a greedy host may cast.
    @Test func aFewBytesOfAFrameAreKeptOfAnyHost() async throws {
        let events = Events()
        try await Self.plan(events).run { server in
            let sockets = try await Self.sockets(2, from: Self.greedy, server, events)
            let slot = HostSlot(.v4(Self.greedy))
            // Another loop holds more than the host's share, and too little for a relief.
            let elsewhere = 600 * Self.kibibyte
            server.budget.add(elsewhere, for: slot)
            try await offload { try sockets[0].send([UInt8](repeating: 1, count: 100)) }
            while try await events.shown.next() < 100 {}
            try await offload { try sockets[1].send([UInt8](repeating: 1, count: 1_000)) }
            #expect(try await events.closings.next().isForBudget)
            let answer = try await offload {
                try sockets[0].send([0])
                return try sockets[0].receive(1)
            }
            #expect(answer == [0])
            #expect(events.closings.events.count == 1)
            server.budget.add(-elsewhere, for: slot)
            withExtendedLifetime(sockets) {}
        }
    }

    @Test func countsTheMemoryOfAFrameAndNotItsBytes() async throws {
        let events = Events()
        try await Self.plan(events).run { server in
            let socket = try await Self.sockets(1, from: Self.modest, server, events)[0]
            // A frame that takes much, and the first byte of the next one in the same memory.
            try await offload { try socket.send(Self.part + Self.part) }
            while try await events.shown.next() < 2 * Self.part.count {}
            let answer = try await offload {
                try socket.send([0, 1])
                return try socket.receive(1)
            }
            #expect(answer == [0])
            while try await events.shown.next() < 2 * Self.part.count + 2 {}
            await server.onLoop { _ in }
            #expect(server.budget.bufferedByteCount >= 2 * Self.part.count)
            try await offload {
                try socket.send([0])
                _ = try socket.receive(1)
            }
            await server.onLoop { _ in }
            #expect(server.budget.bufferedByteCount == 0)
        }
    }
}

/// The deadline of a peer whose reading the budget has paused.
extension UnfinishedFrameTests {
    /// Runs `body` with a connection that has begun a frame and is not read from, as too much else
    /// is held, until `body` gives that back.
    private static func whilePaused(
        _ body: (_ server: TestServer, _ socket: TestSocket, _ events: Events) async throws -> Void
    ) async throws {
        let events = Events()
        try await plan(events, limitByteCount: 128 * kibibyte).run { server in
            // With them an equal share is less than half of what the connection holds.
            let others = try await sockets(20, from: greedy, server, events)
            let socket = try await sockets(1, from: modest, server, events)[0]
            server.budget.addReserved(server.budget.limitByteCount)
            try await offload { try socket.send([UInt8](repeating: 1, count: 16 * kibibyte)) }
            _ = try await events.shown.next()
            await server.onLoop { _ in }
            try await body(server, socket, events)
            withExtendedLifetime(others) {}
        }
    }

    @Test func timeInWhichAPeerIsNotReadFromDoesNotMakeItSlow() async throws {
        try await Self.whilePaused { server, socket, events in
            try await offload { try socket.send([0]) }
            await server.advance(by: TransportLimits.partialReadTimeout * 4)
            #expect(events.closings.events.isEmpty)
            #expect(socket.receiveWithoutWaiting().isEmpty)
            server.budget.addReserved(-server.budget.limitByteCount)
            await server.advance(by: TransportLimits.sweepInterval)
            let answer = try await offload { try socket.receive(1) }
            #expect(answer == [0])
            #expect(events.closings.events.isEmpty)
            withExtendedLifetime(socket) {}
        }
    }

    @Test func aPeerThatIsReadFromAgainIsWaitedForAnew() async throws {
        try await Self.whilePaused { server, socket, events in
            await server.advance(by: TransportLimits.partialReadTimeout * 2)
            server.budget.addReserved(-server.budget.limitByteCount)
            await server.advance(by: TransportLimits.partialReadTimeout)
            #expect(events.closings.events.isEmpty)
            await server.advance(by: TransportLimits.sweepInterval * 2)
            let closing = try await events.closings.next()
            #expect(closing.reason == .partialReadTimeout)
            withExtendedLifetime(socket) {}
        }
    }

    @Test func aPeerThatIsNotReadFromIsIdleInTheEnd() async throws {
        try await Self.whilePaused { server, socket, events in
            await server.advance(by: TransportLimits.idleTimeout)
            #expect(events.closings.events.isEmpty)
            await server.advance(by: TransportLimits.sweepInterval * 2)
            let host = SocketAddress.Host.v4(Self.modest)
            var closing = try await events.closings.next()
            while closing.host != host { closing = try await events.closings.next() }
            #expect(closing.reason == .idleTimeout)
            server.budget.addReserved(-server.budget.limitByteCount)
            withExtendedLifetime(socket) {}
        }
    }
}

@Suite struct ReadingStateTests {
    private static let reasons: [ReadingState.Pauses] = [
        .handler, .backPressure, .suspension, .budget,
    ]

    private static func open() -> ReadingState {
        var state = ReadingState()
        _ = state.resume(.unopened)
        return state
    }

    @Test func readsOnceNoReasonIsLeft() {
        var state = ReadingState()
        var changes = [state.pause(.handler)]
        changes.append(state.resume(.unopened))
        changes.append(state.resume(.handler))
        changes.append(state.resume(.handler))
        changes.append(state.pause(.budget))
        changes.append(state.pause(.handler))
        changes.append(state.resume([.budget, .handler]))
        #expect(changes == [false, false, true, false, true, false, true])
    }

    @Test func makesUpForAnIterationThatCameUnderBackPressure() throws {
        var state = Self.open()
        let queues = state.requestIteration()
        let queuesAgain = state.requestIteration()
        let stops = state.pause(.backPressure)
        let isGiven = state.takeIteration()
        #expect([queues, queuesAgain, stops, isGiven] == [true, false, true, false])
        let unblocking = state.unblock(.backPressure, hasUnconsumedBytes: false)
        guard case .iterate(queues: true) = unblocking
        else { throw Unexpected("The iteration is lost.") }
        let isGivenNow = state.takeIteration()
        let starts = state.resume(.iteration)
        #expect(isGivenNow && starts)
    }

    @Test func notifiesOfTheInputsEndOnceAndLast() {
        var state = Self.open()
        _ = state.requestIteration()
        state.endInput()
        let early = state.deliverInputEnd()
        _ = state.takeIteration()
        let first = state.deliverInputEnd()
        state.endInput()
        let second = state.deliverInputEnd()
        #expect([early, first, second] == [false, true, false])
        #expect(state.hasInputEnded)
    }

    @Test func trapsWhereAnIterationComesUnrequested() async {
        await #expect(processExitsWith: .failure) {
            var state = ReadingState()
            _ = state.takeIteration()
        }
    }

    /// A connection that does what the state says, and counts by itself.
    private struct Model {
        var state = ReadingStateTests.open()
        var isReading = true
        var pauses: Set<UInt8> = []
        var isQueued = false
        var wantsIteration = false
        var hasEnded = false
        var endCount = 0

        mutating func stop(_ stops: Bool) {
            if stops {
                #expect(isReading)
                isReading = false
            }
        }

        mutating func start(_ starts: Bool) {
            if starts {
                #expect(!isReading)
                isReading = true
            }
        }

        mutating func queue(_ queues: Bool) {
            if queues {
                #expect(!isQueued)
                isQueued = true
            }
        }

        mutating func pause(_ reason: ReadingState.Pauses) {
            pauses.insert(reason.rawValue)
            stop(state.pause(reason))
        }

        mutating func resume(_ reason: ReadingState.Pauses) {
            pauses.remove(reason.rawValue)
            start(state.resume(reason))
        }

        mutating func request() {
            wantsIteration = true
            queue(state.requestIteration())
        }

        mutating func waitForWrites() {
            wantsIteration = true
            pauses.insert(ReadingState.Pauses.backPressure.rawValue)
            stop(state.waitForWrites())
        }

        mutating func takeIteration() {
            guard isQueued else { return }
            isQueued = false
            if state.takeIteration() {
                wantsIteration = false
                resume(.iteration)
            }
        }

        mutating func unblock(_ reason: ReadingState.Pauses, hasBytes: Bool) {
            guard pauses.contains(reason.rawValue) else { return }
            pauses.remove(reason.rawValue)
            switch state.unblock(reason, hasUnconsumedBytes: hasBytes) {
            case .stay: #expect(isBlocked)
            case .read(let starts):
                #expect(!hasBytes && !wantsIteration)
                start(starts)
            case .iterate(let queues):
                wantsIteration = true
                pauses.insert(ReadingState.Pauses.iteration.rawValue)
                queue(queues)
            }
        }

        mutating func end() {
            hasEnded = true
            pauses.insert(ReadingState.Pauses.ended.rawValue)
            state.endInput()
            // The system reports no more bytes after the end.
            isReading = false
        }

        mutating func deliver() {
            guard state.deliverInputEnd() else { return }
            #expect(hasEnded && !wantsIteration && !isBlocked)
            endCount += 1
        }

        private var isBlocked: Bool {
            let reasons: [ReadingState.Pauses] = [.backPressure, .suspension]
            return reasons.contains { pauses.contains($0.rawValue) }
        }

        func check() {
            #expect(isBlocked == state.isBlocked)
            #expect(isReading == pauses.isEmpty)
            #expect(isQueued == state.isQueued)
            #expect(!wantsIteration || isQueued || state.isBlocked)
        }
    }

    @Test(arguments: 0..<20)
    func losesNoIterationAndNoEnd(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var model = Model()
        for step in 0..<2_000 {
            let reason = try #require(Self.reasons.randomElement(using: &generator))
            switch Int.random(in: 0..<9, using: &generator) {
            case 0: model.pause(reason)
            case 1 where reason.isDisjoint(with: .blocking): model.resume(reason)
            case 2: model.request()
            case 3: model.waitForWrites()
            case 4, 5: model.takeIteration()
            case 6:
                model.unblock(
                    Bool.random(using: &generator) ? .backPressure : .suspension,
                    hasBytes: .random(using: &generator)
                )
            case 7: model.deliver()
            case 8 where step > 1_900: model.end()
            default: break
            }
            model.check()
        }
        model.end()
        // At most one iteration is left, and it comes once nothing blocks the handler.
        for _ in 0..<2 {
            model.unblock(.backPressure, hasBytes: false)
            model.unblock(.suspension, hasBytes: false)
            model.takeIteration()
        }
        model.deliver()
        #expect(!model.wantsIteration && model.endCount == 1)
    }
}

@Suite struct ReadBufferTests {
    private func contents(_ buffer: ReadBuffer) -> [UInt8] {
        buffer.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
    }

    @Test(arguments: 0..<8)
    func holdsWhatAnArrayWouldHold(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var buffer = ReadBuffer()
        var model: [UInt8] = []
        for step in 0..<500 {
            if Bool.random(using: &random) {
                let bytes = random.bytes(Int.random(in: 0...300, using: &random))
                bytes.withRawSpan { buffer.append($0) }
                model += bytes
            } else {
                let count = Int.random(in: 0...model.count, using: &random)
                buffer.consume(count)
                model.removeFirst(count)
            }
            #expect(buffer.byteCount == model.count, "seed \(seed), step \(step)")
            #expect(contents(buffer) == model, "seed \(seed), step \(step)")
            #expect(buffer.isEmpty == model.isEmpty, "seed \(seed), step \(step)")
        }
    }

    @Test func dropsEverythingAtOnce() {
        var buffer = ReadBuffer()
        [UInt8](repeating: 7, count: 10_000).withRawSpan { buffer.append($0) }
        buffer.consume(5)
        buffer.removeAll()
        #expect(buffer.isEmpty)
        [1, 2].withRawSpan { buffer.append($0) }
        #expect(contents(buffer) == [1, 2])
    }
}
