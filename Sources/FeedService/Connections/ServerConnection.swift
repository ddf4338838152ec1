internal import FeedAccounts
internal import FeedConcurrency
internal import FeedProto
package import FeedTransport

/// One client's connection: has the requests in its bytes executed, and sends their answers in
/// one write in each loop iteration.
///
/// The only file of the service that joins ``RequestHandler`` and ``TCPConnection``.
package final class ServerConnection: ConnectionHandler {
    /// The bytes of a whole object, whose session lies within.
    package static var hotByteCount: Int { 448 }

    private let loop: ServiceLoop
    private let connection: TCPConnection
    /// The outbox's count of this connection's held answers.
    let recipient: Recipient
    private var session: Session
    /// The time since which whole requests wait for their loop iteration; nil while none waits.
    private var waitingSince: MonotonicInstant?
    /// How many requests have answers that come from other threads; the connection closes after them.
    private var awaitedAnswerCount = 0
    /// Whether the connection is one too many, and takes the answer which says so.
    private var isLingering = false
    private var pause = ReadPause()
    var watchSet = WatchSet()
    /// Whether the client still waits for its passwords to be hashed.
    let interest = PasswordJob.Interest()

    init(_ connection: TCPConnection, on loop: ServiceLoop) {
        self.loop = loop
        self.connection = connection
        recipient = Recipient(
            connection,
            unsentLimitByteCount: loop.context.limits.maximumUnsentByteCount
        )
        let found = loop.context.serviceKeys?.find(connection.peerIdentities)
        if let key = found?.key { loop.log.certificateShown(key, from: connection.peer.host) }
        session = Session(
            caller: Caller(
                host: connection.peer.host,
                isOnTrustedHost: loop.context.trusts(connection),
                isLimited: loop.context.limitsCaller(of: connection),
                certificateKey: found?.shown
            )
        )
    }

    package func connectionOpened(_ connection: TCPConnection) {
        guard countConnection() else { return }
        // The service may have begun to stop before the loop took the connection.
        if loop.context.isDraining { drain() }
    }

    package func connection(
        _ connection: TCPConnection,
        received bytes: RawSpan
    ) -> ReadProgress {
        let waited = waitingSince.map { loop.eventLoop.now.duration(since: $0) }
        let served = loop.handler.serveIteration(
            bytes,
            of: &session,
            for: connection.hostSlot,
            to: recipient,
            through: loop.outbox,
            waited: waited,
            at: loop.eventLoop.now
        )
        guard let (progress, life) = served else {
            // What comes after a bad frame is not looked at, and may be a sign-in.
            return ReadProgress(consumedByteCount: bytes.byteCount, hasSecret: true)
        }
        if progress.hasDeferredCalls {
            loop.startLaterCalls(for: self)
            loop.performWatchActions(for: self)
        }
        if progress.hasLongestWait { beginPause() }
        if progress.wantsIteration {
            if progress.lacksRoom { recipient.waitForRoom() }
            waitingSince = waitingSince ?? loop.eventLoop.now
        } else {
            waitingSince = nil
            if life.isDraining { sayGoAway() }
        }
        if life.isClosing {
            loop.handler.endWatches(of: &watchSet, nil)
            closeOnceAnswered()
        }
        return ReadProgress(
            consumedByteCount: progress.byteCount,
            wantsIteration: progress.wantsIteration,
            waitsForWrites: progress.lacksRoom,
            hasSecret: progress.hasSecret
        )
    }

    package func connection(_ connection: TCPConnection, willReceive bytes: RawSpan) {
        recipient.prefetch()
        loop.handler.announce(bytes, ownVoter: session.caller.ownVoter)
    }

    package func connectionEndedInput(_ connection: TCPConnection) {
        close()
    }

    package func connectionClosed(_ connection: TCPConnection, reason: CloseReason) {
        switch reason {
        case .partialReadTimeout:
            loop.counters.count(.slowFrames)
        case .overBudget(let heldByteCount):
            loop.counters.count(.overBudgetCloses)
            loop.log.closedOverBudget(heldByteCount: heldByteCount, from: connection.peer.host)
        default:
            break
        }
        interest.end()
        pause.timer?.cancel()
        loop.handler.endWatches(of: &watchSet, nil)
        if let channel = session.caller.channel { loop.context.channels.close(channel) }
        if let allowance = session.caller.allowance { loop.context.identities.leave(allowance) }
        if isLingering { loop.lingeringRefusalCount -= 1 }
    }

    /// Finishes the requests that were received whole, says GoAway and closes.
    func drain() {
        // One that is closing is read from until the end of its input.
        guard !session.life.isClosing else { return }
        connection.stopReading()
        session.life.drain()
        // A connection that waits for a loop iteration says GoAway at the end of its last one.
        if session.life.isDraining, waitingSince == nil { sayGoAway() }
    }

    /// Says that the service does not lead its cluster any more, ahead of what is held and will not be sent.
    func sayNotLeader(_ leader: String?) {
        guard session.life.close() else { return }
        connection.stopReading()
        loop.handler.endWatches(of: &watchSet, nil)
        loop.handler.sayGoAway(lastID: session.life.lastID, .notLeader, leader)
        loop.handler.answers.calls.sendAhead(0..<loop.handler.answers.byteCount)
        loop.handler.answers.send(to: recipient, through: loop.outbox)
        connection.closeAfterFlush()
    }

    private func sayGoAway() {
        loop.handler.endWatches(of: &watchSet, .watchDrained)
        loop.handler.sayGoAway(lastID: session.life.lastID, .draining, loop.context.otherLeader)
        loop.handler.answers.send(to: recipient, through: loop.outbox)
        close()
    }

    private func close() {
        guard session.life.close() else { return }
        loop.handler.endWatches(of: &watchSet, nil)
        closeOnceAnswered()
    }

    private func closeOnceAnswered() {
        if awaitedAnswerCount == 0 { recipient.closeAfterFlush() }
    }
}

