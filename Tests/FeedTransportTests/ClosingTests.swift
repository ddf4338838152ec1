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

@Suite struct ConnectionLifeTests {
    @Test func goesThroughAllStatesInOrder() {
        var life = ConnectionLife.connecting
        #expect(!life.isOpen && life.closeReason == nil)
        life.open()
        #expect(life.isOpen && !life.isFlushing && life.closeReason == nil)
        life.flush(.peerClosed)
        #expect(!life.isOpen && life.isFlushing && life.closeReason == .peerClosed)
        life.linger()
        #expect(!life.isFlushing && !life.isClosed && life.closeReason == .peerClosed)
        life.close(.peerClosed)
        #expect(life.isClosed && !life.isOpen)
    }

    @Test(arguments: 0..<4)
    func closesFromEveryState(stepCount: Int) {
        var life = ConnectionLife.connecting
        if stepCount > 0 { life.open() }
        if stepCount > 1 { life.flush(.local) }
        if stepCount > 2 { life.linger() }
        life.close(.reset)
        #expect(life.isClosed && life.closeReason == .reset)
    }

    @Test func trapsWhereAStateIsSkipped() async {
        await #expect(processExitsWith: .failure) {
            var life = ConnectionLife.open
            life.open()
        }
        await #expect(processExitsWith: .failure) {
            var life = ConnectionLife.connecting
            life.flush(.local)
        }
        await #expect(processExitsWith: .failure) {
            var life = ConnectionLife.open
            life.linger()
        }
        await #expect(processExitsWith: .failure) {
            var life = ConnectionLife.closed(.local)
            life.close(.reset)
        }
    }
}

@Suite struct ConnectionDeadlinesTests {
    /// Idle after 10 sweeps, a partial read after 4, a stalled write after 6, a linger after 2.
    static let limits = ConnectionDeadlines.Limits(
        {
            var configuration = TransportConfiguration()
            configuration.sweepInterval = .milliseconds(10)
            configuration.idleTimeout = .milliseconds(100)
            configuration.partialReadTimeout = .milliseconds(35)
            configuration.writeProgressTimeout = .milliseconds(60)
            configuration.lingerTimeout = .milliseconds(20)
            return configuration
        }()
    )

    /// The first sweep from `start` at which a deadline passes, and which one.
    private func firstExpiry(
        of deadlines: ConnectionDeadlines,
        from start: Int
    ) -> (sweep: Int, expiry: ConnectionDeadlines.Expiry)? {
        for sweep in start..<start + 1_000 {
            if let expiry = deadlines.expiry(at: sweep, limits: Self.limits) {
                return (sweep, expiry)
            }
        }
        return nil
    }

    @Test func closesASilentPeerAfterTheLimitAndNotBefore() throws {
        var deadlines = ConnectionDeadlines(at: 5)
        deadlines.received(at: 7)
        let first = try #require(firstExpiry(of: deadlines, from: 7))
        #expect(first == (18, .idle))
    }

    @Test func countsASweepAsOneHoweverLateItComes() {
        // The process was stopped for a minute between sweeps 7 and 8.
        var deadlines = ConnectionDeadlines(at: 7)
        deadlines.waitsForRest(at: 7, afterProgress: true)
        #expect(deadlines.expiry(at: 8, limits: Self.limits) == nil)
    }

    @Test func countsTheRestOfAFrameFromItsFirstByte() throws {
        var deadlines = ConnectionDeadlines(at: 0)
        deadlines.waitsForRest(at: 1, afterProgress: true)
        deadlines.received(at: 3)
        deadlines.waitsForRest(at: 3, afterProgress: false)
        let first = try #require(firstExpiry(of: deadlines, from: 3))
        #expect(first == (6, .partialRead))
    }

    @Test func countsANewFrameAnew() throws {
        var deadlines = ConnectionDeadlines(at: 0)
        deadlines.waitsForRest(at: 1, afterProgress: true)
        deadlines.received(at: 4)
        deadlines.waitsForRest(at: 4, afterProgress: true)
        let first = try #require(firstExpiry(of: deadlines, from: 4))
        #expect(first == (9, .partialRead))
    }

