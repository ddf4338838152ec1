internal import DequeModule
internal import FeedAccounts
internal import FeedCalls
internal import FeedConcurrency
internal import FeedRanking
internal import FeedState
internal import FeedTransport

/// The service's state of one loop, bound to that loop's thread.
final class ServiceLoop {
    /// Executes the requests of the loop's connections.
    var handler: RequestHandler
    /// What the handler's calls share, for reading it without a check for exclusive access.
    let environment: CallEnvironment
    let context: ServiceContext
    let counters: LoopCounters
    /// Writes log lines, at a limited rate.
    let log: ServiceLog
    /// The loop, which keeps this alive.
    unowned let eventLoop: EventLoop
    /// Sends the loop's answers once the changes that they reflect are durable.
    let outbox: Outbox
    /// The calls that wait for another thread, by numbers of their own.
    private var waitingCalls: [UInt64: WaitingCall] = [:]
    /// The reads that wait for a revision which a follower has not reached.
    private var waitingReads: [WaitingRead] = []
    /// Looks at these; nil while there are none.
    private var readTimer: LoopTimer?
    /// The number of the latest one.
    private var lastWaiting: UInt64 = 0
    /// When the connections that watch are served next.
    private var watchSchedule: WatchSchedule<ServerConnection>
    /// The connections whose events are due.
    private var readyWatchers: Deque<ServerConnection> = []
    /// Whether the loop serves some of them before its next wait.
    private var servesReadySoon = false
    /// Passes the ticks of the schedule; nil while nobody watches.
    private var watchTimer: LoopTimer?
    /// The connections above the limit of their identity that take the answer which says so.
    var lingeringRefusalCount = 0
    /// When the loop began.
    private let began = MonotonicInstant.now
    /// The listeners that this loop accepts for; only the first loop has some.
    var listeners: [TCPListener] = []

    /// The state of the loop with this number.
    init(
        _ eventLoop: EventLoop,
        number: Int,
        store: FeedStore,
        context: ServiceContext,
        log: ServiceLog
    ) {
        self.eventLoop = eventLoop
        self.context = context
        self.log = log
        counters = context.counters[number]
        outbox = Outbox(
            context.state,
            context.budget,
            counters,
            timer: CallTimer(
                counters,
                slowTime: context.limits.slowCallTime,
                clock: context.loopClock,
                report: log.slow(_:from:nanoseconds:heldNanoseconds:)
            )
        )
        environment = CallEnvironment(
            store: store,
            changeLog: context.changeLog(number),
            context: context,
            counters: counters,
            log: log,
            rules: CallRules(store, context.limits.calls, tokens: context.tokens)
        )
        handler = RequestHandler(environment)
        watchSchedule = WatchSchedule(at: eventLoop.now)
    }

    /// Notes how long the loop has not waited, for the operator's address.
    func countBusyTime() {
        counters.setBusyTime(MonotonicInstant.now.duration(since: began) - eventLoop.idleTime)
    }

    /// Commit batches up to this one are durable: sends the answers that waited for them.
    func release(through commitBatch: UInt64) {
        context.stalls.commitEnded()
        outbox.release(through: commitBatch)
    }

    /// The service leads its cluster from now on; the commit batches before are durable.
    func lead() {
        guard let state = context.state else { return }
        outbox.lead()
        outbox.release(through: state.journal.durableBatch)
    }

    /// The service led its cluster when the reads of rounds up to this one were executed.
    func prove(through round: UInt64) { outbox.prove(through: round) }

    /// The service does not lead any more, and its process ends: says so to all connections.
    ///
    /// What is held stays held: others may have gone on without it.
    func leaveLeadership(to leader: String?) {
        closeListeners()
        eventLoop.forEachConnection { connection in
            (connection.handler as? ServerConnection)?.sayNotLeader(leader)
        }
    }

    /// A commit stands still: refuses the calls whose answers are held and that had no effect.
    func refuseHeldCalls() {
        outbox.sendHeldAhead { handler.divide($0, of: $1) }
    }

    /// The service's state of a loop.
    static func of(_ loop: EventLoop) -> ServiceLoop {
        guard let serviceLoop = loop.context as? ServiceLoop else {
            preconditionFailure("Every loop of the service is given its context at its start.")
        }
        return serviceLoop
    }
}

