internal import FeedAccounts
internal import FeedCalls
internal import FeedConcurrency
internal import FeedJournal
internal import FeedLog
internal import FeedRanking
internal import FeedState
package import FeedTransport
package import Logging

package final class FeedServer: Sendable {
    /// The addresses that are listened on, with the ports that the system gave.
    package var addresses: [SocketAddress] { listening.addresses }
    /// The addresses that are listened on with TLS.
    package var tlsAddresses: [SocketAddress] { listening.tlsAddresses }
    /// Secures the connections of these; nil where there are none.
    package var tlsAcceptor: TLSAcceptor? { listening.tlsAcceptor }
    /// The operator's address, with the port that the system gave; nil where there is none.
    package var adminAddress: SocketAddress? { operation?.address }
    /// The operator's address with TLS; nil if there is none.
    package var adminTLSAddress: SocketAddress? { operation?.tlsAddress }
    /// Secures the connections of the operator's address with TLS; nil if there is none.
    package var adminTLSAcceptor: TLSAcceptor? { operation?.acceptor }

    private let listening: Listening
    private let threads: [EventLoopThread]
    private let running: OperatorAddress.Running
    private let stallWatch: StallWatch
    private let logger: Logger
    private let operation: OperatorAddress?

    private var context: ServiceContext { running.context }

    private init(
        _ running: OperatorAddress.Running,
        _ listening: Listening,
        on threads: [EventLoopThread],
        stallWatch: StallWatch,
        logger: Logger,
        operation: OperatorAddress?
    ) {
        self.running = running
        self.listening = listening
        self.threads = threads
        self.stallWatch = stallWatch
        self.logger = logger
        self.operation = operation
    }

    /// Starts loops and listeners; returns when connections are accepted.
    ///
    /// Blocks until then, and leaves nothing behind where it fails.
    package static func start(
        _ configuration: ServiceConfiguration,
        logger: Logger
    ) throws(ServiceStartError) -> FeedServer {
        let operation = try ServiceStartError.ofTransport { () throws(TransportError) in
            try OperatorAddress.start(configuration)
        }
        do throws(ServiceStartError) {
            return try start(configuration, operation, logger: logger)
        } catch {
            operation?.stop()
            throw error
        }
    }

    private static func start(
        _ configuration: ServiceConfiguration,
        _ operation: OperatorAddress?,
        logger: Logger
    ) throws(ServiceStartError) -> FeedServer {
        let configuration = try configuration.withinOpenFileLimit(
            ProcessSetup.raiseOpenFileLimit(),
            warn: { logger.warning("\($0)") }
        )
        // Before the data directory is made. A recovering service does not listen yet: clients are
        // refused at once and try again, instead of waiting in a queue that is not served.
        let addresses = configuration.addresses + (configuration.tls?.addresses ?? [])
        try ServiceStartError.ofTransport { () throws(TransportError) in
            for address in addresses { try address.checkCanListen() }
        }
        let clock = ClockWatch(timeOfDay: configuration.timeOfDay)
        // No post gets a time of a clock that has jumped, also where a change was admitted just
        // before it did.
        let store = FeedStore(stripeCount: configuration.stripeCount) { clock.now() }
        let stateEvents = StateEvents(logger)
        let channels = configuration.emptyChannels
        var accounts = AccountsState()
        var waitingNode: WaitingNode?
        let state = try openState(
            configuration,
            store,
            channels,
            accounts: &accounts,
            orWaiting: &waitingNode,
            events: stateEvents,
            logger: logger
        )
        let context = ServiceContext(
            configuration,
            state,
            waitingNode,
            channels: channels,
            clock: clock
        )
        try restore(accounts, to: context.accounts)
        if let node = context.node {
            stateEvents.attach(node, channels) { [accounts = context.accounts] chain in
                LiveApply(store: store, accounts: accounts, after: chain) { channels.restore($0) }
            }
        }
        context.accounts.skipNumbers(upTo: state?.recovery.skippedAccountID ?? 0)
        if configuration.hasSampleData, store.postCount == 0 {
            SampleData.fill(store, logging: context.changeLog(0))
        }
        if let options = configuration.state {
            do throws(StateStartError) {
                try state?.start()
                try waitingNode?.start()
            } catch {
                throw refusal(error, options)
            }
        }
        do throws(ThreadStartError) {
            try context.passwords.start()
        } catch {
            state?.stop()
            waitingNode?.stop()
            throw .thread(error)
        }
        var threads: [EventLoopThread] = []
        do throws(ServiceStartError) {
            for index in 0..<configuration.threadCount {
                threads.append(try startLoop(index, store, context, log: ServiceLog(logger)))
            }
            stateEvents.attach(
                threads.map(\.mailbox),
                durableBatch: state?.journal.durableBatch ?? 0
            )
            let listening = try listen(configuration, on: threads, of: store, context, logger)
            let running = OperatorAddress.Running(
                context: context,
                store: store,
                acceptor: listening.tlsAcceptor,
                stateEvents: stateEvents,
                loops: threads.map(\.mailbox)
            )
            operation?.attach(running)
            let server = FeedServer(
                running,
                listening,
                on: threads,
                stallWatch: try stallWatch(over: running.loops, context, logger),
                logger: logger,
                operation: operation
            )
            context.onDrainRequest { [weak server] in server?.drainForOperator() }
            return server
        } catch {
            for thread in threads {
                thread.stop()
                thread.join()
            }
            state?.stop()
            waitingNode?.stop()
            context.passwords.stop()
            throw error
        }
    }

    /// Finishes what was received, says GoAway, flushes and ends; `wait` returns then; false the second time.
    @discardableResult
    package func beginDraining() -> Bool {
        guard context.beginDraining() else { return false }
        let others = threads.dropFirst().map(\.mailbox)
        threads[0].mailbox.post { loop in
            let serviceLoop = ServiceLoop.of(loop)
            // No connection reaches another loop after its drain: the listeners close first.
            serviceLoop.closeListeners()
            serviceLoop.drain()
            for mailbox in others {
                mailbox.post { ServiceLoop.of($0).drain() }
            }
        }
        return true
    }

    private func drainForOperator() {
        guard beginDraining() else { return }
        logger.notice("\(OperatorLines.drainCalled)")
    }

    /// Blocks until the service has ended, all that it answered is checkpointed, and its data
    /// directory is closed: it may be opened again then.
    package func wait() {
        for thread in threads { thread.join() }
        context.state?.stop()
        context.waitingNode?.stop()
        stallWatch.stop()
        // After the state, as a hash may wait seconds for a processor, and nobody waits for it any more.
        context.passwords.stop()
        operation?.stop()
    }

    /// A hash of all that outlives a restart, for tests; once the service has ended.
    package var stateHash: UInt64 { Self.hash(running.store, context.accounts.state()) }

    /// Calls `body` on a thread of the service when the state cannot be made durable any more.
    ///
    /// Held answers are not sent then, and the process should end with the status that `body` gets.
    package func onFailure(_ body: @escaping @Sendable (Int32) -> Void) {
        running.stateEvents.onFailure(body)
    }

    /// Calls `body` on a thread of the service when the process gets the signal.
    ///
    /// Blocks until the signal is watched, so that a process that has logged its start can be
    /// stopped.
    package func onSignal(_ number: Int32, _ body: @escaping @Sendable () -> Void) {
        let isWatched = Semaphore()
        let isPosted = threads[0].mailbox.post { [logger] loop in
            do throws(TransportError) {
                try loop.onSignal(number, body)
            } catch {
                logger.error("Signal \(number) will not be handled: \(error)")
            }
            isWatched.signal()
        }
        // A loop that an earlier signal has ended watches nothing more.
        if isPosted { isWatched.wait() }
    }

    private static func startLoop(
        _ index: Int,
        _ store: FeedStore,
        _ context: ServiceContext,
        log: ServiceLog
    ) throws(ServiceStartError) -> EventLoopThread {
        try ServiceStartError.ofTransport { () throws(TransportError) in
            try EventLoopThread(
                name: "feed-loop-\(index)",
                configuration: TransportConfiguration(context.limits, clock: context.loopClock),
                budget: context.budget
            ) { loop in
                loop.context = ServiceLoop(
                    loop,
                    number: index,
                    store: store,
                    context: context,
                    log: log
                )
            }
        }
    }
}

