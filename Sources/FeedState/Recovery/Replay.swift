internal import FeedConcurrency
internal import FeedJournal
internal import FeedLog
internal import FeedRanking

/// What is kept of the records that are replayed, beside the store.
protocol ReplayedRecords: ~Copyable {
    var newestCounts: CountsTable { get }

    mutating func add(_ counts: [PostCounts])

    /// Takes an entry that is not counts.
    mutating func add(_ entry: LogEntry)

    /// Learns that all log entries of a record were taken, and of the chain up to it.
    mutating func endRecord(_ byteCount: Int, at position: JournalPosition, _ chain: RecordChain)
}

/// Puts the records of the journal after `state.db` into a store.
///
/// A thread reads the segments ahead, checks and decodes them. Most log entries are votes, and only
/// the newest counts of a post matter: the records keep them, and the store gets them once a post,
/// at the end. All other entries are applied in their order.
struct Replay {
    /// Gives the records in order, until the body says false.
    typealias Source = ((JournalRecord, Span<UInt8>) -> Bool) throws(StorageError) -> Void

    let store: FeedStore
    let channels: (LogEntry) -> Void
    let accounts: AccountsRecovery
    /// The records before the first one.
    private let chain: RecordChain
    private var outcomes: [ChannelOutcome] = []
    /// The channels that the record evicts.
    private var evictions: [LogEntry] = []

    init(
        store: FeedStore,
        accounts: AccountsRecovery,
        after chain: RecordChain,
        channels: @escaping (LogEntry) -> Void
    ) {
        self.chain = chain
        self.store = store
        self.accounts = accounts
        self.channels = channels
    }

    /// Applies all log entries of the records that a source gives, on another thread, and adds them to the
    /// records; O(entries).
    ///
    /// Where this throws, the store is of no use.
    mutating func run(
        _ source: @escaping Source,
        into records: inout some ReplayedRecords & ~Copyable,
        applied: (ReplayBatch) -> Void
    ) throws(StorageError) {
        let (store, chain) = (store, chain)
        try ReadAhead<ReplayBatch, StorageError>.run("feed-replay", refused: StorageError.thread) {
            (ahead) throws(StorageError) in
            try Self.read(source, store, after: chain, ahead)
        } applying: { (batch) throws(StorageError) in
            try apply(batch, &records)
            applied(batch)
        }
        try apply(records.newestCounts)
    }