@available(*, unavailable)
extension ServiceLoop: Sendable {}

/// How connections come to the loops, and how they leave at the end.
extension ServiceLoop {
    /// Listens at an address and hands connections to these loops; returns the real address.
    func listen(
        at address: SocketAddress,
        for targets: [LoopMailbox],
        security: TLSAcceptor? = nil,
        proxies: [HostNetwork] = []
    ) throws(TransportError) -> SocketAddress {
        let admission = Admission(
            maximumConnectionCount: context.limits.maximumConnectionCount,
            refusal: handler.refusal(
                .tooManyConnections(limit: context.limits.maximumConnectionCount)
            )
        )
        let listener = try TCPListener(
            at: address,
            on: eventLoop,
            targets: targets,
            admission: admission,
            security: security,
            proxies: TrustedProxies(proxies) { [log] host, fault in
                log.refusedProxy("\(fault)", from: host)
            }
        ) { connection in
            ServerConnection(connection, on: ServiceLoop.of(connection.loop))
        }
        listeners.append(listener)
        context.addListener(listener.counters)
        return listener.address
    }

    /// Accepts nothing more.
    func closeListeners() {
        for listener in listeners { listener.close() }
        listeners = []
    }

    /// Lets every connection finish what it received whole, then ends the loop.
    func drain() {
        eventLoop.forEachConnection { connection in
            (connection.handler as? ServerConnection)?.drain()
            // A connection whose TLS handshake is under way has asked for nothing yet.
            if connection.handler == nil { connection.reset() }
        }
        let deadline = context.limits.drainTimeout
        do throws(TransportError) {
            try eventLoop.addTimer(after: deadline) { [eventLoop] in
                eventLoop.forEachConnection { $0.reset() }
            }
            // So that the answer of a backup leaves before the connections are reset.
            try eventLoop.addTimer(after: deadline / 2) { [state = context.state] in
                state?.checkpointThread.backups.cancel(.stopping)
            }
        } catch {
            log.cannotBoundDrain(error)
        }
        eventLoop.whenEmpty { [unowned self] in
            stopWatchTimer()
            readyWatchers = []
            stopWaitingReads()
            eventLoop.stop()
        }
    }
}

/// Backups, passwords and the replica take longer than a loop iteration. Other threads make, hash and ask,
/// and the calls are answered when that is done, after answers to later requests.
extension ServiceLoop {
    private struct WaitingCall {
        let connection: ServerConnection
        let call: LaterCall
        let arrival: MonotonicInstant
    }

    /// Starts what a connection has requested in this loop iteration.
    func startLaterCalls(for connection: ServerConnection) {
        let calls = handler.laterCalls
        handler.laterCalls = []
        for call in calls {
            switch call {
            case .read(let read):
                connection.awaitAnswer()
                wait(for: read, of: connection)
            case .backup:
                connection.awaitAnswer()
                startBackup(wait(for: call, of: connection, since: eventLoop.now))
            case .cluster(let asked):
                connection.awaitAnswer()
                ask(asked.ask, wait(for: call, of: connection, since: eventLoop.now))
            case .signIn(let signIn):
                if start(signIn, for: connection, arrival: eventLoop.now) {
                    connection.awaitAnswer()
                } else {
                    connection.finish(signIn, .crowdedOut, arrival: eventLoop.now)
                    handler.answers.send(to: connection.recipient, through: outbox)
                }
            }
        }
    }

    /// Notes a call until its other thread is done; returns its number.
    private func wait(
        for call: LaterCall,
        of connection: ServerConnection,
        since arrival: MonotonicInstant
    ) -> UInt64 {
        lastWaiting += 1
        waitingCalls[lastWaiting] = WaitingCall(
            connection: connection,
            call: call,
            arrival: arrival
        )
        return lastWaiting
    }

    private func startBackup(_ number: UInt64) {
        guard let state = context.state else { return }
        state.checkpointThread.backUp(through: state.journal.durableBatch) {
            [mailbox = eventLoop.mailbox] result in
            mailbox.post { ServiceLoop.of($0).finishBackup(number, result) }
        }
    }

