internal import FeedJournal
internal import FeedRanking

/// Some effects of one record, read and decoded ahead of the thread that applies them.
struct ReplayBatch: Sendable {
    /// How many counts, how many other effects and about how many bytes of texts a batch has at most.
    private static let maximumCountsCount = 4096
    private static let maximumEffectCount = 256
    private static let maximumTextByteCount = 1 << 20

    /// The record that the effects are of.
    let position: JournalPosition
    /// The counts of posts, whose values were checked.
    private(set) var counts: [PostCounts] = []
    /// The other effects, in their order.
    private(set) var effects: [Effect] = []
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
            var reader = try effectErrors(record) { () throws(EffectError) in
                try EffectReader(body)
            }
            func next() throws(StateStartError) -> Effect? {
                try effectErrors(record) { () throws(EffectError) in try reader.next() }
            }
            while let effect = try next() {
                try batch.append(effect, for: store)
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

    /// How many effects it has.
    var effectCount: UInt64 { UInt64(counts.count + effects.count) }

    private var isFull: Bool {
        counts.count == Self.maximumCountsCount || effects.count == Self.maximumEffectCount
            || textByteCount >= Self.maximumTextByteCount
    }

    @inline(__always)
    private mutating func append(
        _ effect: Effect,
        for store: FeedStore
    ) throws(StateStartError) {
        guard case .counts(let news) = effect else {
            if case .post(let post) = effect { textByteCount += post.content.byteCount }
            effects.append(effect)
            return
        }
        do throws(RecoveryError) {
            try store.check(news)
        } catch {
            throw .recovery(sequence: position.sequence, error)
        }
        counts.append(news)
    }

    @inline(__always)
    private static func effectErrors<Result: ~Copyable>(
        _ record: JournalRecord,
        _ body: () throws(EffectError) -> Result
    ) throws(StateStartError) -> Result {
        do {
            return try body()
        } catch {
            throw .effects(sequence: record.position.sequence, error)
        }
    }
}
