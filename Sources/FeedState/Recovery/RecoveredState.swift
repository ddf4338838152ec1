package import FeedAccounts
package import FeedJournal
package import FeedLog
package import FeedRanking

/// A data directory that a start has recovered, for one thread, before there are others.
package struct RecoveredState: ~Copyable {
    /// What was found.
    package let summary: RecoverySummary
    /// The journal, which ends with the record of this start.
    package let journal: SegmentJournal
    /// The database, and the records that only the journal has in the memtable.
    package var checkpointWork: CheckpointWork
    /// Empty logs, whose open commit batch is the journal's next record.
    package let logs: ChangeLogs

    /// Puts the state of a directory into an empty store, and begins a run.
    ///
    /// - Parameters:
    ///   - directory: Locked; made where it is new.
    ///   - store: An empty one; of no use where this throws.
    ///   - channels: Takes what is known of channels: a channel, then its outcomes.
    ///   - accounts: Takes the accounts and sessions, once all are known.
    ///   - progress: Called now and then with how far it is.
    ///   - onFirstEntry: Called once for each commit batch, by the loop that logs its first log
    ///     entry.
    /// - Throws: Why the directory cannot be served.
    package init(
        _ directory: StateDirectory,
        into store: FeedStore,
        channels: @escaping (LogEntry) -> Void,
        accounts: (AccountsState) -> Void = { _ in },
        progress: @escaping (RecoveryProgress) -> Void = { _ in },
        onFirstEntry: @escaping @Sendable () -> Void = {}
    ) throws(StateStartError) {
        var summary = RecoverySummary()
        let hadBallast = try directory.names(in: ".").contains(SegmentJournal.ballastName)
        let database = try directory.database(&summary)
        let recovery = StoreRecovery(store: store, channels: channels, progress: progress)
        // What a checkpoint would stumble over later is refused now, in words.
        try stateErrors { () throws(StateError) in
            try database.checkingPages { () throws(StateError) in try recovery.load(database) }
        }
        let journal = try directory.journal(database, &summary, progress)
        summary.checkpointedDamage = journal.checkpointedDamage?.note(last: journal.last.number)
        var checkpointWork = CheckpointWork(
            database,
            checkpointByteCount: directory.options.checkpointByteCount
        )
        try recovery.replay(journal, into: &checkpointWork, &summary)
        let foundAccounts = recovery.accounts.state
        accounts(foundAccounts)
        let counters = try directory.beginRun(store, foundAccounts, database, journal: journal)
        summary.skippedAccountID = database.skippedAccountID
        let logs = ChangeLogs(
            count: directory.options.logCount,
            firstBatch: journal.last.number + 1,
            onFirstEntry: onFirstEntry
        )
        let found = journal.last
        let now = directory.options.unixMicroseconds()
        summary.clockStep = try directory.noteClock(now, journal)
        do throws(StateStartError) {
            summary.last = try Self.commit(
                counters,
                logs,
                journal,
                checkpointWork: &checkpointWork,
                at: now
            )
        } catch {
            throw error.isOutOfSpace ? directory.full() : error
        }
        // Only what is synced may be noted as known: a power cut may take the rest.
        let isSynced = directory.options.durability == .fsync
        try directory.noteFiles(of: database, known: isSynced ? summary.last : found, journal)
        summary.gaveUpBallast = hadBallast && !journal.hasBallast
        self.summary = summary
        self.journal = journal
        self.checkpointWork = checkpointWork
        self.logs = logs
    }

    /// Makes the record of the run's counters durable.
    private static func commit(
        _ counters: LogEntry,
        _ logs: ChangeLogs,
        _ journal: SegmentJournal,
        checkpointWork: inout CheckpointWork,
        at microseconds: UInt64
    ) throws(StateStartError) -> JournalPosition {
        logs[0].transaction { logs[0].append(counters) }
        var body: [UInt8] = []
        guard let batch = logs.takeBatch(into: &body) else {
            preconditionFailure("The counters wait in the log.")
        }
        let position = try journalErrors { () throws(JournalError) in
            try journal.append(
                body.span,
                count: UInt32(batch.entryCount),
                at: microseconds
            )
        }
        try checkpointWork.add(body, at: position)
        return position
    }
}