extension ServerConnection {
    /// Counts the connection for its host; false where the host has too many, and it closes.
    private func countConnection() -> Bool {
        guard session.caller.isLimited else { return true }
        let left = loop.context.leftConnectionCount
        session.caller.allowance = loop.context.identities.enter(
            session.caller.identity,
            left: left
        )
        guard session.caller.allowance == nil else { return true }
        loop.log.tooManyConnections(of: session.caller.host)
        refuseConnection()
        return false
    }

    /// Says why the connection is one too many, and closes it; resets it where many are told so now.
    private func refuseConnection() {
        guard loop.lingeringRefusalCount < TransportLimits.maximumLingeringRefusals else {
            return connection.reset()
        }
        loop.lingeringRefusalCount += 1
        isLingering = true
        let limit = loop.context.limits.identities.connectionCount
        loop.handler.answers.refuse(0, .tooManyConnections(ofIdentity: limit))
        loop.handler.answers.send(to: recipient, through: loop.outbox)
        close()
    }

    /// Reads nothing for a while if the client does not wait as it is told.
    private func beginPause() {
        guard pause.isDue(at: loop.eventLoop.now) else { return }
        pause.timer = try? loop.eventLoop.addTimer(after: ReadPause.time) { [unowned self] in
            pause.timer = nil
            // The connections of a service that stops stay as they are.
            if !session.life.isDraining, !session.life.isClosing { connection.startReading() }
        }
        if pause.timer != nil { connection.stopReading() }
    }

    /// A request's answer comes later; the connection may be silent meanwhile.
    func awaitAnswer() {
        awaitedAnswerCount += 1
        connection.mayBeSilent = true
    }

    func awaitedAnswerCame() {
        awaitedAnswerCount -= 1
        guard awaitedAnswerCount == 0 else { return }
        connection.mayBeSilent = false
        if session.life.isClosing { recipient.closeAfterFlush() }
    }

    /// Ends a sign-in, whose caller becomes the user; returns the call if another hash is needed before.
    @discardableResult
    func finish(
        _ signIn: SignIn,
        _ outcome: PasswordJob.Outcome,
        arrival: MonotonicInstant
    ) -> SignIn? {
        loop.handler.finishSignIn(signIn, outcome, for: &session.caller, arrival: arrival)
    }

    /// Executes a read again that has waited for a revision; false where it is to be passed once more.
    func serve(_ read: inout PostponedRead, arrival: MonotonicInstant, isLast: Bool) -> Bool {
        let now = loop.eventLoop.now
        loop.environment.renewServiceKey(of: &session.caller)
        loop.environment.checkLogin(of: &session.caller, at: now)
        loop.handler.answers.room.begin(for: connection.hostSlot)
        loop.handler.answers.calls.begin(at: arrival)
        let isDone = loop.handler.executeAgain(
            &read,
            of: &session,
            waited: now.duration(since: arrival),
            isLast: isLast
        )
        loop.handler.answers.send(to: recipient, through: loop.outbox)
        loop.performWatchActions(for: self)
        return isDone
    }