    private func finishBackup(_ number: UInt64, _ result: Result<BackupSummary, BackupError>) {
        guard let waiting = waitingCalls.removeValue(forKey: number),
            case .backup(let id) = waiting.call
        else { return }
        handler.answerBackup(id, result, arrival: waiting.arrival)
        handler.answers.send(to: waiting.connection.recipient, through: outbox)
        waiting.connection.awaitedAnswerCame()
    }

    private func ask(_ ask: ClusterAsk, _ number: UInt64) {
        guard let state = context.state else {
            let cause = "the service waits for the state of its cluster"
            return finishAsk(number, .failure(.unavailable(cause)))
        }
        state.ask(ask) { [mailbox = eventLoop.mailbox] result in
            mailbox.post { ServiceLoop.of($0).finishAsk(number, result) }
        }
    }

    private func finishAsk(_ number: UInt64, _ result: Result<ClusterAnswer, ClusterRefusal>) {
        guard let waiting = waitingCalls.removeValue(forKey: number),
            case .cluster(let call) = waiting.call
        else { return }
        handler.answer(call, result, arrival: waiting.arrival)
        handler.answers.send(to: waiting.connection.recipient, through: outbox)
        waiting.connection.awaitedAnswerCame()
    }

    /// Queues the password; false where the queue is full.
    private func start(
        _ signIn: SignIn,
        for connection: ServerConnection,
        arrival: MonotonicInstant
    ) -> Bool {
        let number = wait(for: .signIn(signIn), of: connection, since: arrival)
        let mailbox = eventLoop.mailbox
        let job = PasswordJob(
            // Hashes are seeded anew in each process, so no host can choose that of another one.
            host: signIn.peer.hashValue,
            password: signIn.password,
            purpose: signIn.purpose,
            interest: connection.interest,
            deadline: signIn.deadline
        ) { outcome in
            mailbox.post { ServiceLoop.of($0).finishSignIn(number, outcome) }
        }
        if context.passwords.offer(job) { return true }
        waitingCalls[number] = nil
        return false
    }

    private func finishSignIn(_ number: UInt64, _ outcome: PasswordJob.Outcome) {
        guard let waiting = waitingCalls.removeValue(forKey: number),
            case .signIn(let signIn) = waiting.call
        else { return }
        let connection = waiting.connection
        guard connection.recipient.isOpen else {
            handler.dropSignIn(signIn, outcome)
            return
        }
        if let rest = connection.finish(signIn, outcome, arrival: waiting.arrival) {
            if start(rest, for: connection, arrival: waiting.arrival) { return }
            connection.finish(rest, .crowdedOut, arrival: waiting.arrival)
        }
        handler.answers.send(to: connection.recipient, through: outbox)
        connection.awaitedAnswerCame()
    }
}

/// The reads that wait for a revision, half a second at most, on a follower of a cluster.
///
/// Their connections go on: they are answered after answers to later requests. A timer looks at all of them,
/// so that a record of the log needs no word to each loop.
extension ServiceLoop {
    private struct WaitingRead {
        let connection: ServerConnection
        let arrival: MonotonicInstant
        let deadline: MonotonicInstant
        var read: PostponedRead
    }

    /// How often they are looked at: a tenth of what a follower is behind by.
    private static let readInterval = Duration.milliseconds(2)
    /// How many are executed before the loop serves its connections again.
    private static let readPortion = 64

    private func wait(for read: PostponedRead, of connection: ServerConnection) {
        let now = eventLoop.now
        waitingReads.append(
            WaitingRead(
                connection: connection,
                arrival: now,
                deadline: now.advanced(by: min(context.limits.catchUpTime, read.timeout)),
                read: read
            )
        )
        guard readTimer == nil else { return }
        do throws(TransportError) {
            readTimer = try eventLoop.addTimer(every: Self.readInterval) { [unowned self] in
                serveWaitingReads()
            }
        } catch {
            // The loop is stopping: its connections are closed soon.
            readTimer = nil
        }
    }

