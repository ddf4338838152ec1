import FeedProto
import FeedTransport

extension ClientConnection: ConnectionHandler {
    /// Opens the connection and greets the service.
    func connect() {
        stage = .greeting
        do {
            let timeout = worker.setup.configuration.connectTimeout
            try worker.loop.connect(to: worker.setup.address, timeout: timeout, handler: self)
        } catch {
            worker.recorder.failures.count(Failures.Cause(connect: error))
            ended(isRetried: worker.isRetrying)
        }
    }

    /// Closes the connection; what is in flight is lost.
    func close() {
        guard stage != .closed else { return }
        stage = .closed
        abandonAll()
        connection?.closeAfterFlush()
        connection = nil
    }

    /// Notices requests whose time ran out, keeps an idle connection alive, and ends pauses.
    func sweep(_ now: UInt64) {
        guard stage != .closed, stage != .pausing else {
            if stage == .pausing, now >= recovery.resumeNanoseconds { connect() }
            return
        }
        if expireRequests(now) { return }
        if stage == .open, !isWaiting, now - lastReadNanoseconds >= Self.pingNanoseconds {
            lastReadNanoseconds = now
            sendUpkeep(.ping(PingRequest()))
        }
        if stage != .open { proceed(at: now) }
    }

    func connectionOpened(_ connection: TCPConnection) {
        guard stage == .greeting else { return connection.reset() }
        self.connection = connection
        var hello = HelloRequest(clientName: "loadgen")
        if let identity = worker.setup.identity {
            hello.clientID = identity.clientID
            hello.channel = RunIdentity.channel(client: number)
        } else {
            // Never from the seed: it stands for this connection in whatever the service remembers.
            hello.clientID = RunIdentity.randomClientID()
        }
        sendUpkeep(.hello(hello))
    }

    func connection(_ connection: TCPConnection, received bytes: RawSpan) -> ReadProgress {
        let now = EventLoop.clock.nanoseconds
        lastReadNanoseconds = now
        var offset = 0
        do throws(ProtocolViolation) {
            offset = try receive(bytes, at: now)
        } catch {
            worker.recorder.failures.countProtocolError(error.description)
            isBroken = true
            connection.reset()
            return ReadProgress(consumedByteCount: bytes.byteCount, wantsTurn: false)
        }
        worker.recorder.recordRead(byteCount: offset)
        if stage != .open { proceed(at: now) }
        if worker.isOpenLoop {
            worker.enqueue(self)
            worker.pump()
        } else {
            fill()
        }
        if !worker.isSending { worker.finishIfDone() }
        return ReadProgress(consumedByteCount: offset, wantsTurn: false)
    }

    func connectionEndedInput(_ connection: TCPConnection) {
        connection.closeAfterFlush()
    }

    func connectionClosed(_ connection: TCPConnection, reason: CloseReason) {
        // An attempt that failed has no connection; what an older one has to say is known already.
        guard stage != .closed, self.connection == nil || self.connection === connection else {
            return
        }
        if case .connectFailed(let error) = reason {
            worker.recorder.failures.count(Failures.Cause(connect: error))
        } else if let cause = Failures.Cause(reason) {
            worker.recorder.failures.count(cause)
        }
        ended(isRetried: worker.isRetrying && !isBroken)
    }

    /// The service answered the greeting.
    func greeted(_ hello: HelloResponse) {
        guard stage == .greeting else { return }
        guard worker.isRetrying else {
            stage = .open
            return decide(isOpen: true)
        }
        resume(hello)
    }

    /// Takes note of how the first attempt to open ended; later ones change nothing.
    func decide(isOpen: Bool) {
        guard !isDecided else { return }
        isDecided = true
        worker.connectionDecided(isOpen: isOpen)
    }

    /// The connection is gone for good: what was in flight is lost.
    func giveUp() {
        stage = .closed
        connection = nil
        abandonAll()
        if isDecided { worker.connectionLost() } else { decide(isOpen: false) }
    }

    /// The connection is gone, or never came.
    private func ended(isRetried: Bool) {
        connection = nil
        if isRetried { recover() } else { giveUp() }
    }

    /// Handles what is overdue; whether the connection was given up over it.
    private func expireRequests(_ now: UInt64) -> Bool {
        unexpiredID = max(unexpiredID, headID)
        while unexpiredID < nextID {
            var flight = worker.flights[index, unexpiredID]
            let since = max(flight.sent, recovery.resentNanoseconds)
            guard since + worker.timeoutNanoseconds <= now else { break }
            if worker.isRetrying, flight.operation != nil {
                // What became of it is unknown until the service is asked again.
                worker.recorder.failures.count(.requestTimeout)
                connection?.reset()
                return true
            }
            flight.marks.insert(.expired)
            worker.flights[index, unexpiredID] = flight
            expire(flight)
            unexpiredID += 1
        }
        return false
    }

    private func expire(_ flight: Flight) {
        guard flight.operation != nil else {
            // A greeting that nobody answers is a connection that never opened.
            if stage == .greeting { connection?.reset() }
            return
        }
        worker.outstandingCount -= 1
        worker.recorder.outcomes.timeout += UInt64(worker.weight(flight))
        worker.recorder.failures.count(.requestTimeout)
        worker.forget(flight, client: number)
        worker.release(flight)
    }

    private func abandonAll() {
        for id in headID..<nextID {
            let flight = worker.flights[index, id]
            guard flight.operation != nil, !flight.marks.contains(.expired) else { continue }
            lose(flight)
        }
        headID = nextID
        abandonBacklog()
    }

    /// A service answers within its 90 s of patience if it is pinged after 30 s of silence.
    private static let pingNanoseconds: UInt64 = 30_000_000_000
}