    /// Does what the WatchPosts and Cancel of this loop iteration have asked for.
    func performWatchActions() {
        guard recipient.isOpen, !session.life.isClosing else {
            return loop.handler.dropWatchActions()
        }
        loop.handler.performWatchActions(on: &watchSet, for: session.caller)
        loop.handler.answers.send(to: recipient, through: loop.outbox)
    }

    /// Sends the events of the connection's watches that are due, unless it has not taken the last ones.
    ///
    /// - Returns: The bytes of the events, and whether an event waits for the next loop iteration.
    func serveWatches() -> (byteCount: Int, wantsIteration: Bool) {
        guard recipient.isOpen, !session.life.isClosing, !watchSet.isEmpty else {
            return (0, false)
        }
        let now = loop.eventLoop.now
        let limit = loop.context.unsentByteLimit - recipient.unsentByteCount
        guard limit > 0, connection.pendingByteCount == 0,
            loop.outbox.isDurable(watchSet.pendingBatch)
        else {
            loop.schedule(self, dueAt: now.advanced(by: WatchSet.retryInterval))
            return (0, false)
        }
        loop.environment.renewServiceKey(of: &session.caller)
        loop.environment.checkLogin(of: &session.caller, at: now)
        loop.handler.answers.room.begin(for: connection.hostSlot)
        let wantsIteration = loop.handler.appendEvents(
            of: &watchSet,
            for: session.caller,
            byteLimit: limit,
            at: now
        )
        let byteCount = loop.handler.answers.byteCount
        loop.handler.answers.send(to: recipient, through: loop.outbox)
        if byteCount > 0 { watchSet.pendingBatch = loop.outbox.newestBatch }
        if !wantsIteration, let due = watchSet.due { loop.schedule(self, dueAt: due) }
        return (byteCount, wantsIteration)
    }
}

extension RequestHandler {
    /// Executes the requests that a connection has received, sends the answers, and then refreshes
    /// a stripe that is due.
    ///
    /// A read has the session looked at here alone, as each access to it is checked at run time.
    ///
    /// - Returns: The progress, and how the connection goes on; nil where it is closing already.
    fileprivate mutating func serveIteration(
        _ bytes: RawSpan,
        of session: inout Session,
        for host: HostSlot,
        to recipient: Recipient,
        through outbox: Outbox,
        waited: Duration?,
        at now: MonotonicInstant
    ) -> (Progress, SessionLife)? {
        guard !session.life.isClosing else { return nil }
        if !announcedVotes.isEmpty { announcedVotes.prefetch(from: environment.store) }
        votes.moment.renew(at: now, environment.store)
        answers.room.begin(for: host)
        answers.calls.begin(at: waited.map { now.advanced(by: .zero - $0) } ?? now)
        var progress = serve(
            bytes,
            of: &session,
            unsentByteCount: recipient.unsentByteCount,
            waited: waited,
            at: now
        )
        answers.send(to: recipient, through: outbox)
        answers.refreshDueStripe()
        progress.hasSecret = hasReadSecret
        progress.hasLongestWait = hasLongestWait
        progress.hasDeferredCalls = !laterCalls.isEmpty || !watches.actions.isEmpty
        return (progress, session.life)
    }
}

/// The pauses of one connection, in which nothing is read from it: its client sends far more than its
/// identity may, and does not wait as it is told.
///
/// The refused of an identity are told to come back one after another. The longest time that one is told is
/// `RateBucket.longestRetryTime`. A client that was told so, and is told so again before that time, has not
/// waited.
private struct ReadPause {
    /// How long a pause lasts: many requests are read at once then, and others wait little for them.
    ///
    /// With 100 ms the requests come in bursts, and the p99 of other clients was a third longer.
    static let time = Duration.milliseconds(10)

    /// What ends the pause; nil while there is none.
    var timer: LoopTimer?
    /// Until when the client was told to wait.
    private var toldTime: MonotonicInstant?

    /// Notes that a request was told the longest time; returns whether a pause begins.
    mutating func isDue(at now: MonotonicInstant) -> Bool {
        defer { toldTime = now.advanced(by: RateBucket.longestRetryTime) }
        guard timer == nil, let toldTime else { return false }
        return now < toldTime
    }
}
