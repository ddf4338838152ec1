internal import FeedJournal
internal import FeedRanking
internal import FeedState
internal import Logging

extension FeedServer {
    /// Puts the state of the data directory into a store; nil where all is in memory.
    static func openState(
        _ configuration: ServiceConfiguration,
        _ store: FeedStore,
        _ channels: RecordTable,
        _ outcomes: StateOutcomes,
        _ logger: Logger
    ) throws(ServiceStartError) -> DurableState? {
        guard let options = configuration.state else { return nil }
        let began = ContinuousClock.now
        let progress = ProgressLines(logger)
        let state: DurableState
        do throws(StateStartError) {
            state = try DurableState.open(
                options,
                into: store,
                channels: { channels.restore($0) },
                events: outcomes.events(),
                progress: { progress.report($0) }
            )
        } catch {
            throw .state(error)
        }
        channels.restore(nextNumber: state.identity.nextChannel)
        channels.endRestoring()
        let seconds = began.duration(to: .now) / .seconds(1)
        logger.info("\(describe(state.recovery, store, seconds, options))")
        if let accepted = options.acceptedLoss, state.recovery.acceptedLoss == nil {
            logger.warning("--accept-data-loss \(accepted) did nothing: no record is lost")
        }
        warnOfClock(store, configuration.timeOfDay(), logger)
        if configuration.logsStateHash { logger.info("state hash \(hex(store.stateHash()))") }
        return state
    }

    /// A hash as it is shown: 16 hexadecimal digits.
    static func hex(_ hash: UInt64) -> String {
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static func describe(
        _ recovery: RecoverySummary,
        _ store: FeedStore,
        _ seconds: Double,
        _ options: StateOptions
    ) -> String {
        if recovery.isNew { return "made the data directory \(options.path)" }
        let hundredths = (seconds * 100).rounded() / 100
        return "recovered \(store.postCount) posts from \(options.path) in \(hundredths) s: "
            + "\(recovery.recordCount) records of the journal replayed, up to "
            + "\(recovery.last.sequence)"
            + (recovery.acceptedLoss != nil
                ? "; a loss was accepted, the instance is a new one" : "")
    }

    /// Times never go back, so a clock that was wrong once holds all later ones up.
    private static func warnOfClock(_ store: FeedStore, _ now: Int64, _ logger: Logger) {
        guard store.latestTimeMilliseconds > 0 else { return }
        let ahead = store.latestTimeMilliseconds - now
        guard ahead > ClockWatch.limitMilliseconds else { return }
        logger.warning(
            "the clock is \(ahead / 1000) s behind the newest post: posts get that time until then"
        )
    }
}

/// Tells of a long start, a line a second at most.
private final class ProgressLines {
    private let logger: Logger
    private var last = ContinuousClock.now
    private var lastCompleted: UInt64 = 0
    private var lastStep: RecoveryProgress.Step?

    init(_ logger: Logger) { self.logger = logger }

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
        logger.info("\(progress.step.rawValue): \(percent) %, \(Int(perSecond)) \(unit) a second")
        last = now
        lastCompleted = progress.completed
    }
}