    @Test func countsNoTimeInWhichThePeerIsNotReadFrom() throws {
        var deadlines = ConnectionDeadlines(at: 0)
        deadlines.waitsForRest(at: 1, afterProgress: true)
        for sweep in 2...8 { deadlines.pausesReading(at: sweep) }
        let first = try #require(firstExpiry(of: deadlines, from: 8))
        // Silence is counted all the while.
        #expect(first == (11, .idle))
        deadlines.received(at: 8)
        let second = try #require(firstExpiry(of: deadlines, from: 8))
        #expect(second == (13, .partialRead))
    }

    @Test func aPauseIsNoWaitForAFrame() throws {
        var deadlines = ConnectionDeadlines(at: 0)
        deadlines.pausesReading(at: 1)
        let first = try #require(firstExpiry(of: deadlines, from: 1))
        #expect(first == (11, .idle))
    }

    @Test func forgetsAFrameThatIsWhole() throws {
        var deadlines = ConnectionDeadlines(at: 0)
        deadlines.waitsForRest(at: 1, afterProgress: true)
        deadlines.waitsForNoRest()
        let first = try #require(firstExpiry(of: deadlines, from: 1))
        #expect(first == (11, .idle))
    }

    @Test func takesAnyChangeOfTheUnsentBytesForProgress() throws {
        var deadlines = ConnectionDeadlines(at: 0)
        deadlines.observeUnsent(100, at: 1)
        for sweep in 2...20 { deadlines.observeUnsent(100 - sweep, at: sweep) }
        #expect(deadlines.expiry(at: 20, limits: Self.limits) == nil)
        deadlines.observeUnsent(80, at: 21)
        let first = try #require(firstExpiry(of: deadlines, from: 21))
        #expect(first == (27, .writeProgress))
    }

    @Test func startsAnewForBytesAfterAnEmptyQueue() throws {
        var deadlines = ConnectionDeadlines(at: 0)
        deadlines.observeUnsent(100, at: 1)
        deadlines.observeUnsent(0, at: 6)
        deadlines.observeUnsent(100, at: 7)
        let first = try #require(firstExpiry(of: deadlines, from: 7))
        #expect(first == (14, .writeProgress))
    }

    @Test func takesNoPeerForIdleThatIsNotHeard() {
        var deadlines = ConnectionDeadlines(at: 0)
        for sweep in 1...50 {
            deadlines.observeUnsent(1_000 - sweep, at: sweep)
            #expect(deadlines.expiry(at: sweep, limits: Self.limits) == nil)
        }
    }

    @Test func lingersNoLongerThanItsLimitWhateverThePeerSends() throws {
        var deadlines = ConnectionDeadlines(at: 0)
        deadlines.lingers(at: 3)
        deadlines.received(at: 5)
        let first = try #require(firstExpiry(of: deadlines, from: 3))
        #expect(first == (6, .linger))
    }

    @Test func knowsOnlyTheConnectLimitUntilOpen() throws {
        var deadlines = ConnectionDeadlines(at: 0, connectLimit: 20)
        let first = try #require(firstExpiry(of: deadlines, from: 0))
        #expect(first == (21, .connect))
        deadlines.opened(at: 15)
        let second = try #require(firstExpiry(of: deadlines, from: 15))
        #expect(second == (26, .idle))
    }

    @Test func waitsForEverWithoutLimits() {
        var configuration = TransportConfiguration()
        configuration.idleTimeout = nil
        configuration.partialReadTimeout = nil
        configuration.writeProgressTimeout = nil
        var deadlines = ConnectionDeadlines(at: 0)
        deadlines.waitsForRest(at: 0, afterProgress: true)
        deadlines.observeUnsent(1, at: 0)
        let limits = ConnectionDeadlines.Limits(configuration)
        #expect(deadlines.expiry(at: 1_000_000, limits: limits) == nil)
    }
}

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
