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
        var isForBudget: Bool {
            if case .overBudget = reason { true } else { false }
        }
    }

    /// The events of a server's handlers.
    private struct Events: Sendable {
        /// The bytes that were shown.
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