extension FeedServer {
    struct Listening {
        /// The addresses, with the ports that the system gave.
        var addresses: [SocketAddress] = []
        var tlsAddresses: [SocketAddress] = []
        var tlsAcceptor: TLSAcceptor?
    }

    /// How often a line says that `--insecure` is in use.
    private static let insecureLineInterval = Duration.seconds(60)

    /// Listens on the first loop, for all of them.
    static func listen(
        _ configuration: ServiceConfiguration,
        on threads: [EventLoopThread],
        of store: FeedStore,
        _ context: ServiceContext,
        _ logger: Logger
    ) throws(ServiceStartError) -> Listening {
        let result = Lock<Result<Listening, TransportError>>(.success(Listening()))
        let isDone = Semaphore()
        let targets = threads.map(\.mailbox)
        threads[0].mailbox.post { loop in
            let outcome = Result { () throws(TransportError) in
                let maintenance = Maintenance(
                    context,
                    of: store,
                    hasTLS: configuration.tls != nil,
                    ServiceLoop.of(loop).log
                )
                try maintenance.start(on: loop)
                try warnOfInsecureAddresses(configuration.insecureAddresses, on: loop, logger)
                try Watchdog(over: targets, for: configuration.supervisor).start(on: loop)
                return try listen(configuration, on: loop, for: targets)
            }
            result.withLock { $0 = outcome }
            isDone.signal()
        }
        isDone.wait()
        return try ServiceStartError.ofTransport { () throws(TransportError) in
            try result.withLock { $0 }.get()
        }
    }

