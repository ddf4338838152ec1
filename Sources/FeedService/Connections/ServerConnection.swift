internal import FeedProto
package import FeedTransport

/// One client's connection: has the requests in its bytes executed, and sends their answers in
/// one write a turn.
///
/// The only file of the service that names both a frame and a connection.
package final class ServerConnection: ConnectionHandler {
    private let loop: ServiceLoop
    private var session: Session
    /// Since when whole requests have waited for their turn; nil while none does.
    private var waitingSince: MonotonicInstant?

    init(_ connection: TCPConnection, on loop: ServiceLoop) {
        self.loop = loop
        session = Session(caller: Caller(host: connection.peer.host))
    }

    package func connectionOpened(_ connection: TCPConnection) {
        // Handed over while the service was already stopping.
        if loop.context.isDraining { drain(connection) }
    }

    package func connection(
        _ connection: TCPConnection,
        received bytes: RawSpan
    ) -> ReadProgress {
        if session.state.isClosing { return ReadProgress(consumedByteCount: bytes.byteCount) }
        let waited = waitingSince.map { loop.eventLoop.now.duration(since: $0) }
        // Out and back: a copy costs less than a check that nobody else has the session meanwhile.
        var session = session
        let progress = loop.handler.takeTurn(
            bytes,
            of: &session,
            on: connection,
            through: loop.outlet,
            waited: waited
        )
        self.session = session
        loop.startBackups(for: connection)
        if progress.wantsTurn {
            waitingSince = waitingSince ?? loop.eventLoop.now
        } else {
            waitingSince = nil
            if session.state.isDraining { sayGoAway(connection) }
        }
        if session.state.isClosing { connection.closeAfterFlush() }
        return ReadProgress(
            consumedByteCount: progress.byteCount,
            wantsTurn: progress.wantsTurn,
            waitsForWrites: progress.lacksRoom
        )
    }

    package func connection(_ connection: TCPConnection, willReceive bytes: RawSpan) {
        loop.handler.anticipate(bytes)
    }

    package func connectionEndedInput(_ connection: TCPConnection) {
        close(connection)
    }

    package func connectionClosed(_ connection: TCPConnection, reason: CloseReason) {
        if case .partialReadTimeout = reason { loop.counters.countSlowFrame() }
        if let channel = session.caller.channel { loop.context.channels.close(channel) }
    }

    /// Finishes what was received whole, says GoAway and closes.
    func drain(_ connection: TCPConnection) {
        connection.stopReading()
        session.state.drain()
        // A connection that waits for a turn says GoAway at the end of its last one.
        if session.state.isDraining, waitingSince == nil { sayGoAway(connection) }
    }

    private func sayGoAway(_ connection: TCPConnection) {
        loop.handler.sayGoAway(lastID: session.state.lastID)
        loop.handler.sendAnswers(on: connection, through: loop.outlet)
        close(connection)
    }

    private func close(_ connection: TCPConnection) {
        if session.state.close() { connection.closeAfterFlush() }
    }
}

extension RequestHandler {
    /// Executes what was received on a connection, sends the answers, and then does what can wait
    /// until they have left.
    fileprivate mutating func takeTurn(
        _ bytes: RawSpan,
        of session: inout ServerConnection.Session,
        on connection: TCPConnection,
        through outlet: AnswerOutlet,
        waited: Duration?
    ) -> Progress {
        let progress = serve(
            bytes,
            of: &session,
            unsentByteCount: connection.pendingByteCount,
            waited: waited
        )
        sendAnswers(on: connection, through: outlet)
        settleDueStripes()
        return progress
    }

    /// Sends the answers that are encoded, in one write, once they may be heard.
    mutating func sendAnswers(
        on connection: TCPConnection,
        through outlet: AnswerOutlet
    ) {
        guard encoder.byteCount > 0 else { return }
        encoder.lendBytes { outlet.send($0, on: connection) }
        encoder.removeAll()
    }
}
