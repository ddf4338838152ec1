internal import FeedProto
internal import FeedTransport

/// One client's connection: finds the frames in its bytes, has them executed and sends the
/// answers, in order, in one write a turn.
///
/// The only file of the service that names both a frame and a connection.
final class ServerConnection: ConnectionHandler {
    private let loop: ServiceLoop
    private var state = StateMachine()
    private var caller: Caller
    /// Since when complete requests have waited for their turn; nil while none does.
    private var waitingSince: MonotonicInstant?

    init(_ connection: TCPConnection, on loop: ServiceLoop) {
        self.loop = loop
        caller = Caller(host: connection.peer.host)
    }

    func connectionOpened(_ connection: TCPConnection) {
        // Handed over while the service was already stopping.
        if loop.handler.context.isDraining { drain(connection) }
    }

    func connection(_ connection: TCPConnection, received bytes: RawSpan) -> ReadProgress {
        if state.isClosing {
            return ReadProgress(consumedByteCount: bytes.byteCount, wantsTurn: false)
        }
        let progress = serve(bytes)
        flushAnswers(to: connection)
        if progress.wantsTurn {
            waitingSince = waitingSince ?? loop.eventLoop.now
        } else {
            waitingSince = nil
            if state.isDraining { sayGoAway(connection) }
        }
        if state.isClosing { connection.closeAfterFlush() }
        loop.handler.settleDueStripes()
        return progress
    }

    func connectionEndedInput(_ connection: TCPConnection) {
        close(connection)
    }

    func connectionClosed(_ connection: TCPConnection, reason: CloseReason) {
        if case .partialReadTimeout = reason { loop.counters.countSlowFrame() }
    }

    /// Finishes what was received whole, says GoAway and closes.
    func drain(_ connection: TCPConnection) {
        connection.stopReading()
        state.drain()
        // A connection that waits for a turn says GoAway at the end of its last one.
        if state.isDraining, waitingSince == nil { sayGoAway(connection) }
    }

    /// Executes the requests in `bytes`, at most as many as one turn allows.
    private func serve(_ bytes: RawSpan) -> ReadProgress {
        loop.handler.beginTurn()
        let waited = waitingSince.map { loop.eventLoop.now.duration(since: $0) } ?? .zero
        var offset = 0
        do throws(FrameError) {
            for _ in 0..<loop.limits.requestsPerTurn {
                guard let body = try loop.scanner.nextBody(in: bytes, at: offset) else {
                    return ReadProgress(consumedByteCount: offset, wantsTurn: false)
                }
                switch execute(bytes.extracting(body), waited: waited) {
                case .answered: offset = body.upperBound
                case .needsAnotherTurn:
                    return ReadProgress(consumedByteCount: offset, wantsTurn: true)
                }
                if state.isClosing {
                    return ReadProgress(consumedByteCount: bytes.byteCount, wantsTurn: false)
                }
            }
            let hasMore = try loop.scanner.nextBody(in: bytes, at: offset) != nil
            return ReadProgress(consumedByteCount: offset, wantsTurn: hasMore)
        } catch {
            refuseFrame("\(error)")
            return ReadProgress(consumedByteCount: bytes.byteCount, wantsTurn: false)
        }
    }

    /// Executes the request in a frame's body.
    private func execute(_ body: RawSpan, waited: Duration) -> RequestHandler.Outcome {
        do throws(MessageError) {
            let frame = try loop.decoder.decodeClientFrame(body)
            guard isNext(frame.id) else { return .answered }
            let outcome = loop.handler.handle(frame, from: &caller, waited: waited)
            if case .answered = outcome { state.answered(frame.id) }
            return outcome
        } catch {
            switch error {
            case .badText(let id, let field):
                guard isNext(id) else { return .answered }
                loop.handler.refuse(id: id, .badText(field: field))
                state.answered(id)
            case .malformed, .tooManyFields:
                refuseFrame("\(error)")
            case .outOfMemory:
                loop.handler.refuse(id: 0, .outOfMemory)
                _ = state.close()
            }
            return .answered
        }
    }

    /// Whether a request of this id may be executed now; refuses the frame if it may not.
    private func isNext(_ id: UInt64) -> Bool {
        switch state.action(for: id) {
        case .execute: return true
        case .refuse(let lastID):
            refuseFrame("Frame has the id \(id); ids rise, and the last one was \(lastID).")
            return false
        case .ignore: return false
        }
    }

    /// Says what was wrong with a frame; nothing after it can be understood.
    private func refuseFrame(_ message: String) {
        loop.counters.countBadFrame()
        loop.log.badFrame(message, from: caller.host)
        loop.handler.refuse(id: 0, .badFrame(message))
        _ = state.close()
    }

    private func flushAnswers(to connection: TCPConnection) {
        guard loop.handler.encoder.byteCount > 0 else { return }
        loop.handler.encoder.withBytes { connection.write($0) }
        loop.handler.encoder.removeAll()
    }

    private func sayGoAway(_ connection: TCPConnection) {
        loop.handler.sayGoAway(lastID: state.lastID)
        flushAnswers(to: connection)
        close(connection)
    }

    private func close(_ connection: TCPConnection) {
        if state.close() { connection.closeAfterFlush() }
    }
}
