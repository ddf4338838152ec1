import FeedTestSupport
import FeedTransport
import Testing

/// Which connections are closed where too much is held.
@Suite(.timeLimit(.minutes(10))) struct ReliefTests {
    /// Addresses of this machine that share no slot of the budget.
    private static let hosts: [UInt32] = {
        var hosts: [UInt32] = []
        var slots: Set<HostSlot> = []
        var number: UInt32 = 0x7f00_0001
        while hosts.count < 3 {
            if slots.insert(HostSlot(.v4(number))).inserted { hosts.append(number) }
            number += 1
        }
        return hosts
    }()
    private static var first: UInt32 { hosts[0] }
    private static var other: UInt32 { hosts[1] }
    private static var third: UInt32 { hosts[2] }
    /// What answers and levels are counted in: the kernel takes a few KiB of each answer, sooner or
    /// later, which is small beside it.
    private static let unit = 16 * 1_024
    private static let sendBufferByteCount = 2 << 10

    private struct Closing: Sendable {
        let host: SocketAddress.Host
        var isOther: Bool { host == .v4(ReliefTests.other) }
        let reason: CloseReason
        var isForBudget: Bool { if case .overBudget = reason { true } else { false } }
    }

    private let closings = Recorder<Closing>()
    private let answered = Recorder<Void>()

    /// A server that answers each byte with so many units, and holds 1,024 at most.
    private func plan() -> TestServer.Plan {
        var configuration = TransportConfiguration()
        configuration.clock = ManualClock()
        configuration.sendBufferByteCount = Self.sendBufferByteCount
        configuration.closesOverBudget = true
        return TestServer.Plan(
            configuration: configuration,
            budget: BufferBudget(limitByteCount: 1_024 * Self.unit)
        ) { [answered, closings] handler in
            handler.received = { connection, bytes in
                for byte in bytes {
                    connection.write([UInt8](repeating: byte, count: Int(byte) * Self.unit))
                    answered.record(())
                }
                return ReadProgress(consumedByteCount: bytes.count)
            }
            handler.closed = { connection, reason in
                closings.record(Closing(host: connection.peer.host, reason: reason))
            }
        }
    }

    /// Connections that each have asked for so many units and read nothing.
    private func holders(
        _ sizes: [UInt8],
        from source: UInt32,
        _ server: TestServer
    ) async throws -> [TestSocket] {
        var sockets: [TestSocket] = []
        for size in sizes {
            let socket = try await server.client(from: source, receiveBufferByteCount: 2 << 10)
            try await offload { try socket.send([size]) }
            try await answered.next()
            sockets.append(socket)
        }
        return sockets
    }

    @Test func closesWhatTakesNothingOfTheHostThatHoldsMost() async throws {
        try await plan().run { server in
            // 360 units of one host and 40 of another: above three eighths, below five. Closing two
            // is enough: the kernel may take some more bytes of the others at any time.
            let sizes = [UInt8](repeating: 90, count: 4)
            let greedy = try await holders(sizes, from: Self.first, server)
            let modest = try await holders([40], from: Self.other, server)
            for _ in 0..<8 { await server.advance(by: TransportLimits.sweepInterval) }
            #expect(!closings.events.isEmpty)
            #expect(closings.events.allSatisfy { $0.isForBudget && !$0.isOther })
            #expect(server.budget.bufferedByteCount <= 384 * Self.unit)
            withExtendedLifetime((greedy, modest)) {}
        }
    }

    @Test func closesNobodyWhereLittleIsHeld() async throws {
        try await plan().run { server in
            let sizes = [UInt8](repeating: 50, count: 4)
            let sockets = try await holders(sizes, from: Self.first, server)
            for _ in 0..<8 { await server.advance(by: TransportLimits.sweepInterval) }
            #expect(closings.events.isEmpty)
            withExtendedLifetime(sockets) {}
        }
    }

    @Test(
        "connections that hold far too much are closed before the next wait, not at the next sweep"
    )
    func closesAtOnceWhereFarTooMuchIsHeld() async throws {
        try await plan().run { server in
            let sizes = [UInt8](repeating: 200, count: 6)
            let sockets = try await holders(sizes, from: Self.first, server)
            await server.onLoop { _ in }
            #expect(server.budget.connectionByteCount <= 640 * Self.unit)
            #expect(try await closings.next().isForBudget)
            #expect(closings.events.count < sizes.count)
            withExtendedLifetime(sockets) {}
        }
    }

    /// One host has thirty connections that hold little, two others have a large reader each.
    @Test func aHostWithManySmallConnectionsIsNotSpared() async throws {
        try await plan().run { server in
            let sizes = [UInt8](repeating: 12, count: 30)
            let small = try await holders(sizes, from: Self.first, server)
            let budget = server.budget
            let held = budget.byteCount(of: HostSlot(.v4(Self.first)))
            // Each holds less than half of an equal share, and together more than a host's share.
            try #require(held / 30 < budget.limitByteCount / 36 / 2)
            try #require(held > budget.answerLimitByteCount / 3)
            let large = try await holders([160], from: Self.other, server)
            var others: [TestSocket] = []
            while closings.events.isEmpty, others.count < 8 {
                others += try await holders([40], from: Self.third, server)
                // Closed in one step of the loop, and notified in the next.
                for _ in 0..<2 { await server.onLoop { _ in } }
            }
            #expect(!closings.events.isEmpty)
            #expect(closings.events.allSatisfy { $0.isForBudget && $0.host == .v4(Self.first) })
            withExtendedLifetime((small, large, others)) {}
        }
    }

    /// Another loop holds what is too much, for another host.
    @Test func aHostThatKeepsToItsShareIsSparedUntilNoLoopFindsAnother() async throws {
        try await plan().run { server in
            let budget = server.budget
            let elsewhere = HostSlot(.v4(Self.third))
            budget.add(600 * Self.unit, for: elsewhere)
            let idle = try await holders([UInt8](repeating: 0, count: 8), from: Self.first, server)
            let modest = try await holders([200], from: Self.other, server)
            await server.onLoop { _ in }
            try #require(budget.bufferedByteCount > 640 * Self.unit)
            #expect(closings.events.isEmpty)
            // A look in vain is not made again before the next sweep.
            let more = try await holders([20], from: Self.other, server)
            #expect(await server.onLoop { !$0.isReliefDue })
            await server.advance(by: TransportLimits.sweepInterval)
            #expect(closings.events.isEmpty)
            // No loop has closed anything since, so now it is closed itself.
            await server.advance(by: TransportLimits.sweepInterval)
            #expect(try await closings.next().isOther)
            budget.add(-600 * Self.unit, for: elsewhere)
            withExtendedLifetime((idle, modest, more)) {}
        }
    }

    @Test func countsTheFullSendBufferOfTheKernel() async throws {
        try await plan().run { server in
            let sockets = try await holders([100], from: Self.first, server)
            let held = server.budget.bufferedByteCount
            let unsent = await server.onLoop { loop in
                var byteCount = 0
                loop.forEachConnection { byteCount += $0.pendingByteCount }
                return byteCount
            }
            #expect(held >= unsent + 2 * Self.sendBufferByteCount)
            sockets[0].reset()
            while server.budget.bufferedByteCount > 0 { await server.onLoop { _ in } }
        }
    }

    /// A loop serves thousands of connections before the memory of a closed one is free.
    @Test func whatIsUnsentCountsUntilItIsFreed() async throws {
        let held = Recorder<Int>()
        let closings = Recorder<Void>()
        try await TestServer.Plan { handler in
            handler.received = { connection, bytes in
                connection.write([UInt8](repeating: 1, count: 8 << 20))
                let unsent = connection.pendingByteCount
                connection.reset()
                let budget = connection.loop.budget
                held.record(budget.connectionByteCount)
                held.record(budget.bufferedByteCount - unsent)
                return ReadProgress(consumedByteCount: bytes.count)
            }
            handler.closed = { _, _ in closings.record(()) }
        }.run { server in
            let socket = try await server.client(receiveBufferByteCount: 2 << 10)
            try await offload { try socket.send([1]) }
            try await closings.next()
            #expect(held.events[0] == 0)
            #expect(held.events[1] >= 0)
            #expect(server.budget.bufferedByteCount == 0)
            withExtendedLifetime(socket) {}
        }
    }
}

