import FeedTestSupport
import FeedTransport
import Testing

@Suite(.timeLimit(.minutes(10))) struct ClosingTests {
    @Test func deliversEverythingBeforeItClosesThoughInputIsUnread() async throws {
        let byteCount = 4 * 1_024 * 1_024
        try await TestServer.Plan { handler in
            handler.received = { connection, bytes in
                connection.write([UInt8](repeating: 9, count: byteCount))
                connection.closeAfterFlush()
                return ReadProgress(consumedByteCount: 1)
            }
        }.run { server in
            let socket = try await server.client()
            let received = try await offload {
                try socket.send([UInt8](repeating: 1, count: 3 * 1_024 * 1_024))
                let received = try socket.receiveUntilEndOfFile()
                try socket.send([1, 2, 3])
                return received.count
            }
            #expect(received == byteCount)
        }
    }

    @Test func closesALingeringPeerThatNeverCloses() async throws {
        var configuration = TransportConfiguration()
        configuration.clock = ManualClock()
        let reasons = Recorder<CloseReason>()
        try await TestServer.Plan(configuration: configuration) { handler in
            handler.opened = { $0.closeAfterFlush() }
            handler.closed = { _, reason in reasons.record(reason) }
        }.run { server in
            let socket = try await server.client()
            let rest = try await offload { try socket.receiveUntilEndOfFile() }
            #expect(rest.isEmpty)
            await server.advance(by: configuration.lingerTimeout)
            #expect(reasons.events.isEmpty)
            await server.advance(by: configuration.sweepInterval * 2)
            #expect(try await reasons.next() == .local)
            _ = socket
        }
    }

    @Test func hearsOnceOfAPeerThatResetsInTheMiddleOfAnAnswer() async throws {
        let events = Recorder<CloseReason>()
        let started = Recorder<Void>()
        var configuration = TransportConfiguration()
        // A busy machine may keep the peer from its reset for longer than a stall may last.
        configuration.clock = ManualClock()
        configuration.sendBufferByteCount = 16 * 1_024
        try await TestServer.Plan(configuration: configuration) { handler in
            handler.received = { connection, bytes in
                connection.write([UInt8](repeating: 1, count: 8 * 1_024 * 1_024))
                started.record(())
                return ReadProgress(consumedByteCount: bytes.count)
            }
            handler.closed = { connection, reason in
                // These bytes are not sent.
                connection.write([1])
                connection.closeAfterFlush()
                connection.reset()
                events.record(reason)
            }
        }.run { server in
            let socket = try await server.client()
            try await offload { try socket.send([1]) }
            try await started.next()
            socket.reset()
            #expect(try await events.next() == .reset)
            #expect(await server.onLoop { $0.connectionCount } == 0)
            #expect(events.events.count == 1)
            #expect(server.budget.bufferedByteCount == 0)
        }
    }

    @Test func resetsAPeerOnDemandAndShowsItNothingMore() async throws {
        let events = Recorder<String>()
        try await TestServer.Plan { handler in
            handler.received = { connection, bytes in
                events.record("received")
                connection.reset()
                connection.write([1])
                return ReadProgress(consumedByteCount: 0, wantsIteration: true)
            }
            handler.ended = { _ in events.record("ended") }
            handler.closed = { _, reason in events.record("closed \(reason)") }
        }.run { server in
            let socket = try await server.client()
            await #expect(throws: TestSocket.Failure.system(call: "recv", number: 104)) {
                try await offload {
                    try socket.send([1, 2])
                    return try socket.receive(1)
                }
            }
            #expect(try await events.next() == "received")
            #expect(try await events.next() == "closed local")
        }
        #expect(events.events.count == 2)
    }

    @Test func readsNothingWhileStoppedAndEverythingAfter() async throws {
        let received = Recorder<[UInt8]>()
        let opened = Recorder<Void>()
        try await TestServer.Plan { handler in
            handler.opened = { connection in
                connection.stopReading()
                opened.record(())
            }
            handler.received = { connection, bytes in
                received.record(bytes)
                connection.write(bytes)
                return ReadProgress(consumedByteCount: bytes.count)
            }
        }.run { server in
            let socket = try await server.client()
            try await opened.next()
            try await offload { try socket.send([1, 2, 3]) }
            for _ in 0..<20 { await server.onLoop { _ in } }
            #expect(received.events.isEmpty)
            await server.onLoop { loop in loop.forEachConnection { $0.startReading() } }
            let echo = try await offload { try socket.receive(3) }
            #expect(echo == [1, 2, 3])
        }
    }

    @Test func saysWhenTheLastConnectionHasClosed() async throws {
        let events = Recorder<String>()
        try await TestServer.Plan { handler in
            handler.received = { connection, bytes in
                connection.write(bytes)
                return ReadProgress(consumedByteCount: bytes.count)
            }
            handler.closed = { _, _ in events.record("closed") }
        }.run { server in
            let sockets = [try await server.client(), try await server.client()]
            for socket in sockets {
                _ = try await offload {
                    try socket.send([1])
                    return try socket.receive(1)
                }
            }
            await server.onLoop { loop in
                loop.forEachConnection { $0.closeAfterFlush() }
                loop.whenEmpty { events.record("empty") }
            }
            for socket in sockets {
                _ = try await offload { try socket.receiveUntilEndOfFile() }
                socket.close()
            }
            for event in ["closed", "closed", "empty"] {
                #expect(try await events.next() == event)
            }
            await server.onLoop { loop in loop.whenEmpty { events.record("at once") } }
            #expect(try await events.next() == "at once")
        }
    }
}
