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
    /// The backups that it has asked for and that are not answered; it is not closed before.
    private var awaitedBackupCount = 0

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
            through: loop.outbox,
            waited: waited
        )
        self.session = session
        awaitBackups(loop.startBackups(for: connection), on: connection)
        if progress.wantsTurn {
            waitingSince = waitingSince ?? loop.eventLoop.now
        } else {
            waitingSince = nil
            if session.state.isDraining { sayGoAway(connection) }
        }
        if session.state.isClosing { closeOnceAnswered(connection) }
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
        switch reason {
        case .partialReadTimeout:
            loop.counters.countSlowFrame()
        case .overBudget(let heldByteCount):
            loop.counters.countOverBudgetClose()
            loop.log.closedOverBudget(heldByteCount: heldByteCount, from: connection.peer.host)
        default:
            break
        }
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
        loop.handler.answers.send(on: connection, through: loop.outbox)
        close(connection)
    }

    private func close(_ connection: TCPConnection) {
        if session.state.close() { closeOnceAnswered(connection) }
    }

    private func closeOnceAnswered(_ connection: TCPConnection) {
        if awaitedBackupCount == 0 { connection.closeAfterFlush() }
    }
}

extension ServerConnection {
    /// The connection waits for so many backups more, and may be silent meanwhile.
    private func awaitBackups(_ count: Int, on connection: TCPConnection) {
        guard count > 0 else { return }
        awaitedBackupCount += count
        connection.mayBeSilent = true
    }

    /// One of the backups that were asked for is answered.
    func backupAnswered(_ connection: TCPConnection) {
        awaitedBackupCount -= 1
        guard awaitedBackupCount == 0 else { return }
        connection.mayBeSilent = false
        if session.state.isClosing { connection.closeAfterFlush() }
    }
}

extension RequestHandler {
    /// Executes what was received on a connection, sends the answers, and then does what can wait
    /// until they have left.
    fileprivate mutating func takeTurn(
        _ bytes: RawSpan,
        of session: inout ServerConnection.Session,
        on connection: TCPConnection,
        through outbox: Outbox,
        waited: Duration?
    ) -> Progress {
        answers.room.begin(for: connection.hostSlot)
        let progress = serve(
            bytes,
            of: &session,
            unsentByteCount: connection.pendingByteCount,
            waited: waited
        )
        answers.send(on: connection, through: outbox)
        answers.refreshDueStripe()
        return progress
    }
}

extension Answers {
    /// Sends the answers that are encoded, in one write, once they may be heard.
    mutating func send(on connection: TCPConnection, through outbox: Outbox) {
        guard encoder.byteCount > 0 else { return }
        encoder.lendBytes { outbox.send($0, on: connection) }
        encoder.removeAll()
        // By now they are counted where they wait, if they wait at all.
        room.end()
    }
}
