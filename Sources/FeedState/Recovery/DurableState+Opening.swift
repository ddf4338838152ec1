internal import FeedJournal
package import FeedRanking

extension DurableState {
    /// What revisions are raised by at each start, above all that were given before.
    static let revisionGap: UInt64 = 1 << 24

    /// Locks a data directory, puts its state into an empty store, and makes ready to go on.
    ///
    /// - Parameters:
    ///   - options: Where the directory is, and how durable answers are.
    ///   - store: An empty one.
    ///   - channels: Takes what is known of channels: a channel, then its outcomes.
    ///   - events: Who is told what later.
    ///   - progress: Hears how far the start has come.
    /// - Returns: The state, whose threads are to be started.
    /// - Throws: Why the directory cannot be served; the store is of no use then.
    package static func open(
        _ options: StateOptions,
        into store: FeedStore,
        channels: @escaping (Effect) -> Void,
        events: Events,
        progress: @escaping (RecoveryProgress) -> Void = { _ in }
    ) throws(StateStartError) -> DurableState {
        let directory = try StateDirectory(options)
        var summary = RecoverySummary()
        let database = try directory.database(&summary)
        let recovery = Recovery(store: store, channels: channels, progress: progress)
        try recovery.load(database)
        let journal = try directory.journal(database, &summary, progress)
        var folding = FoldWork(database, foldByteCount: options.foldByteCount)
        try recovery.replay(journal, into: &folding, &summary)
        let epoch = try directory.beginEpoch(store, database)
        return try join(options, summary, journal, folding, epoch, events)
    }

    /// Makes the epoch's record durable, and the threads ready.
    private static func join(
        _ options: StateOptions,
        _ recovered: RecoverySummary,
        _ journal: SegmentJournal,
        _ gathered: consuming FoldWork,
        _ epoch: Effect,
        _ events: Events
    ) throws(StateStartError) -> DurableState {
        var summary = recovered
        let wake = WakeUp()
        let logs = EffectLogs(count: options.logCount, firstCut: journal.last.sequence + 1) {
            wake.call()
        }
        logs[0].lock()
        logs[0].append(epoch)
        logs[0].unlock()
        var body: [UInt8] = []
        guard let cut = logs.takeCut(into: &body) else {
            preconditionFailure("The epoch's effect waits in the log.")
        }
        do throws(JournalError) {
            summary.last = try journal.append(
                body.span,
                count: UInt32(cut.effectCount),
                at: JournalThread.unixMicroseconds()
            )
        } catch {
            throw .journal(error)
        }
        try gathered.gather(body, at: summary.last)
        let identity = gathered.database.meta
        let folding = FoldThread(gathered, failed: events.failed)
        var journalEvents = JournalThread.Events()
        journalEvents.durable = events.durable
        journalEvents.failed = { events.failed(.journal($0)) }
        journalEvents.slow = events.slow
        journalEvents.readOnly = events.readOnly
        let thread = JournalThread(
            journal: Handed(options.filtersJournal(journal)),
            keepsSegments: options.keepsJournal,
            logs: logs,
            folding: folding,
            events: journalEvents
        )
        wake.set { thread.wake() }
        return DurableState(
            identity: identity,
            recovery: summary,
            durability: options.durability,
            logs: logs,
            journal: thread,
            folding: folding,
            wake: wake
        )
    }
}
