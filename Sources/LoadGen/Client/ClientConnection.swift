import FeedProto
import FeedTransport

/// One connection of the load: keeps its pipeline as full as it may be and matches answers in order.
final class ClientConnection: ConnectionHandler {
    /// Where in its life the connection is.
    private enum Stage {
        case closed
        case greeting
        case open
    }

    let worker: Worker
    /// Its number in its thread.
    let index: Int
    /// Whether it stands in the queue of connections with room.
    var isQueued = false
    /// The id of the oldest request without an answer.
    var headID: UInt64 = 1
    var window: PipelineWindow
    var pageToken: [UInt8] = []

    private var stream: RequestStream
    private var stage = Stage.closed
    private var connection: TCPConnection?
    private var nextID: UInt64 = 1
    private var unwrittenID: UInt64 = 1
    private var unexpiredID: UInt64 = 1
    private var lastReadNanoseconds: UInt64 = 0

    /// Connection number `index` of `worker`, which is not open yet.
    init(_ worker: Worker, index: Int) {
        self.worker = worker
        self.index = index
        let setup = worker.setup
        window = PipelineWindow(
            depth: setup.configuration.pipelineDepth,
            mode: setup.configuration.pipelineMode
        )
        stream = RequestStream(
            mix: setup.configuration.mix,
            keys: setup.keys,
            seed: setup.configuration.seed,
            thread: setup.thread,
            client: index
        )
    }

    /// Its number over all threads.
    var number: Int { worker.setup.firstClient + index }
    /// Whether requests may leave on it.
    var isOpen: Bool { stage == .open }
    /// Whether it can take a request.
    var hasRoom: Bool { stage == .open && window.room > 0 }
    /// Whether it took requests that are not written yet.
    var hasUnwritten: Bool { unwrittenID < nextID }
    /// Whether some request has no answer yet.
    var isWaiting: Bool { headID < nextID }

    /// Opens the connection and greets the service.
    func connect() {
        stage = .greeting
        do {
            let timeout = worker.setup.configuration.connectTimeout
            try worker.loop.connect(to: worker.setup.address, timeout: timeout, handler: self)
        } catch {
            connectFailed(error)
        }
    }

    /// Closes the connection; what is in flight is lost.
    func close() {
        guard let connection else { return }
        abandonAll()
        self.connection = nil
        stage = .closed
        connection.closeAfterFlush()
    }

    /// Closed loop: sends what there is room for.
    @inline(__always)
    func fill() {
        let room = window.room
        guard room > 0, stage == .open else { return }
        let now = EventLoop.clock.nanoseconds
        let count = worker.admit(room, at: now)
        guard count > 0 else { return }
        for _ in 0..<count { take(intended: 0) }
        flush(at: now)
        worker.requestsWritten()
    }

    /// Takes the next request of this connection's stream; it leaves with the next flush.
    @inline(__always)
    func take(intended: UInt64) {
        let request = worker.votesAsScheduled ? worker.nextScheduled() : stream.next()
        worker.flights[index, nextID] = Flight(
            intended: intended,
            sent: 0,
            argument: request.argument,
            operation: request.operation
        )
        nextID &+= 1
        window.send(1)
    }

    /// Writes what was taken, in one write; `now` was read just before, once for all of it.
    @inline(__always)
    func flush(at now: UInt64) {
        let count = Int(nextID &- unwrittenID)
        while unwrittenID < nextID {
            var flight = worker.flights[index, unwrittenID]
            flight.sent = now
            if !worker.isOpenLoop { flight.intended = now }
            worker.flights[index, unwrittenID] = flight
            if flight.operation == .vote {
                let postID = worker.posts.id(flight.argument)
                worker.output.appendVote(
                    id: unwrittenID,
                    postID: postID,
                    isDown: worker.tallied.isDown(flight.argument)
                )
            } else {
                encode(flight, id: unwrittenID)
            }
            unwrittenID &+= 1
        }
        worker.outstandingCount += count
        worker.recorder.outcomes.sent += UInt64(count)
        write()
    }