    private static func read(
        _ source: Source,
        _ store: FeedStore,
        after chain: RecordChain,
        _ ahead: ReadAhead<ReplayBatch, StorageError>
    ) throws(StorageError) {
        var failure: StorageError?
        var chain = chain
        try source { record, bytes in
            do throws(StorageError) {
                return try ReplayBatch.read(record, bytes, &chain, for: store, ahead.send)
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
    }

    /// Applies a batch; the outcomes of a record come last, and then the channels that it evicts.
    ///
    /// The outcome of a call that changed nothing has no revision to order it. So in the record it
    /// may stand before the entry of its channel, which another loop has logged. So may the eviction of
    /// the channel, which was logged after all else of it.
    private mutating func apply(
        _ batch: ReplayBatch,
        _ records: inout some ReplayedRecords & ~Copyable
    ) throws(StorageError) {
        records.add(batch.counts)
        for entry in batch.entries {
            if case .ballot(let counts, _, _) = entry { store.prefetch(counts.id) }
        }
        for entry in batch.entries {
            records.add(entry)
            switch entry {
            case .channel: channels(entry)
            case .outcome(let outcome): outcomes.append(outcome)
            case .evictedChannel: evictions.append(entry)
            case .account, .session, .sessionEnded, .sessionsEnded: accounts.apply(entry)
            default: try apply(entry, of: batch.position)
            }
        }
        guard let byteCount = batch.endedByteCount else { return }
        for outcome in outcomes { channels(.outcome(outcome)) }
        outcomes.removeAll(keepingCapacity: true)
        for eviction in evictions { channels(eviction) }
        evictions.removeAll(keepingCapacity: true)
        accounts.endRecord()
        records.endRecord(byteCount, at: batch.position, batch.chain)
    }

    /// Gives the store the newest counts of each post.
    ///
    /// The posts are far from one another in memory. Asked for together, they arrive together.
    private func apply(_ newest: CountsTable) throws(StorageError) {
        var group: [PostCounts] = []
        func applyGroup() throws(StorageError) {
            for counts in group { try apply(.counts(counts), of: .start) }
            group.removeAll(keepingCapacity: true)
        }
        try newest.visit { (counts) throws(StorageError) in
            store.prefetch(counts.id)
            group.append(counts)
            if group.count == 64 { try applyGroup() }
        }
        try applyGroup()
    }

    private func apply(_ entry: LogEntry, of position: JournalPosition) throws(StorageError) {
        do throws(RecoveryError) {
            try store.apply(entry)
        } catch {
            throw .brokenRecord(position.number, reason: "applied: \(error)")
        }
    }
}

/// A start adds the records that it replays to the memtable of its first checkpoint.
extension CheckpointWork: ReplayedRecords {
    var newestCounts: CountsTable { memtable.counts }

    mutating func add(_ counts: [PostCounts]) { memtable.add(counts) }

    mutating func add(_ entry: LogEntry) { memtable.add(entry) }

    mutating func endRecord(_ byteCount: Int, at position: JournalPosition, _ chain: RecordChain) {
        self.chain = chain
        memtable.endRecord(at: position)
        countRecord(byteCount)
    }
}

/// Some log entries of one record, read and decoded ahead of the thread that applies them.
struct ReplayBatch: Sendable {
    /// The most counts and other log entries in a batch, and about how many bytes of texts it has at most.
    private static let maximumCountsCount = 4096
    private static let maximumEntryCount = 256
    private static let maximumTextByteCount = 1 << 20

    let position: JournalPosition
    /// The counts of posts, whose values were checked.
    private(set) var counts: [PostCounts] = []
    private(set) var entries: [LogEntry] = []
    private var textByteCount = 0
    /// The bytes of the record's body, in its last batch; nil in the others.
    private(set) var endedByteCount: Int?
    /// The records up to this one.
    let chain: RecordChain

    private init(position: JournalPosition, _ chain: RecordChain) {
        self.position = position
        self.chain = chain
        counts.reserveCapacity(Self.maximumCountsCount)
    }

    /// Reads the record that continues a chain, and calls `send` with its batches until that says
    /// false, which it says too.
    ///
    /// What cannot be read or cannot be is thrown, after all before it was sent.
    static func read(
        _ record: JournalRecord,
        _ body: borrowing Span<UInt8>,
        _ chain: inout RecordChain,
        for store: FeedStore,
        _ send: (ReplayBatch) -> Bool
    ) throws(StorageError) -> Bool {
        let head = try headErrors { () throws(RecordHeadError) in
            try chain.take(body, record: record.position.number)
        }
        var batch = ReplayBatch(position: record.position, chain)
        do throws(StorageError) {
            let record = RecordEntries(of: record.position.number, head)
            let wasRead = try record.read(body) { (entry) throws(StorageError) in
                try batch.append(entry, for: store)
                guard batch.isFull else { return true }
                guard send(batch) else { return false }
                batch = ReplayBatch(position: batch.position, batch.chain)
                return true
            }
            guard wasRead else { return false }
        } catch {
            _ = send(batch)
            throw error
        }
        batch.endedByteCount = body.count
        return send(batch)
    }

    /// How many log entries it has, counts among them.
    var entryCount: UInt64 { UInt64(counts.count + entries.count) }

    private var isFull: Bool {
        counts.count == Self.maximumCountsCount || entries.count == Self.maximumEntryCount
            || textByteCount >= Self.maximumTextByteCount
    }

    @inline(__always)
    private mutating func append(_ entry: LogEntry, for store: FeedStore) throws(StorageError) {
        guard case .counts(let news) = entry else {
            if case .post(let post) = entry { textByteCount += post.content.textByteCount }
            entries.append(entry)
            return
        }
        do throws(RecoveryError) {
            try store.check(news)
        } catch {
            throw .brokenRecord(position.number, reason: "applied: \(error)")
        }
        counts.append(news)
    }
}

/// The log entries of one record, behind its head.
struct RecordEntries {
    private let number: UInt64
    private let head: RecordHead?

    init(of number: UInt64, _ head: RecordHead?) {
        self.number = number
        self.head = head
    }

    /// Decodes the entries of a record in their order, until `take` says false, which it says too.
    ///
    /// What cannot be read is thrown after all before it was taken. O(bytes), with a copy of them.
    @inline(__always)
    func read(
        _ body: borrowing Span<UInt8>,
        _ take: (LogEntry) throws(StorageError) -> Bool
    ) throws(StorageError) -> Bool {
        let entries = body.extracting(droppingFirst: head == nil ? 0 : RecordHead.byteCount)
        var count: UInt64 = 0
        var reader = try decoding { () throws(LogEntryError) in try LogEntryReader(entries) }
        func next() throws(StorageError) -> LogEntry? {
            try decoding { () throws(LogEntryError) in try reader.next() }
        }
        while let entry = try next() {
            count += 1
            guard try take(entry) else { return false }
        }
        if let head, head.entryCount != count {
            throw .head(.otherCount(record: number, found: count, expected: head.entryCount))
        }
        return true
    }

    @inline(__always)
    private func decoding<Result: ~Copyable>(
        _ body: () throws(LogEntryError) -> Result
    ) throws(StorageError) -> Result {
        do {
            return try body()
        } catch {
            throw .brokenRecord(number, reason: "read: \(error)")
        }
    }
}
