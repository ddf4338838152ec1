internal import FeedAccounts
internal import FeedConcurrency
internal import FeedLog
internal import FeedRanking
internal import FeedState
package import FeedTransport

/// The periodic work of the first loop: it forgets what has expired, checks the clocks and returns memory.
final class Maintenance {
    private let context: ServiceContext
    private let store: FeedStore
    private let log: ServiceLog
    private let memory: MemoryReturn
    /// The numbers of evicted channels whose rows are not deleted yet, and the newest commit batch that may
    /// name them.
    ///
    /// The log entry that made a channel may still be on its way to `state.db` when the channel is
    /// evicted. An earlier deletion would find nothing, and the row would stay. So a number waits until
    /// all that was logged before its eviction is checkpointed.
    private var evicted: [(commitBatch: UInt64, numbers: [UInt64])] = []
    /// The numbers of evicted channels that are still to be logged: in a cluster all machines forget them in
    /// one place of the log, and a checkpoint deletes the rows.
    private var unlogged: [UInt64] = []
    /// The numbers that one transaction logs at most: it is a short one
    /// (`StateOptions.shortTransactionByteCount`).
    private static let loggedEvictionLimit = 4_096
    private var sweep = MarkSweep()
    private let erasure: AccountErasure
    /// The refused connections that the log has told of.
    private var loggedCount: UInt64 = 0

    /// The work of a service; where one of its addresses has TLS, all connections may have it.
    init(_ context: ServiceContext, of store: FeedStore, hasTLS: Bool, _ log: ServiceLog) {
        self.context = context
        self.store = store
        self.log = log
        erasure = AccountErasure(context, of: store)
        memory = MemoryReturn(
            connectionByteCount: hasTLS
                ? MemoryReturn.securedByteCount : MemoryReturn.plainByteCount
        )
    }

    /// Checks the clocks, and begins the work on a loop, which keeps it.
    func start(on loop: EventLoop) throws(TransportError) {
        checkClocks()
        try loop.addTimer(every: .seconds(1), sweepStore)
        try loop.addTimer(every: ChannelTable.evictionInterval, evictChannels)
        try loop.addTimer(every: .seconds(1)) { [self, unowned loop] in
            checkClocks()
            forgetExpiredSessions()
            erasure.goOn(loop)
            logRefusedConnections()
            memory.giveBack(
                after: context.budget,
                connectionCount: context.budget.connectionCount,
                channelByteCount: context.channels.byteCount,
                forgetsSoon: context.channels.takeForgetsSoon()
            )
        }
    }

    private func sweepStore() {
        store.expireSnapshots(now: context.now)
        store.expireSync()
        guard context.changeRefusal == nil else { return }
        let changes = context.changeLog(0)
        changes.transaction { store.sweepMarks(&sweep, sink: changes) }
    }

    private func evictChannels() {
        context.channels.evict()
        guard let state = context.state else { return }
        guard !state.isOfCluster else { return logEvictions() }
        let numbers = context.channels.takeEvicted()
        if !numbers.isEmpty { evicted.append((state.logs.newestBatch, numbers)) }
        let checkpointed = state.checkpointThread.checkpointedRecord
        while let first = evicted.first, first.commitBatch <= checkpointed {
            state.checkpointThread.deleteRows(ofChannels: first.numbers)
            evicted.removeFirst()
        }
    }

    /// Logs some of the evicted channels; O(evicted).
    ///
    /// All that the log has of a channel comes before its eviction: it was idle.
    private func logEvictions() {
        guard context.changeRefusal == nil else { return }
        unlogged += context.channels.takeEvicted()
        let due = unlogged.prefix(Self.loggedEvictionLimit)
        guard !due.isEmpty else { return }
        let changes = context.changeLog(0)
        changes.transaction {
            for number in due { changes.append(evictionOfChannel: number) }
        }
        unlogged.removeFirst(due.count)
    }

    /// Forgets some of the sessions that have expired.
    private func forgetExpiredSessions() {
        let accounts = context.accounts
        guard accounts.sessionCount > 0, context.changeRefusal == nil else { return }
        let changes = context.changeLog(0)
        let now = context.clock.now()
        let limit = context.limits.examinedSessionsPerSecond
        changes.transaction { _ = accounts.sweep(at: now, limit: limit, changes) }
    }

    private func checkClocks() {
        context.clock.check()
        while let news = context.clock.takeNews() { log.clock(news) }
    }

    private func logRefusedConnections() {
        let count = context.refusedConnectionCount
        if count > loggedCount { log.refusedConnections(count - loggedCount) }
        loggedCount = count
    }
}

/// Returns memory to the system after a peak, because the allocator keeps the small pieces that
/// connections have freed.
///
/// Held bytes, connections and channels count. A peak is over after ten seconds in a row with less
/// than half of it, and with a sixteenth of the budget less. The bytes that are left then are the
/// next peak, so memory that is freed later is returned, too.
///
/// Memory is returned at most once a minute, because the allocator is locked meanwhile and a load
/// would take the same memory again. So the return waits for channels that are about to be
/// forgotten, up to 40 s.
package final class MemoryReturn: Sendable {
    /// The seconds of calm after which a peak is over: memory must be returned within a minute.
    package static let calmSeconds = 10
    /// The same where channels are about to be forgotten: 20 s until they are, and about as long
    /// until the last one of a full table is.
    package static let longestCalmSeconds = 40
    /// The seconds from one return of memory to the next at least.
    package static let intervalSeconds = 60
    /// The memory of a connection without unread or unsent bytes, about.
    package static let plainByteCount = 2 << 10
    /// The same with what OpenSSL holds for it, at least.
    package static let securedByteCount = 32 << 10

    private struct State {
        var greatestByteCount = 0
        var calmSeconds = 0
        var secondsSinceReturn = MemoryReturn.intervalSeconds
    }

    private let state = Lock(State())
    private let connectionByteCount: Int
    private let trim: @Sendable () -> Void

    /// Returns memory by `trim`; by default on a thread of its own, because it takes long.
    package init(
        connectionByteCount: Int = plainByteCount,
        trim: @escaping @Sendable () -> Void = {
            // Where the system refuses the thread, the memory is given back after the next peak.
            try? NamedThread("feed-memory").start { ProcessSetup.giveMemoryBack() }
        }
    ) {
        self.connectionByteCount = connectionByteCount
        self.trim = trim
    }

    /// Looks at what is held, once a second.
    package func giveBack(
        after budget: BufferBudget,
        connectionCount: Int = 0,
        channelByteCount: Int = 0,
        forgetsSoon: Bool = false
    ) {
        // The peak of the last second, so that a spike between two calls counts.
        let byteCount =
            max(budget.takeLatestPeak(), budget.bufferedByteCount) + channelByteCount
            + connectionCount * connectionByteCount
        let least = budget.limitByteCount / 16
        let isDue = state.withLock { state in
            state.secondsSinceReturn += 1
            state.greatestByteCount = max(state.greatestByteCount, byteCount)
            guard state.greatestByteCount > max(2 * byteCount, byteCount + least) else {
                state.calmSeconds = 0
                return false
            }
            state.calmSeconds += 1
            guard
                state.calmSeconds >= (forgetsSoon ? Self.longestCalmSeconds : Self.calmSeconds),
                state.secondsSinceReturn >= Self.intervalSeconds
            else { return false }
            state = State(greatestByteCount: byteCount, secondsSinceReturn: 0)
            return true
        }
        if isDue { trim() }
    }
}
