internal import FeedJournal
internal import FeedLog
internal import FeedRanking

/// Some log entries of one record, read and decoded ahead of the thread that applies them.
struct ReplayBatch: Sendable {
    /// The most counts and other log entries in a batch, and about how many bytes of texts it has
    /// at most.
    private static let maximumCountsCount = 4096
    private static let maximumEntryCount = 256
    private static let maximumTextByteCount = 1 << 20

    /// The record of the log entries.
    let position: JournalPosition
    /// The counts of posts, whose values were checked.
    private(set) var counts: [PostCounts] = []
    /// The other entries, in their order.
    private(set) var entries: [LogEntry] = []
    private var textByteCount = 0
    /// The bytes of the record's body, in its last batch; nil in the others.
    private(set) var endedByteCount: Int?

    private init(position: JournalPosition) {
        self.position = position
        counts.reserveCapacity(Self.maximumCountsCount)
    }

    /// Reads a record, and calls `send` with its batches until that says false.
    ///
    /// What cannot be read or cannot be is thrown, after all before it was sent.
    ///
    /// - Returns: False where `send` said so.
    static func read(
        _ record: JournalRecord,
        _ body: borrowing Span<UInt8>,
        for store: FeedStore,
        _ send: (ReplayBatch) -> Bool
    ) throws(StateStartError) -> Bool {
        var batch = ReplayBatch(position: record.position)
        do throws(StateStartError) {
            var reader = try entryErrors(record) { () throws(LogEntryError) in
                try LogEntryReader(body)
            }
            func next() throws(StateStartError) -> LogEntry? {
                try entryErrors(record) { () throws(LogEntryError) in try reader.next() }
            }
            while let entry = try next() {
                try batch.append(entry, for: store)
                guard batch.isFull else { continue }
                guard send(batch) else { return false }
                batch = ReplayBatch(position: record.position)
            }
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
    private mutating func append(
        _ entry: LogEntry,
        for store: FeedStore
    ) throws(StateStartError) {
        guard case .counts(let news) = entry else {
            if case .post(let post) = entry { textByteCount += post.content.byteCount }
            entries.append(entry)
            return
        }
        do throws(RecoveryError) {
            try store.check(news)
        } catch {
            throw .recovery(record: position.number, error)
        }
        counts.append(news)
    }

    @inline(__always)
    private static func entryErrors<Result: ~Copyable>(
        _ record: JournalRecord,
        _ body: () throws(LogEntryError) -> Result
    ) throws(StateStartError) -> Result {
        do {
            return try body()
        } catch {
            throw .entries(record: record.position.number, error)
        }
    }
}
