internal import FeedAccounts
internal import FeedConcurrency
internal import FeedJournal
internal import FeedRanking
internal import FeedState
internal import FeedTransport
internal import Logging

extension FeedServer {
    /// Puts the state of the data directory into a store, and its accounts into a value; nil where
    /// all is in memory.
    static func openState(
        _ configuration: ServiceConfiguration,
        _ store: FeedStore,
        _ channels: ChannelTable,
        accounts: inout AccountsState,
        events stateEvents: StateEvents,
        logger: Logger
    ) throws(ServiceStartError) -> DurableState? {
        guard let options = configuration.state else { return nil }
        let began = ContinuousClock.now
        let progress = ProgressLines(logger, configuration.supervisor)
        let state: DurableState
        var found = AccountsState()
        do throws(StateStartError) {
            state = try DurableState.open(
                options,
                into: store,
                channels: { channels.restore($0) },
                accounts: { found = $0 },
                events: stateEvents.events(options.path),
                progress: { progress.report($0) }
            )
        } catch {
            throw refusal(error, options)
        }
        accounts = found
        channels.restore(nextNumber: state.identity.nextChannel)
        channels.endRestoring()
        let seconds = began.duration(to: .now) / .seconds(1)
        logger.info("\(describe(state.recovery, store, seconds: seconds, options))")
        if let step = state.recovery.clockStep {
            logger.warning("\(OperatorLines.clockStep(step))")
        }
        if let damage = state.recovery.checkpointedDamage { logger.warning("\(damage)") }
        if let left = state.recovery.acceptedLoss {
            logger.warning("\(OperatorLines.acceptedLoss(left, state.recovery.quarantined))")
        }
        if state.recovery.gaveUpBallast {
            logger.warning("\(OperatorLines.space(.gaveUpBallast, options.path))")
        }
        if let accepted = options.acceptedLoss, state.recovery.acceptedLoss == nil {
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
            throw .state(.state(.damaged(table: "accounts", key: "all rows", reason: reason)))
        }
    }

    /// Starts the threads behind the loops.
    static func startThreads(
        of state: DurableState,
        _ configuration: ServiceConfiguration
    ) throws(ServiceStartError) {
        do throws(StateStartError) {
            try state.start()
        } catch {
            guard let options = configuration.state else { throw .state(error) }
            throw refusal(error, options)
        }
    }

    /// Starts the thread that hashes passwords; stops the state's threads where that fails.
    static func start(
        _ passwords: PasswordHasher,
        orStop state: DurableState?
    ) throws(ServiceStartError) {
        do throws(ThreadStartError) {
            try passwords.start()
        } catch {
            state?.stop()
            throw .thread(error)
        }
    }

    /// Starts to watch whether loops and commits go on.
    static func stallWatch(
        over threads: [EventLoopThread],
        _ context: ServiceContext,
        _ logger: Logger
    ) throws(ServiceStartError) -> StallWatch {
        let loops = threads.map(\.mailbox)
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
                case .stands: logger.error("\(OperatorLines.stall(news))")
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
        .refused(
            StartRefusal(
                error,
                directory: options.path,
                command: .serve(acceptedLoss: options.acceptedLoss)
            )
        )
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
        let lead = configuration.limits.maximumImportedTimeLead
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