/// A handler that asks to be shown nothing for a while.
@Suite(.timeLimit(.minutes(10))) struct SuspensionTests {
    private struct Events: Sendable {
        let shown = Recorder<[UInt8]>()
        let ended = Recorder<Void>()
        let closed = Recorder<CloseReason>()
    }

    private let events = Events()

    /// A server that suspends a connection at a byte `s`, at most once, and leaves bytes from an `r`.
    private func plan(_ configuration: TransportConfiguration = .patient) -> TestServer.Plan {
        TestServer.Plan(configuration: configuration) { [events] handler in
            var isSuspended = false
            handler.received = { connection, bytes in
                events.shown.record(bytes)
                if bytes.contains(UInt8(ascii: "s")), !isSuspended {
                    isSuspended = true
                    connection.suspend()
                }
                let rest = bytes.firstIndex(of: UInt8(ascii: "r"))
                return ReadProgress(consumedByteCount: rest ?? bytes.count)
            }
            handler.ended = { connection in
                events.ended.record(())
                connection.closeAfterFlush()
            }
            handler.closed = { _, reason in events.closed.record(reason) }
        }
    }

    private static func send(_ text: String, on socket: TestSocket) async throws {
        try await offload { try socket.send(Array(text.utf8)) }
    }

    private static func resume(on server: TestServer) async {
        await server.onLoop { loop in loop.forEachConnection { $0.resume() } }
    }

    /// Runs iterations of the loop, in which it would read.
    private static func iterate(_ server: TestServer) async {
        for _ in 0..<50 { await server.onLoop { _ in } }
    }

    @Test func nothingIsReadUntilTheEnd() async throws {
        try await plan().run { server in
            let socket = try await server.client()
            try await Self.send("s", on: socket)
            _ = try await events.shown.next()
            try await Self.send("more", on: socket)
            await Self.iterate(server)
            #expect(events.shown.events.count == 1)
            await Self.resume(on: server)
            #expect(try await events.shown.next() == Array("more".utf8))
        }
    }

    @Test func unconsumedBytesAreShownFirst() async throws {
        try await plan().run { server in
            let socket = try await server.client()
            try await Self.send("srest", on: socket)
            _ = try await events.shown.next()
            await server.onLoop { loop in loop.forEachConnection { $0.requestIteration() } }
            await Self.iterate(server)
            #expect(events.shown.events.count == 1)
            await Self.resume(on: server)
            #expect(try await events.shown.next() == Array("rest".utf8))
        }
    }

    @Test func noDeadlineForTheRestOfAFramePasses() async throws {
        var configuration = TransportConfiguration()
        configuration.clock = ManualClock()
        try await plan(configuration).run { server in
            let socket = try await server.client()
            try await Self.send("srest", on: socket)
            _ = try await events.shown.next()
            await server.advance(by: TransportLimits.partialReadTimeout * 4)
            #expect(events.closed.events.isEmpty)
            await Self.resume(on: server)
            _ = try await events.shown.next()
            await server.advance(by: TransportLimits.partialReadTimeout * 2)
            #expect(try await events.closed.next() == .partialReadTimeout)
        }
    }

    @Test func aDeadlineThatRunsEnds() async throws {
        var configuration = TransportConfiguration()
        configuration.clock = ManualClock()
        try await plan(configuration).run { server in
            let socket = try await server.client()
            try await Self.send("read", on: socket)
            _ = try await events.shown.next()
            await server.onLoop { loop in loop.forEachConnection { $0.suspend() } }
            await server.advance(by: TransportLimits.partialReadTimeout * 4)
            await Self.iterate(server)
            #expect(events.closed.events.isEmpty)
            await Self.resume(on: server)
            _ = try await events.shown.next()
            await server.advance(by: TransportLimits.partialReadTimeout * 2)
            #expect(try await events.closed.next() == .partialReadTimeout)
        }
    }

    @Test func theEndOfTheInputComesAfter() async throws {
        try await plan().run { server in
            let socket = try await server.client()
            try await Self.send("s", on: socket)
            _ = try await events.shown.next()
            socket.shutDownSending()
            await Self.iterate(server)
            #expect(events.ended.events.isEmpty)
            await Self.resume(on: server)
            try await events.ended.next()
            #expect(try await events.closed.next() == .peerClosed)
        }
    }

    @Test func aSuspendedConnectionCloses() async throws {
        // The clock stands still, so only the peer's end of file ends the connection.
        var configuration = TransportConfiguration.patient
        configuration.clock = ManualClock()
        try await plan(configuration).run { server in
            let socket = try await server.client()
            try await Self.send("srest", on: socket)
            _ = try await events.shown.next()
            await server.onLoop { loop in
                loop.forEachConnection { connection in
                    connection.write([7])
                    connection.closeAfterFlush()
                }
            }
            let last = try await offload { try socket.receiveUntilEndOfFile() }
            #expect(last == [7])
            socket.shutDownSending()
            #expect(try await events.closed.next() == .local)
            #expect(server.budget.bufferedByteCount == 0)
        }
    }
}