    private static func listen(
        _ configuration: ServiceConfiguration,
        on loop: EventLoop,
        for targets: [LoopMailbox]
    ) throws(TransportError) -> Listening {
        let serviceLoop = ServiceLoop.of(loop)
        var listening = Listening()
        for address in configuration.addresses {
            listening.addresses.append(
                try serviceLoop.listen(at: address, for: targets, proxies: configuration.proxies)
            )
        }
        guard let tls = configuration.tls else { return listening }
        let acceptor = TLSAcceptor(tls.context) { [log = serviceLoop.log] host, reason in
            log.failedHandshake("\(reason)", from: host)
        }
        listening.tlsAcceptor = acceptor
        for address in tls.addresses {
            listening.tlsAddresses.append(
                try serviceLoop.listen(
                    at: address,
                    for: targets,
                    security: acceptor,
                    proxies: configuration.proxies
                )
            )
        }
        return listening
    }

    private static func warnOfInsecureAddresses(
        _ addresses: [SocketAddress],
        on loop: EventLoop,
        _ logger: Logger
    ) throws(TransportError) {
        guard !addresses.isEmpty else { return }
        let line = OperatorLines.insecure(addresses)
        logger.warning("\(line)")
        try loop.addTimer(every: insecureLineInterval) { logger.warning("\(line)") }
    }

    /// Puts the state of the data directory into a store, and its accounts into a value; nil where
    /// all is in memory, and where a node of a cluster has none and waits for it.
    static func openState(
        _ configuration: ServiceConfiguration,
        _ store: FeedStore,
        _ channels: ChannelTable,
        accounts: inout AccountsState,
        orWaiting waitingNode: inout WaitingNode?,
        events stateEvents: StateEvents,
        logger: Logger
    ) throws(ServiceStartError) -> DurableState? {
        guard let options = configuration.state else { return nil }
        let began = ContinuousClock.now
        let progress = ProgressLines(logger, configuration.supervisor)
        let state: DurableState
        let events = stateEvents.events(options.path)
        var found = AccountsState()
        do throws(StateStartError) {
            let directory = try StateDirectory(options)
            if let replica = options.replica, try directory.isWithoutState() {
                waitingNode = try WaitingNode(directory, replica, events.replica)
                logger.notice("\(OperatorLines.waits(options.path))")
                return nil
            }
            state = try DurableState.open(
                directory,
                into: store,
                channels: { channels.restore($0) },
                accounts: { found = $0 },
                events: events,
                progress: { progress.report($0) }
            )
        } catch {
            throw refusal(error, options)
        }
        accounts = found
        channels.restore(nextNumber: state.identity.nextChannel)
        channels.endRestoring()
        let recovery = state.recovery
        let seconds = began.duration(to: .now) / .seconds(1)
        logger.info("\(describe(recovery, store, seconds: seconds, options))")
        if let record = recovery.installed { logger.notice("\(OperatorLines.installed(record))") }
        if let step = recovery.clockStep {
            logger.warning("\(OperatorLines.clockStep(step))")
        }
        if let damage = recovery.checkpointedDamage { logger.warning("\(damage)") }
        if let left = recovery.acceptedLoss {
            logger.warning("\(OperatorLines.acceptedLoss(left, recovery.quarantined))")
        }
        if recovery.gaveUpBallast {
            logger.warning("\(OperatorLines.space(.gaveUpBallast, options.path))")
        }
        if let accepted = options.acceptedLoss, recovery.acceptedLoss == nil {
            logger.warning(
                "--accept-data-loss \(accepted) did nothing in this start: the journal is whole"
            )
        }
        warnOfPostsAhead(store, configuration, logger)
        if configuration.logsStateHash { logger.info("state hash \(hex(hash(store, accounts)))") }
        return state
    }

    /// The hash of all that outlives a restart, as `feed-service verify` has it.
    static func hash(_ store: FeedStore, _ accounts: AccountsState) -> UInt64 {
        store.stateHash() &+ accounts.stateHash
    }

    /// Puts the accounts of the data directory back.
    static func restore(
        _ found: AccountsState,
        to accounts: Accounts
    ) throws(ServiceStartError) {
        do throws(AccountError) {
            try accounts.restore(found)
        } catch {
            let reason = String("\(error)".dropLast())
            throw .state(.storage(.damagedRow(table: "accounts", key: "all rows", reason: reason)))
        }
    }

