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
    /// The context of all loops.
    let context: ServiceContext
    /// The counts of this loop.
    let counters: LoopCounters
    /// Writes log lines, at a limited rate.
    let log: ServiceLog
    /// The loop, which keeps this alive.
    unowned let eventLoop: EventLoop
    /// Sends the loop's answers once the changes that they reflect are durable.
    let outbox: Outbox
    /// The requests for a backup that wait for it, by the number of the backup.
    var waitingForBackup: [UInt64: WaitingForBackup] = [:]
    /// The number of the latest backup.
    var nextBackup: UInt64 = 0
    /// The sign-ins that wait for their hashes, by their numbers.
    var waitingSignIns: [UInt64: WaitingSignIn] = [:]
    /// The number of the latest sign-in.
    var nextSignIn: UInt64 = 0
    /// When the connections that watch are served next.
    var watchSchedule: WatchSchedule<ServerConnection>
    /// The connections whose events are due.
    var readyWatchers = WatcherQueue<ServerConnection>()
    /// Whether the loop serves some of them before its next wait.
    var servesReadySoon = false
    /// Passes the ticks of the schedule; nil while nobody watches.
    var watchTimer: LoopTimer?
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
            context.state?.logs,
            durableBatch: context.state?.journal.durableBatch ?? 0,
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
            log: log
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