    private func serveWaitingReads() {
        let now = eventLoop.now
        let revision = environment.store.revision
        let reads = waitingReads
        waitingReads = []
        var count = 0
        for var waiting in reads {
            let isLast = now >= waiting.deadline || !context.stalls.isFollowing
            let isDue = isLast || waiting.read.revision <= revision
            if waiting.connection.recipient.isOpen {
                guard isDue, count < Self.readPortion else {
                    waitingReads.append(waiting)
                    continue
                }
                count += 1
                let isDone = waiting.connection.serve(
                    &waiting.read,
                    arrival: waiting.arrival,
                    isLast: isLast
                )
                guard isDone else {
                    waitingReads.append(waiting)
                    continue
                }
            }
            handler.readRoom.giveBack(waiting.read.body.count)
            waiting.connection.awaitedAnswerCame()
        }
        if waitingReads.isEmpty { stopWaitingReads() }
    }

    /// Ends the looks: no read waits, or the connections are closed.
    private func stopWaitingReads() {
        waitingReads = []
        readTimer?.cancel()
        readTimer = nil
    }
}

/// When the loop serves the watches of its connections.
///
/// A timer runs while anybody watches. At each tick the connections become ready whose events are due.
/// The loop serves a portion of the ready ones in an iteration, so that votes do not wait for the events
/// of thousands of watches. A connection is due again an interval after it was served, or up to two
/// ticks after that, where that tick has many and a later one fewer: see ``WatchSchedule``.
extension ServiceLoop {
    /// The bytes of events after which the other connections wait for the next loop iteration.
    private static let portionByteCount = 32 << 10

    /// Begins and cancels the watches that a connection has asked for in this loop iteration.
    func performWatchActions(for connection: ServerConnection) {
        guard !handler.watches.actions.isEmpty else { return }
        connection.performWatchActions()
        startWatchTimer()
        if !connection.watchSet.isEmpty { makeReady(connection) }
    }

    /// Serves a connection at an instant.
    func schedule(_ connection: ServerConnection, dueAt due: MonotonicInstant) {
        guard !connection.watchSet.isReady, watchTimer != nil else { return }
        let tick = watchSchedule.tick(forDue: due)
        if let served = connection.watchSet.servedTick, served <= tick { return }
        connection.watchSet.servedTick = tick
        watchSchedule.add(connection, in: tick)
    }

    private func startWatchTimer() {
        guard watchTimer == nil, handler.watches.count > 0 else { return }
        watchSchedule = WatchSchedule(at: eventLoop.now)
        do throws(TransportError) {
            watchTimer = try eventLoop.addTimer(every: WatchTick.interval) { [unowned self] in
                passWatchTick()
            }
        } catch {
            // The loop is stopping: its watches end with their connections.
            watchTimer = nil
        }
    }

    /// Ends the ticks: there are no watches any more.
    private func stopWatchTimer() {
        watchTimer?.cancel()
        watchTimer = nil
        watchSchedule = WatchSchedule(at: eventLoop.now)
    }

    private func passWatchTick() {
        guard handler.watches.count > 0 else { return stopWatchTimer() }
        for (connection, tick) in watchSchedule.takeDue(at: eventLoop.now)
        where connection.watchSet.servedTick == tick {
            makeReady(connection)
        }
    }

    private func makeReady(_ connection: ServerConnection) {
        connection.watchSet.servedTick = nil
        guard !connection.watchSet.isReady else { return }
        connection.watchSet.isReady = true
        readyWatchers.append(connection)
        serveReadySoon()
    }

    private func serveReadySoon() {
        guard !servesReadySoon else { return }
        servesReadySoon = true
        eventLoop.putOff { [unowned self] in serveReady() }
    }

    /// Serves a portion of the connections that are ready.
    private func serveReady() {
        servesReadySoon = false
        var again: [ServerConnection] = []
        var byteCount = 0
        handler.watchEvents.beginPortion()
        for _ in 0..<WatchTick.portionConnectionCount
        where byteCount < Self.portionByteCount && !handler.watchEvents.hasWorkedEnough {
            guard let connection = readyWatchers.popFirst() else { break }
            connection.watchSet.isReady = false
            let served = connection.serveWatches()
            byteCount += served.byteCount
            if served.wantsIteration { again.append(connection) }
        }
        for connection in again { makeReady(connection) }
        if readyWatchers.isEmpty {
            handler.watchEvents.removeShared()
        } else {
            serveReadySoon()
        }
    }
}