    /// Starts to watch whether loops and commits go on.
    static func stallWatch(
        over loops: [LoopMailbox],
        _ context: ServiceContext,
        _ logger: Logger
    ) throws(ServiceStartError) -> StallWatch {
        let watch = StallWatch(
            over: loops,
            context.stalls,
            commitWait: { context.state?.journal.oldestWait },
            others: { subject in
                subject == .checkpoint
                    ? context.state?.checkpointThread.statistics.standingTime
                    : context.state?.checkpointThread.backups.standingTime
            },
            report: { news in
                switch news {
                case .stands: logger.error("\(OperatorLines.stall(news, context.commitWait))")
                case .goesOn: logger.notice("\(OperatorLines.stall(news))")
                }
            },
            commitStalled: {
                for loop in loops { loop.post { ServiceLoop.of($0).refuseHeldCalls() } }
            }
        )
        do throws(ThreadStartError) {
            try watch.start()
        } catch {
            throw .thread(error)
        }
        return watch
    }

    private static func refusal(
        _ error: StateStartError,
        _ options: StateOptions
    ) -> ServiceStartError {
        let command: RefusedCommand =
            options.replica == nil ? .serve(acceptedLoss: options.acceptedLoss) : .serveNode
        return .refused(StartRefusal(error, directory: options.path, command: command))
    }

    /// A hash as it is shown: 16 hexadecimal digits.
    static func hex(_ hash: UInt64) -> String { hexadecimal(hash) }

    private static func describe(
        _ recovery: RecoverySummary,
        _ store: FeedStore,
        seconds: Double,
        _ options: StateOptions
    ) -> String {
        if recovery.isNew { return "made the data directory \(options.path)" }
        let hundredths = (seconds * 100).rounded() / 100
        return "recovered \(store.postCount) posts from \(options.path) in \(hundredths) s: "
            + "\(recovery.recordCount) records of the journal replayed, up to "
            + "\(recovery.last.number)"
    }

    /// Warns of posts that a wrong clock has stamped, and says how to correct them.
    private static func warnOfPostsAhead(
        _ store: FeedStore,
        _ configuration: ServiceConfiguration,
        _ logger: Logger
    ) {
        let lead = configuration.limits.calls.maximumImportedTimeLead
        let now = configuration.timeOfDay()
        let count = store.countPosts(after: now + lead.millisecondsRoundedDown)
        guard count > 0 else { return }
        logger.warning("\(OperatorLines.postsAhead(count, lead: lead))")
    }
}

/// Logs the progress of a long start and tells the supervisor, at most once a second.
private final class ProgressLines {
    private let logger: Logger
    private let supervisor: Supervisor
    private var last = ContinuousClock.now
    private var lastCompleted: UInt64 = 0
    private var lastStep: RecoveryProgress.Step?

    init(_ logger: Logger, _ supervisor: Supervisor) {
        self.logger = logger
        self.supervisor = supervisor
    }

    func report(_ progress: RecoveryProgress) {
        if lastStep != progress.step {
            lastStep = progress.step
            lastCompleted = 0
        }
        let now = ContinuousClock.now
        let passed = last.duration(to: now) / .seconds(1)
        guard passed >= 1, progress.total > 0 else { return }
        let perSecond = Double(progress.completed &- lastCompleted) / passed
        let percent = progress.completed * 100 / progress.total
        let unit =
            switch progress.step {
            case .loading: "rows"
            case .checking: "bytes"
            case .replaying: "records"
            }
        let line = "\(progress.step.rawValue): \(percent) %, \(Int(perSecond)) \(unit) a second"
        logger.info("\(line)")
        supervisor.notify(.starting(line))
        last = now
        lastCompleted = progress.completed
    }
}

/// The posts of `--sample-data`: twenty titles for a first look at the service.
enum SampleData {
    /// One title a post, in no order of rank.
    static let titles = [
        "Apple", "Apricot", "Avocado", "Banana", "Blackberry", "Blueberry", "Cherry", "Coconut",
        "Fig", "Grape", "Kiwi", "Lemon", "Mango", "Melon", "Orange", "Papaya", "Peach", "Pear",
        "Pineapple", "Strawberry",
    ]

    /// Creates the posts in the feed `posts`.
    static func fill(_ store: FeedStore, logging changeLog: ChangeLog) {
        guard let feed = store.feed(named: FeedPolicy.posts.name) else { return }
        changeLog.transaction {
            var page = PostPage()
            for title in titles {
                do throws(RankingError) {
                    try store.createPost(
                        PostContent(title: title),
                        in: feed,
                        sink: changeLog,
                        into: &page
                    )
                } catch {
                    preconditionFailure("A feed that was found takes posts: \(error)")
                }
            }
        }
    }
}
