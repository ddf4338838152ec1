/// The deletions of a stripe that readers which keep a copy may still have to learn, for
/// `RankingLimits.tombstoneLifetime`.
///
/// The oldest are forgotten first. `knownSince` then rises: a reader that has not come so far can
/// no longer learn what it has missed, and begins a new copy.
struct Tombstones: ~Copyable {
    /// A post that was deleted.
    struct Tombstone: BitwiseCopyable, RevisionEntry {
        /// The revision of the deletion.
        var revision: UInt64
        /// The slot that the post had.
        var slot: UInt32
        /// The feed that the post was in; nil where recovery does not know it.
        var feed: FeedID?
        /// The time of the deletion, in Unix milliseconds.
        var time: Int64
    }

    /// The deletions in the order of their revisions, behind `first` forgotten ones.
    private var deletions: [Tombstone] = []
    private var first = 0
    /// Whether recovery has put deletions back in another order, or twice.
    private var isUnsorted = false
    /// Every later deletion is kept.
    private(set) var knownSince: UInt64 = 0

    /// No deletions.
    init() {}

    /// The deletions that are kept.
    var count: Int { deletions.count - first }

    /// Adds a deletion, and forgets the oldest above a limit; O(1) over many calls.
    mutating func append(_ deletion: Tombstone, limit: Int) {
        sort()
        deletions.append(deletion)
        expire(at: deletion.time)
        while count > limit { forgetFirst() }
    }

    /// Puts a deletion of an earlier run back; O(1).
    mutating func restore(_ deletion: Tombstone) {
        deletions.append(deletion)
        isUnsorted = true
    }

    /// Sorts what recovery has put back: a deletion may come from a row and again from the journal.
    private mutating func sort() {
        guard isUnsorted else { return }
        isUnsorted = false
        deletions.sort { $0.revision < $1.revision }
        var last: UInt64 = 0
        deletions.removeAll { deletion in
            defer { last = deletion.revision }
            return deletion.revision == last
        }
    }

    /// Forgets the deletions that are too old; O(1) over many calls.
    mutating func expire(at time: Int64) {
        sort()
        let oldest = time - RankingLimits.tombstoneLifetime
        while first < deletions.count, deletions[first].time < oldest { forgetFirst() }
        if first > deletions.count / 2 {
            deletions.removeFirst(first)
            first = 0
        }
    }

    private mutating func forgetFirst() {
        knownSince = deletions[first].revision
        first += 1
    }

    /// Appends the deletions of a range of revisions, in their order; O(log n + deletions).
    ///
    /// - Returns: The revision up to which none is left out.
    func collect(
        _ range: SyncRange,
        _ slots: SlotKeys,
        into changes: inout [SyncChange]
    ) -> UInt64 {
        range.collect(deletions, from: first, into: &changes) { deletion in
            guard range.has(deletion.feed) else { return nil }
            let id = slots.id(deletion.slot)
            return SyncChange(revision: deletion.revision, id: id, isDeletion: true)
        }
    }
}
