/// The working memory of a page: what each stripe gave so far, and what the merge chose.
///
/// A bounded k-way merge: a heap of the stripes' next entries, refilled from a stripe that runs
/// out. See Knuth, "Sorting and Searching", 5.4.1.
struct PageMerge: Sendable {
    /// What a stripe gave and the merge has not taken: a range of `entries`.
    struct Run: Sendable {
        var next: Int
        var end: Int
        /// The stripe has nothing behind its run.
        var isLast: Bool
    }

    /// A stripe whose run goes on, beside what nearly always tells its next entry from others'.
    struct Head: Sendable {
        var primary: UInt64
        var secondary: UInt64
        var run: Int
    }

    /// Everything the stripes gave, run by run.
    var entries: [MergeEntry] = []
    /// By stripe.
    var runs: [Run] = []
    /// Stripes with a next entry, the first of the walk at the root.
    var heap: [Head] = []
    /// What the merge chose, in the order of the walk.
    var chosen: [MergeEntry] = []
    /// The full titles that ties asked for.
    var titles: [UInt8] = []
    /// The counts of all stripes together.
    var summary = WalkSummary()

    /// Forgets everything and keeps the memory.
    mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        runs.removeAll(keepingCapacity: true)
        heap.removeAll(keepingCapacity: true)
        chosen.removeAll(keepingCapacity: true)
        titles.removeAll(keepingCapacity: true)
        summary = WalkSummary()
    }

    /// The place of a run in the heap.
    func head(_ run: Int) -> Head {
        let entry = entries[runs[run].next]
        return Head(primary: entry.primary, secondary: entry.secondary, run: run)
    }

    /// Whether one entry comes before another in the order of the list; nil where only titles that
    /// are not here yet can tell.
    func precedes(_ left: MergeEntry, _ right: MergeEntry) -> Bool? {
        if left.primary != right.primary { return left.primary < right.primary }
        if left.secondary != right.secondary { return left.secondary < right.secondary }
        guard RankKey.titleDecides(left.secondary) else { return left.id < right.id }
        guard let leftTitle = left.title, let rightTitle = right.title else { return nil }
        let leftBytes = bytes(leftTitle)
        let rightBytes = bytes(rightTitle)
        if leftBytes == rightBytes { return left.id < right.id }
        return leftBytes.lexicographicallyPrecedes(rightBytes)
    }

    /// Whether whole titles decided between two neighbours of those chosen; O(chosen).
    func hasTiesOfTitles(_ kind: IndexKind) -> Bool {
        guard kind == .top else { return false }
        return chosen.indices.dropFirst().contains { index in
            let (left, right) = (chosen[index - 1], chosen[index])
            return left.primary == right.primary && left.secondary == right.secondary
                && RankKey.titleDecides(left.secondary)
        }
    }

    /// The bytes of a title that a tie asked for.
    func bytes(_ range: TextRange) -> ArraySlice<UInt8> {
        titles[Int(range.offset)..<Int(range.offset) + Int(range.count)]
    }
}
