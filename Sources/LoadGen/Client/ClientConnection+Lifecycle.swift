internal import FeedClient
import FeedConcurrency
import FeedProto
import FeedTransport

extension ClientConnection: ConnectionHandler {
    /// Opens the connection and sends Hello.
    func connect() {
        stage = .greeting
        do {
            let setup = worker.setup
            try worker.loop.connect(
                to: setup.address,
                timeout: setup.configuration.connectTimeout,
                security: setup.configuration.tlsTarget,
                handler: self
            )
        } catch {
            worker.recorder.failures.count(Failures.Cause(connect: error))
            ended(isRetried: worker.isRetrying)
        }
    }

    /// Closes the connection; requests in flight are lost.
    func close() {
        guard stage != .closed else { return }
        stage = .closed
        abandonAll()
        connection?.closeAfterFlush()
        connection = nil
    }

    /// Finds requests whose time ran out, keeps an idle connection alive, and ends pauses.
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
        if life.isOver(at: now) { endLife() }
        if stage != .open { proceed(at: now) }
    }

    func connectionOpened(_ connection: TCPConnection) {
        guard stage == .greeting else { return connection.reset() }
        self.connection = connection
        // Not changed in place: a call during a change of the property asks for a check of each access to it.
        var next = life
        next.begin(at: MonotonicInstant.now.nanoseconds)
        life = next
        var hello = HelloRequest(clientName: "loadgen")
        hello.serviceKey = worker.setup.configuration.serviceKey?.bytes ?? []
        if let identity = worker.setup.identity {
            hello.clientID = identity.clientID.bytes
            hello.channel = RunIdentity.channel(client: number)
        } else {
            // Never from the seed: the service remembers this connection by this id.
            hello.clientID = ClientID().bytes
        }
        sendUpkeep(.hello(hello))
    }

    func connection(_ connection: TCPConnection, received bytes: RawSpan) -> ReadProgress {
        let now = MonotonicInstant.now.nanoseconds
        lastReadNanoseconds = now
        var offset = 0
        do throws(ProtocolViolation) {
            offset = try receive(bytes, at: now)
        } catch {
            worker.recorder.failures.countProtocolError(error.description)
            isBroken = true
            connection.reset()
            return ReadProgress(consumedByteCount: bytes.byteCount, wantsIteration: false)
        }
        worker.recorder.recordRead(byteCount: offset)
        if stage != .open { proceed(at: now) }
        if worker.isOpenLoop {
            worker.enqueue(index)
            worker.pump()
        } else {
            fill()
        }
        if !worker.isSending { worker.finishIfDone() }
        return ReadProgress(consumedByteCount: offset, wantsIteration: false)
    }

    func connectionEndedInput(_ connection: TCPConnection) {
        connection.closeAfterFlush()
    }

    func connectionClosed(_ connection: TCPConnection, reason: CloseReason) {
        guard stage != .reopening else { return reopen() }
        // A failed attempt has no connection, and events of an older connection are known already.
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

    /// The service answered Hello.
    func helloAnswered(_ hello: HelloResponse) {
        guard stage == .greeting else { return }
        guard worker.isRetrying else {
            stage = .open
            return decide(isOpen: true)
        }
        resume(hello)
    }

    /// Records how the first attempt to open ended; later calls change nothing.
    func decide(isOpen: Bool) {
        guard !isDecided else { return }
        isDecided = true
        worker.connectionDecided(isOpen: isOpen)
    }

    /// The connection is gone for good: requests in flight are lost.
    func giveUp() {
        stage = .closed
        connection = nil
        abandonAll()
        if isDecided { worker.connectionLost() } else { decide(isOpen: false) }
    }

    /// Takes no more requests on this connection, whose life is over.
    func endLife() {
        guard stage == .open else { return }
        stage = .ending
    }

    /// Closes the connection, which has no request in flight.
    func closeToReopen() {
        stage = .reopening
        connection?.closeAfterFlush()
    }

    /// Opens the connection again after its end; the service sees a new one.
    private func reopen() {
        connection = nil
        // A page continues only for the caller who began it.
        pageToken = []
        (headID, nextID, unwrittenID, unexpiredID) = (1, 1, 1, 1)
        window = PipelineWindow(depth: window.depth, mode: window.mode)
        worker.recorder.reopenedCount += 1
        connect()
    }

    /// The connection ended, or never opened.
    private func ended(isRetried: Bool) {
        if stage == .greeting, connection != nil { recovery.loseHello() }
        connection = nil
        if isRetried { recover() } else { giveUp() }
    }

    /// Handles overdue requests; returns whether the connection was given up because of them.
    private func expireRequests(_ now: UInt64) -> Bool {
        unexpiredID = max(unexpiredID, headID)
        while unexpiredID < nextID {
            var request = worker.inFlight[index, unexpiredID]
            let since = max(request.sent, recovery.resentNanoseconds)
            guard since + worker.timeoutNanoseconds <= now else { break }
            if worker.isRetrying, request.operation != nil {
                // The outcome is unknown until the service is asked again.
                worker.recorder.failures.count(.requestTimeout)
                connection?.reset()
                return true
            }
            request.marks.insert(.expired)
            worker.inFlight[index, unexpiredID] = request
            expire(request)
            unexpiredID += 1
        }
        return false
    }

    private func expire(_ request: InFlightRequest) {
        guard request.operation != nil else {
            // A connection whose Hello gets no answer never opened.
            if stage == .greeting { connection?.reset() }
            return
        }
        worker.outstandingCount -= 1
        worker.recorder.outcomes.timeout += UInt64(worker.weight(request))
        worker.recorder.failures.count(.requestTimeout)
        worker.forget(request, client: number)
        worker.release(request)
    }

    private func abandonAll() {
        for id in headID..<nextID {
            let request = worker.inFlight[index, id]
            guard request.operation != nil, !request.marks.contains(.expired) else { continue }
            lose(request)
        }
        headID = nextID
        abandonBacklog()
    }

    /// A service answers within its 90 s of patience if it is pinged after 30 s of silence.
    private static let pingNanoseconds: UInt64 = 30_000_000_000
}
