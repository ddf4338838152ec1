package import FeedAccounts
internal import FeedConcurrency
internal import FeedJournal
package import FeedLog
package import FeedRanking

extension DurableState {
    /// Locks a data directory, puts its state into an empty store, and prepares the threads.
    ///
    /// - Parameters:
    ///   - options: Where the directory is, and how durable answers are.
    ///   - store: An empty one.
    ///   - channels: Takes what is known of channels: a channel, then its outcomes.
    ///   - accounts: Takes the accounts and sessions, once all are known.
    ///   - events: Called later, when something happens.
    ///   - progress: Called now and then with how far the start is.
    /// - Returns: The state, whose threads are to be started.
    /// - Throws: Why the directory cannot be served; the store is of no use then.
    package static func open(
        _ options: StateOptions,
        into store: FeedStore,
        channels: @escaping (LogEntry) -> Void,
        accounts: (AccountsState) -> Void = { _ in },
        events: Events,
        progress: @escaping (RecoveryProgress) -> Void = { _ in }
    ) throws(StateStartError) -> DurableState {
        let wake = WakeUp()
        let recovered = try RecoveredState(
            StateDirectory(options),
            into: store,
            channels: channels,
            accounts: accounts,
            progress: progress,
            onFirstEntry: { wake.call() }
        )
        return DurableState(recovered, options, wake, events: events)
    }

    /// Makes the threads ready.
    private convenience init(
        _ recovered: consuming RecoveredState,
        _ options: StateOptions,
        _ wake: WakeUp,
        events: Events
    ) {
        let summary = recovered.summary
        let journal = recovered.journal
        let logs = recovered.logs
        let identity = recovered.checkpointWork.database.meta
        var backupOptions = options.backups
        // A clock that is, or was, wrong does not tell how old a backup is.
        if summary.clockStep != nil { backupOptions.trustsNames = false }
        let backups = Backups(
            backupOptions,
            reservedByteCount: options.journal.space.readOnlyByteCount,
            hooks: options.testHooks.backups,
            report: events.backup
        )
        let checkpointThread = CheckpointThread(
            recovered.checkpointWork,
            backups,
            failed: events.failed,
            news: events.journal.checkpoints
        )
        let thread = JournalThread(
            journal: Transferred(options.testHooks.filterJournal(journal)),
            maximumWaitingByteCount: options.maximumWaitingByteCount,
            keepsSegments: options.keepsJournal,
            logs: logs,
            receiver: checkpointThread,
            events: events.journal,
            failed: { events.failed(.journal($0)) }
        )
        wake.set { thread.wake() }
        self.init(
            identity: identity,
            recovery: summary,
            durability: options.durability,
            logs: logs,
            journal: thread,
            checkpointThread: checkpointThread,
            wake: wake
        )
    }
}
