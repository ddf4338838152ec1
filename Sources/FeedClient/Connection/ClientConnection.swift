import FeedProto
import FeedTransport

/// The one connection of a client, bound to the client's loop: sends calls, finds the caller of
/// each answer, and watches deadlines and the peer's life.
///
/// All calls that leave in one loop iteration leave in one write.
final class ClientConnection: ConnectionHandler {
    /// The result that a caller gets.
    typealias Outcome = Result<Answer, FeedClientError>
    /// The caller that waits for an answer; it is resumed once.
    typealias Caller = CheckedContinuation<Outcome, Never>

    private let loop: EventLoop
    private let address: SocketAddress
    private var machine = CallStateMachine<Caller>()
    private var keepAlive: KeepAlive
    private var connection: TCPConnection?
    private var scanner = FrameScanner()
    private var encoder = FrameEncoder()
    private var decoder = MessageDecoder()
    private var deadlineTimer: LoopTimer?
    private var armedDeadline: MonotonicInstant?
    /// Why the connection will end, where the connection itself does not know the cause.
    private var ending: Ending?
    private var stopsLoopAtEnd = false

    /// A connection on `loop`, not open yet.
    init(_ loop: EventLoop, to address: SocketAddress, _ configuration: ClientConfiguration) {
        self.loop = loop
        self.address = address
        keepAlive = KeepAlive(
            interval: configuration.keepAliveInterval,
            timeout: configuration.keepAliveTimeout,
            at: loop.now
        )
    }

    /// The connection of a client's loop.
    static func of(_ loop: EventLoop) -> ClientConnection {
        guard let connection = loop.context as? ClientConnection else {
            preconditionFailure("A client's loop has its connection from its start.")
        }
        return connection
    }

    /// Connects; calls may be submitted before it is open.
    func connect(timeout: Duration) {
        do {
            try loop.connect(to: address, timeout: timeout, handler: self)
        } catch {
            end(.cannotConnect(error.description))
        }
    }

    /// Takes a call; its caller is resumed when it ends.
    func submit(_ call: CallStateMachine<Caller>.Call, token: UInt64) {
        if let failure = machine.submit(call, token: token) { return fail([failure]) }
        armTimer(for: call.deadline)
        // Other calls that were submitted in this loop iteration leave in the same write.
        connection?.requestTurn()
    }

    /// Gives up a call for its caller.
    func cancel(_ token: UInt64) {
        guard let failure = machine.cancel(token) else { return }
        fail([failure])
        closeIfFinished()
    }

    /// Takes no more calls, finishes those it has, closes, and stops the loop.
    func close() {
        stopsLoopAtEnd = true
        fail(machine.close())
        closeIfFinished()
        if connection == nil { loop.stop() }
    }

    func connectionOpened(_ connection: TCPConnection) {
        self.connection = connection
        machine.opened()
        keepAlive.sent(at: loop.now)
        keepAlive.heard(at: loop.now)
        do {
            try loop.addTimer(every: keepAlive.checkInterval) { [unowned self] in checkLife() }
        } catch {
            // The loop stops and ends the connection.
            return
        }
        connection.requestTurn()
    }

    func connection(_ connection: TCPConnection, received bytes: RawSpan) -> ReadProgress {
        var offset = 0
        do {
            while let body = try scanner.nextBody(in: bytes, at: offset) {
                receive(try decoder.decodeServerFrame(bytes.extracting(body)))
                offset = body.upperBound
            }
        } catch {
            violated("\(error)")
        }
        guard connection.isOpen else {
            return ReadProgress(consumedByteCount: bytes.byteCount)
        }
        if offset > 0 { keepAlive.heard(at: loop.now) }
        sendWaiting()
        closeIfFinished()
        return ReadProgress(consumedByteCount: offset)
    }

    func connectionEndedInput(_ connection: TCPConnection) {
        connection.closeAfterFlush()
    }

    func connectionClosed(_ connection: TCPConnection, reason: CloseReason) {
        self.connection = nil
        end(ending ?? Ending(reason))
        if stopsLoopAtEnd { loop.stop() }
    }
}

extension ClientConnection {
    /// Unsent bytes above which calls wait in order: the bytes in flight are bounded, too.
    static var maximumUnsentByteCount: Int { 1 << 20 }

    /// Writes as many waiting calls as there is room for, in one write.
    private func sendWaiting() {
        guard let connection, connection.isOpen else { return }
        let room = Self.maximumUnsentByteCount - connection.pendingByteCount
        while encoder.byteCount < room, let departure = machine.depart(at: loop.now) {
            append(departure)
        }
        flush(connection)
    }

