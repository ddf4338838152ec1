internal import FeedConcurrency
internal import FeedJournal
internal import FeedLog
internal import FeedRanking

/// Puts a store together from a data directory: the rows of `state.db`, then the records of the
/// journal after them.
struct StoreRecovery {
    /// Where posts, feeds and voters go.
    let store: FeedStore
    /// Where accounts and sessions go.
    let accounts = AccountsRecovery()
    /// Where channels and their outcomes go.
    let channels: (LogEntry) -> Void
    /// Called now and then with how far it is.
    let progress: (RecoveryProgress) -> Void

    /// Checks and loads all rows.
    func load(_ database: StateDatabase) throws(StateError) {
        try database.load(into: store, accounts: accounts, channels: restore) { loaded in
            progress(
                RecoveryProgress(
                    step: .loading,
                    completed: loaded.rowCount,
                    total: loaded.totalRowCount
                )
            )
        }
    }

    /// Applies the records after the checkpoint, and adds them to the memtable of the next one.
    func replay(
        _ journal: any Journal,
        into work: inout CheckpointWork,
        _ summary: inout RecoverySummary
    ) throws(StateStartError) {
        let first = work.database.meta.checkpointed.number
        let total = journal.last.number - min(first, journal.last.number)
        var replay = Replay(store: store, accounts: accounts, channels: channels)
        let records = Transferred(journal)
        let source: Replay.Source = { (body) throws(JournalError) in
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
