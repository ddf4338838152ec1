internal import FeedConcurrency
internal import FeedJournal
internal import FeedLog
internal import FeedRanking

/// What is kept of the records that are replayed, beside the store.
protocol ReplayedRecords: ~Copyable {
    /// The newest counts of each post in them.
    var newestCounts: CountsTable { get }

    /// Takes counts.
    mutating func add(_ counts: [PostCounts])

    /// Takes an entry that is not counts.
    mutating func add(_ entry: LogEntry)

    /// Learns that all log entries of a record were taken.
    mutating func endRecord(_ byteCount: Int, at position: JournalPosition)
}

/// Puts the records of the journal after `state.db` into a store.
///
/// A thread reads the segments ahead, checks and decodes them. Most log entries are votes, and only
/// the newest counts of a post matter: the records keep them, and the store gets them once a post,
/// at the end. All other entries are applied in their order.
struct Replay {
    /// Gives the records in order, until the body says false.
    typealias Source = ((JournalRecord, Span<UInt8>) -> Bool) throws(JournalError) -> Void

    /// Where posts, feeds and voters go.
    let store: FeedStore
    /// Where channels and their outcomes go.
    let channels: (LogEntry) -> Void
    /// Where accounts and sessions go.
    let accounts: AccountsRecovery
    /// The outcomes of the record that is being applied.
    private var outcomes: [ChannelOutcome] = []

    /// A replay into a store that holds the rows of `state.db`.
    init(
        store: FeedStore,
        accounts: AccountsRecovery,
        channels: @escaping (LogEntry) -> Void
    ) {
        self.store = store
        self.accounts = accounts
        self.channels = channels
    }

    /// Applies all log entries, and adds them to the records; O(entries).
    ///
    /// - Parameters:
    ///   - source: Gives the records, on another thread.
    ///   - records: Takes all entries.
    ///   - applied: Called after each batch.
    /// - Throws: Why the records cannot be read or applied; the store is of no use then.
    mutating func run(
        _ source: @escaping Source,
        into records: inout some ReplayedRecords & ~Copyable,
        applied: (ReplayBatch) -> Void
    ) throws(StateStartError) {
        let store = store
        try ReadAhead<ReplayBatch, StateStartError>.run("feed-replay", refused: Self.refusal) {
            (ahead) throws(StateStartError) in
            try Self.read(source, store, ahead)
        } applying: { (batch) throws(StateStartError) in
            try apply(batch, &records)
            applied(batch)
        }
        try apply(records.newestCounts)
    }

    private static func refusal(_ error: ThreadStartError) -> StateStartError {
        .state(.thread(error))
    }

    /// The thread's work.
    private static func read(
        _ source: Source,
        _ store: FeedStore,
        _ ahead: ReadAhead<ReplayBatch, StateStartError>
    ) throws(StateStartError) {
        var failure: StateStartError?
        try journalErrors { () throws(JournalError) in
            try source { record, bytes in
                do throws(StateStartError) {
                    return try ReplayBatch.read(record, bytes, for: store, ahead.send)
                } catch {
                    failure = error
                    return false
                }
            }
        }
        if let failure { throw failure }
    }

    /// Applies a batch; the outcomes of a record come last.
    ///
    /// The outcome of a call that changed nothing has no revision to order it. So in the record it
    /// may stand before the entry of its channel, which another loop has logged.
    private mutating func apply(
        _ batch: ReplayBatch,
        _ records: inout some ReplayedRecords & ~Copyable
    ) throws(StateStartError) {
        records.add(batch.counts)
        for entry in batch.entries {
            if case .ballot(let counts, _, _) = entry { store.prefetch(counts.id) }
        }
        for entry in batch.entries {
            records.add(entry)
            switch entry {
            case .channel: channels(entry)
            case .outcome(let outcome): outcomes.append(outcome)
            case .account, .session, .sessionEnded, .sessionsEnded: accounts.apply(entry)
            default: try apply(entry, of: batch.position)
            }
        }
        guard let byteCount = batch.endedByteCount else { return }
        for outcome in outcomes { channels(.outcome(outcome)) }
        outcomes.removeAll(keepingCapacity: true)
        accounts.endRecord()
        records.endRecord(byteCount, at: batch.position)
    }

    /// Gives the store the newest counts of each post.
    ///
    /// The posts are far from one another in memory. Asked for together, they arrive together.
    private func apply(_ newest: CountsTable) throws(StateStartError) {
        var group: [PostCounts] = []
        func applyGroup() throws(StateStartError) {
            for counts in group { try apply(.counts(counts), of: .start) }
            group.removeAll(keepingCapacity: true)
        }
        try newest.visit { (counts) throws(StateStartError) in
            store.prefetch(counts.id)
            group.append(counts)
            if group.count == 64 { try applyGroup() }
        }
        try applyGroup()
    }

    private func apply(
        _ entry: LogEntry,
        of position: JournalPosition
    ) throws(StateStartError) {
        do throws(RecoveryError) {
            try store.apply(entry)
        } catch {
            throw .recovery(record: position.number, error)
        }
    }
}

/// A start adds the records that it replays to the memtable of its first checkpoint.
extension CheckpointWork: ReplayedRecords {
    var newestCounts: CountsTable { memtable.counts }

    mutating func add(_ counts: [PostCounts]) { memtable.add(counts) }

    mutating func add(_ entry: LogEntry) { memtable.add(entry) }

    mutating func endRecord(_ byteCount: Int, at position: JournalPosition) {
        memtable.endRecord(at: position)
        countRecord(byteCount)
    }
}