    private func append(_ departure: CallStateMachine<Caller>.Departure) {
        let call = departure.call
        let frame = ClientFrame(
            id: departure.id,
            request: call.request,
            timeoutMilliseconds: call.deadline.duration(since: loop.now).wireMilliseconds,
            minimumRevision: call.minimumRevision
        )
        do throws(FrameError) {
            try encoder.append(frame)
        } catch {
            machine.undoDeparture(departure.id)
            call.caller.resume(
                returning: .failure(
                    FeedClientError(error, limitByteCount: encoder.maximumFrameByteCount)
                )
            )
        }
    }

    private func flush(_ connection: TCPConnection) {
        guard encoder.byteCount > 0 else { return }
        encoder.withBytes { connection.write($0) }
        encoder.removeAll()
        keepAlive.sent(at: loop.now)
    }

    private func receive(_ frame: ServerFrame) {
        guard frame.id > 0 else { return receiveNotice(frame) }
        switch machine.arrived(frame.id) {
        case .answer(let call): call.caller.resume(returning: outcome(of: call, frame))
        case .late: break
        case .unasked: violated("Answer \(frame.id) is to no call in flight.")
        }
    }

    private func outcome(of call: CallStateMachine<Caller>.Call, _ frame: ServerFrame) -> Outcome {
        if let status = frame.status {
            guard status.code == .deadlineExceeded else { return .failure(.refused(status)) }
            let effect: CallEffect = status.isNotExecuted ? .none : call.effect
            return .failure(.deadlinePassed(timeout: call.timeout, effect: effect))
        }
        guard let response = frame.response else {
            return .failure(.wrongAnswer(to: call.request))
        }
        if case .hello(let hello) = response { adopt(hello.limits) }
        return .success(Answer(response: response, revision: frame.revision))
    }

    /// Adopts the limits that the service announces.
    private func adopt(_ limits: Limits?) {
        guard let limits else { return }
        machine.maximumInFlightCount = max(1, Int(limits.maximumInFlightCount))
        let byteCount = Int(limits.maximumFrameByteCount)
        guard Link.frameByteCounts.contains(byteCount), byteCount != scanner.maximumFrameByteCount
        else { return }
        scanner = FrameScanner(maximumFrameByteCount: byteCount)
        encoder = FrameEncoder(maximumFrameByteCount: byteCount)
        decoder = MessageDecoder(maximumFrameByteCount: byteCount)
    }

    /// A frame that concerns the connection.
    private func receiveNotice(_ frame: ServerFrame) {
        if let status = frame.status {
            ending = .refused(status)
        } else if case .goAway(let farewell) = frame.response {
            let text = "The service said farewell (\(farewell.reason))."
            fail(machine.drain(lastID: farewell.lastID, .lost(text)))
        }
    }

    private func violated(_ reason: String) {
        end(.violated(reason))
        connection?.reset()
    }
}

extension ClientConnection {
    private func checkLife() {
        guard let connection, connection.isOpen else { return }
        switch keepAlive.check(at: EventLoop.clock) {
        case .nothing: break
        case .ping: sendPing(connection)
        case .giveUp:
            ending = .lost("The service gave no sign of life.")
            connection.reset()
        }
    }

    private func sendPing(_ connection: TCPConnection) {
        let frame = ClientFrame(id: machine.departOwn(), request: .ping(PingRequest()))
        do throws(FrameError) {
            try encoder.append(frame)
        } catch {
            preconditionFailure("An empty ping fits into every frame: \(error)")
        }
        flush(connection)
    }

    /// Makes sure that a timer fires at `deadline` or before.
    private func armTimer(for deadline: MonotonicInstant) {
        if let armedDeadline, armedDeadline <= deadline { return }
        deadlineTimer?.cancel()
        armedDeadline = deadline
        let delay = max(.milliseconds(1), deadline.duration(since: EventLoop.clock))
        // A loop that takes no timer stops, which ends every call.
        deadlineTimer = try? loop.addTimer(after: delay) { [unowned self] in
            deadlineTimer = nil
            armedDeadline = nil
            fail(machine.expire(at: EventLoop.clock))
            if let next = machine.earliestDeadline { armTimer(for: next) }
            closeIfFinished()
        }
    }

    private func fail(_ failures: [CallStateMachine<Caller>.Failure]) {
        for failure in failures { failure.caller.resume(returning: .failure(failure.error)) }
    }

    private func end(_ ending: Ending) {
        fail(machine.end(ending))
    }

    private func closeIfFinished() {
        guard machine.isFinished else { return }
        connection?.closeAfterFlush()
    }
}

@available(*, unavailable)
extension ClientConnection: Sendable {}
