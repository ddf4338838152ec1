/// A bounded k-way merge of the stripes' entries, and its working memory.
///
/// A heap has the next entry of each stripe. A stripe whose entries run out is asked for more. See
/// Knuth, "Sorting and Searching", 5.4.1.
struct PageMerge: Sendable {
    /// The entries of a stripe that the merge has not taken: a range of `entries`.
    struct Run: Sendable {
        var next: Int
        var end: Int
        /// Whether the stripe has no entry behind its run.
        var isLast: Bool

        /// Whether the merge has taken all entries, and the stripe has more.
        var isUsedUp: Bool { next == end && !isLast }
    }

    /// A stripe with a next entry, and the parts of its key that nearly always decide.
    struct Head: Sendable {
        var primary: UInt64
        var secondary: UInt64
        var run: Int
    }

    /// The entries of all stripes, run by run.
    var entries: [MergeEntry] = []
    /// The runs by stripe.
    var runs: [Run] = []
    /// The stripes with a next entry; the root has the first entry of the walk.
    var heap: [Head] = []
    /// Whether the walk runs against the order of the keys.
    var isDescending = false
    /// The chosen entries, in the order of the walk.
    var chosen: [MergeEntry] = []
    /// The full titles that ties asked for.
    var titles: [UInt8] = []
    /// The counts of all stripes together.
    var summary = WalkSummary()

    /// Removes all entries and keeps the memory.
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

    /// Whether one entry precedes another in the order of the list; nil where titles decide that are
    /// not fetched yet.
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
    func hasTiesOfTitles(_ kind: KeyKind) -> Bool {
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
