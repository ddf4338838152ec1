internal import FeedProto
package import FeedTransport

/// One client's connection: has the requests in its bytes executed, and sends their answers in
/// one write in each loop iteration.
///
/// The only file of the service that names both a frame and a connection.
package final class ServerConnection: ConnectionHandler {
    private let loop: ServiceLoop
    private var session: Session
    /// When whole requests began to wait for their loop iteration; nil while none waits.
    private var waitingSince: MonotonicInstant?
    /// The unanswered backup requests; the connection is not closed before they are answered.
    private var awaitedBackupCount = 0

    init(_ connection: TCPConnection, on loop: ServiceLoop) {
        self.loop = loop
        session = Session(caller: Caller(host: connection.peer.host))
    }

    package func connectionOpened(_ connection: TCPConnection) {
        // The service may have begun to stop before the connection was handed over.
        if loop.context.isDraining { drain(connection) }
    }

    package func connection(
        _ connection: TCPConnection,
        received bytes: RawSpan
    ) -> ReadProgress {
        if session.state.isClosing { return ReadProgress(consumedByteCount: bytes.byteCount) }
        let waited = waitingSince.map { loop.eventLoop.now.duration(since: $0) }
        // The session is copied out and back: that costs less than a check for exclusive access.
        var session = session
        let progress = loop.handler.serveIteration(
            bytes,
            of: &session,
            on: connection,
            through: loop.outbox,
            waited: waited
        )
        self.session = session
        awaitBackups(loop.startBackups(for: connection), on: connection)
        if progress.wantsIteration {
            waitingSince = waitingSince ?? loop.eventLoop.now
        } else {
            waitingSince = nil
            if session.state.isDraining { sayGoAway(connection) }
        }
        if session.state.isClosing { closeOnceAnswered(connection) }
        return ReadProgress(
            consumedByteCount: progress.byteCount,
            wantsIteration: progress.wantsIteration,
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

    /// Finishes the requests that were received whole, says GoAway and closes.
    func drain(_ connection: TCPConnection) {
        connection.stopReading()
        session.state.drain()
        // A connection that waits for a loop iteration says GoAway at the end of its last one.
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
    /// Adds backups that the connection waits for; it may be silent meanwhile.
    private func awaitBackups(_ count: Int, on connection: TCPConnection) {
        guard count > 0 else { return }
        awaitedBackupCount += count
        connection.mayBeSilent = true
    }

    /// One of the requested backups is answered.
    func backupAnswered(_ connection: TCPConnection) {
        awaitedBackupCount -= 1
        guard awaitedBackupCount == 0 else { return }
        connection.mayBeSilent = false
        if session.state.isClosing { connection.closeAfterFlush() }
    }
}

extension RequestHandler {
    /// Executes the requests that a connection has received, sends the answers, and then refreshes
    /// a stripe that is due.
    fileprivate mutating func serveIteration(
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
    /// Sends the encoded answers in one write, when the outbox releases them.
    mutating func send(on connection: TCPConnection, through outbox: Outbox) {
        guard encoder.byteCount > 0 else { return }
        encoder.lendBytes { outbox.send($0, on: connection) }
        encoder.removeAll()
        // Answers that wait are counted where they wait.
        room.end()
    }
}
