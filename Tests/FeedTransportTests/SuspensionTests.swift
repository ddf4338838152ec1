import FeedTestSupport
import FeedTransport
import Testing

/// A handler that asks to be shown nothing for a while.
@Suite(.timeLimit(.minutes(10))) struct SuspensionTests {
    /// The events of a handler.
    private struct Events: Sendable {
        let shown = Recorder<[UInt8]>()
        let ended = Recorder<Void>()
        let closed = Recorder<CloseReason>()
    }

    /// A server that suspends a connection at a byte `s`, at most once, and leaves bytes from an `r`.
    private static func plan(
        _ events: Events,
        _ configuration: TransportConfiguration = .patient
    ) -> TestServer.Plan {
        TestServer.Plan(configuration: configuration) { handler in
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
        let events = Events()
        try await Self.plan(events).run { server in
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
        let events = Events()
        try await Self.plan(events).run { server in
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
        let events = Events()
        try await Self.plan(events, configuration).run { server in
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
        let events = Events()
        try await Self.plan(events, configuration).run { server in
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
        let events = Events()
        try await Self.plan(events).run { server in
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
        let events = Events()
        try await Self.plan(events, configuration).run { server in
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