    /// Notices requests whose time ran out, and keeps an idle connection alive.
    func sweep(_ now: UInt64) {
        guard stage != .closed else { return }
        unexpiredID = max(unexpiredID, headID)
        while unexpiredID < nextID {
            var flight = worker.flights[index, unexpiredID]
            guard flight.sent + worker.timeoutNanoseconds <= now else { break }
            flight.isExpired = true
            worker.flights[index, unexpiredID] = flight
            expire(flight)
            unexpiredID += 1
        }
        if stage == .open, !isWaiting, now - lastReadNanoseconds >= Self.pingNanoseconds {
            lastReadNanoseconds = now
            sendUpkeep(.ping(PingRequest()))
        }
    }

    func connectionOpened(_ connection: TCPConnection) {
        self.connection = connection
        // Never from the seed: it stands for this connection in whatever the service remembers.
        var generator = SystemRandomNumberGenerator()
        let clientID = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        sendUpkeep(.hello(HelloRequest(clientName: "loadgen", clientID: clientID)))
    }

    func connection(_ connection: TCPConnection, received bytes: RawSpan) -> ReadProgress {
        let now = EventLoop.clock.nanoseconds
        lastReadNanoseconds = now
        var offset = 0
        do throws(ProtocolViolation) {
            offset = try receive(bytes, at: now)
        } catch {
            worker.recorder.failures.countProtocolError(error.description)
            connection.reset()
            return ReadProgress(consumedByteCount: bytes.byteCount, wantsTurn: false)
        }
        worker.recorder.recordRead(byteCount: offset)
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
        guard stage != .closed else { return }
        if case .connectFailed(let error) = reason { return connectFailed(error) }
        if let cause = Failures.Cause(reason) { worker.recorder.failures.count(cause) }
        abandonAll()
        let wasOpen = stage == .open
        stage = .closed
        self.connection = nil
        if wasOpen { worker.connectionLost() } else { worker.connectionDecided(isOpen: false) }
    }

    /// The service answered the greeting.
    func greeted() {
        guard stage == .greeting else { return }
        stage = .open
        worker.connectionDecided(isOpen: true)
    }

    /// A service answers within its 90 s of patience if it is pinged after 30 s of silence.
    private static let pingNanoseconds: UInt64 = 30_000_000_000

    private func connectFailed(_ error: TransportError) {
        stage = .closed
        worker.recorder.failures.count(Failures.Cause(connect: error))
        worker.connectionDecided(isOpen: false)
    }

    private func expire(_ flight: Flight) {
        guard flight.operation != nil else {
            // A greeting that nobody answers is a connection that never opened.
            if stage == .greeting { connection?.reset() }
            return
        }
        worker.outstandingCount -= 1
        worker.recorder.outcomes.timeout += 1
        worker.recorder.failures.count(.requestTimeout)
        worker.ledger.forget(flight, client: number)
    }

    private func abandonAll() {
        for id in headID..<nextID {
            let flight = worker.flights[index, id]
            guard flight.operation != nil, !flight.isExpired else { continue }
            worker.outstandingCount -= 1
            worker.recorder.outcomes.lost += 1
            worker.ledger.forget(flight, client: number)
        }
        headID = nextID
    }

    private func sendUpkeep(_ request: FeedProto.Request) {
        let now = EventLoop.clock.nanoseconds
        worker.flights[index, nextID] = Flight(
            intended: now,
            sent: now,
            argument: 0,
            operation: nil
        )
        append(request, id: nextID)
        nextID += 1
        unwrittenID = nextID
        window.send(1)
        write()
    }

    private func encode(_ flight: Flight, id: UInt64) {
        guard let operation = flight.operation else { return }
        append(request(operation, argument: flight.argument), id: id)
    }

    private func append(_ request: FeedProto.Request, id: UInt64) {
        do throws(FrameError) {
            try worker.encoder.append(ClientFrame(id: id, request: request))
        } catch {
            preconditionFailure("No request of a load comes near the frame limit: \(error)")
        }
        worker.encoder.withBytes { worker.output.append($0) }
        worker.encoder.removeAll()
    }

    @inline(__always)
    private func write() {
        worker.recorder.recordWrite(byteCount: worker.output.byteCount)
        worker.output.withBytes { connection?.write($0) }
        worker.output.removeAll()
    }
}

@available(*, unavailable)
extension ClientConnection: Sendable {}
