package import FeedAccounts
internal import FeedConcurrency
package import FeedJournal
package import FeedLog
package import FeedRanking

/// A data directory that a start has recovered, for one thread, before there are others.
package struct RecoveredState: ~Copyable {
    package let summary: RecoverySummary
    package let journal: SegmentJournal
    /// The database, and the records that only the journal has in the memtable.
    package var checkpointWork: CheckpointWork
    /// Empty logs, whose open commit batch is the journal's next record.
    package let logs: ChangeLogs

    /// Puts the state of a directory, made where it is new, into an empty store, of no use where this throws,
    /// and begins a run.
    ///
    /// `channels` takes a channel, then its outcomes. `onFirstEntry` is called once for each commit batch, by
    /// the loop that logs its first log entry.
    package init(
        _ directory: StateDirectory,
        into store: FeedStore,
        channels: @escaping (LogEntry) -> Void,
        accounts: (AccountsState) -> Void = { _ in },
        progress: @escaping (RecoveryProgress) -> Void = { _ in },
        onFirstEntry: @escaping @Sendable () -> Void = {}
    ) throws(StateStartError) {
        var summary = RecoverySummary()
        summary.installed = try directory.finishInstall()
        let hadBallast = try directory.names(in: ".").contains(SegmentJournal.ballastName)
        let database = try directory.database(&summary)
        let recovery = StoreRecovery(store: store, channels: channels, progress: progress)
        // What a checkpoint would stumble over later is refused now, in words.
        try startErrors { () throws(StorageError) in
            try database.checkingPages { () throws(StorageError) in try recovery.load(database) }
        }
        let journal = try directory.journal(database, &summary, progress)
        summary.checkpointedDamage = journal.checkpointedDamage?.note(last: journal.last.number)
        var checkpointWork = CheckpointWork(
            database,
            checkpointByteCount: directory.options.checkpointByteCount
        )
        try startErrors { () throws(StorageError) in
            try recovery.replay(journal, into: &checkpointWork, &summary)
        }
        let foundAccounts = recovery.accounts.state
        accounts(foundAccounts)
        if foundAccounts.accounts.contains(where: \.isDeleted) {
            checkpointWork.erasedRecord = database.meta.checkpointed.number
        }
        let counters = try directory.beginRun(store, foundAccounts, database, journal: journal)
        summary.skippedAccountID = database.skippedAccountID
        let logs = ChangeLogs(
            count: directory.options.logCount,
            firstBatch: journal.last.number + 1,
            onFirstEntry: onFirstEntry
        )
        let found = journal.last
        summary.last = found
        // A node of a cluster begins as one that follows, and logs nothing by itself.
        if directory.options.replica == nil {
            let now = directory.options.unixMicroseconds()
            summary.clockStep = try directory.noteClock(now, journal)
            do throws(StorageError) {
                summary.last = try Self.commit(
                    counters,
                    logs,
                    journal,
                    checkpointWork: &checkpointWork,
                    at: now
                )
            } catch {
                throw error.isOutOfSpace ? directory.full() : .storage(error)
            }
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

    private static func commit(
        _ counters: LogEntry,
        _ logs: ChangeLogs,
        _ journal: SegmentJournal,
        checkpointWork: inout CheckpointWork,
        at microseconds: UInt64
    ) throws(StorageError) -> JournalPosition {
        logs[0].transaction { logs[0].append(counters) }
        var body: [UInt8] = []
        let chain = checkpointWork.chain
        guard let batch = logs.takeBatch(into: &body, after: chain.headByteCount) else {
            preconditionFailure("The counters wait in the log.")
        }
        let time = journal.recordTime(at: microseconds)
        chain.seal(&body, entryCount: batch.entryCount, at: time)
        let count = UInt32(batch.entryCount)
        let position = try journal.append(body.span, count: count, at: microseconds)
        try checkpointWork.add(body, at: position)
        return position
    }
}

package struct RecoverySummary: Sendable, Equatable {
    package var isNew = false
    /// The record of the state of another node that has taken the place of the directory's own.
    package var installed: UInt64?
    /// The records of the journal that were replayed, and the log entries in them.
    package var recordCount: UInt64 = 0
    package var entryCount: UInt64 = 0
    package var last = JournalPosition.start
    /// The last record that was left when a loss was accepted, which made the instance a new one.
    package var acceptedLoss: UInt64?
    /// Damage in records of the journal that `state.db` has already, in words; nil where there is none.
    package var checkpointedDamage: String?
    package var quarantined: [String] = []
    /// How far the clock is from the last record that was found, where that is more than five minutes.
    package var clockStep: ClockSteps.Step?
    /// The highest account number that was skipped: no account gets it or one below it; 0 where none was.
    package var skippedAccountID: UInt64 = 0
    /// Whether the disk was so full that the ballast was given up, and is still.
    package var gaveUpBallast = false
}

package struct RecoveryProgress: Equatable, Sendable {
    package enum Step: String, Sendable {
        case loading
        case checking
        case replaying
    }

    package var step: Step
    /// How much of it is done: rows, bytes or records.
    package var completed: UInt64
    package var total: UInt64
}

/// Puts a store together from a data directory: the rows of `state.db`, then the records of the
/// journal after them.
struct StoreRecovery {
    let store: FeedStore
    let accounts = AccountsRecovery()
    let channels: (LogEntry) -> Void
    var progress: (RecoveryProgress) -> Void = { _ in }

    func load(_ database: StateDatabase) throws(StorageError) {
        try database.load(into: store, accounts: accounts, channels: restore) { rowCount, total in
            progress(RecoveryProgress(step: .loading, completed: rowCount, total: total))
        }
    }

    /// Applies the records after the checkpoint, and adds them to the memtable of the next one.
    func replay(
        _ journal: any Journal,
        into work: inout CheckpointWork,
        _ summary: inout RecoverySummary
    ) throws(StorageError) {
        let first = work.database.meta.checkpointed.number
        let total = journal.last.number - min(first, journal.last.number)
        var replay = Replay(
            store: store,
            accounts: accounts,
            after: work.chain,
            channels: channels
        )
        let records = Transferred(journal)
        let source: Replay.Source = { (body) throws(StorageError) in
            try records.value.replay(after: first, body)
        }
        try replay.run(source, into: &work) { batch in
            summary.entryCount += batch.entryCount
            guard batch.endedByteCount != nil else { return }
            summary.recordCount += 1
            if summary.recordCount.isMultiple(of: 256) || summary.recordCount == total {
                let done = summary.recordCount
                progress(RecoveryProgress(step: .replaying, completed: done, total: total))
            }
        }
    }

    private func restore(_ channel: ChannelState, _ outcomes: [ChannelOutcome]) {
        channels(.channel(channel))
        for outcome in outcomes { channels(.outcome(outcome)) }
    }
}
