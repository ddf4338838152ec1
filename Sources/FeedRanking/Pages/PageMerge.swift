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
    private var entries: [MergeEntry] = []
    /// The runs by stripe.
    private var runs: [Run] = []
    /// The stripes with a next entry; the root has the first entry of the walk.
    private var heap: [Head] = []
    private var isDescending = false
    var chosen: [MergeEntry] = []
    /// The full titles that ties asked for.
    private var titles: [UInt8] = []
    var summary = WalkSummary()

    /// The bytes of titles whose memory is kept for the next read.
    private static let keptTitleByteCount = 256 << 10

    private mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        runs.removeAll(keepingCapacity: true)
        heap.removeAll(keepingCapacity: true)
        chosen.removeAll(keepingCapacity: true)
        // Long titles may have needed much more than other reads do.
        titles.removeAll(keepingCapacity: titles.capacity <= Self.keptTitleByteCount)
        summary = WalkSummary()
    }

    private func head(_ run: Int) -> Head {
        let entry = entries[runs[run].next]
        return Head(primary: entry.primary, secondary: entry.secondary, run: run)
    }

    /// Whether one entry precedes another in the order of the list; nil where titles decide that are
    /// not fetched yet.
    private func precedes(_ left: MergeEntry, _ right: MergeEntry) -> Bool? {
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

    private func bytes(_ range: TextRange) -> ArraySlice<UInt8> {
        titles[Int(range.offset)..<Int(range.offset) + Int(range.count)]
    }

    /// Chooses the next entries of a walk over all stripes; false when the allowance is used up.
    ///
    /// O(stripes * log n + limit * log stripes) plus the refresh. Each stripe is asked for its
    /// share and a little more, and is asked again where that was not enough.
    mutating func run(
        _ walk: ListWalk,
        _ stripes: borrowing StripeSlab,
        _ allowance: inout RefreshAllowance
    ) -> Bool {
        let part = part(of: walk, stripes)
        guard collect(part, stripes, &allowance) else { return false }
        while chosen.count < walk.limit, let number = takeNext() {
            if runs[number].isUsedUp, chosen.count < walk.limit {
                guard refill(number, with: part, stripes, &allowance) else { return false }
            }
            restoreHeap(number, stripes)
        }
        return true
    }

    /// Chooses the first entries of a list, each stripe's as of one moment; false when the allowance
    /// is used up.
    ///
    /// A post never changes its stripe, so no post comes twice and none is missed, however many move
    /// meanwhile. A stripe that is asked for its share may have more of the first entries. All
    /// stripes are asked anew then, for as many entries as there may be.
    mutating func runAtOnce(
        _ walk: ListWalk,
        _ stripes: borrowing StripeSlab,
        _ allowance: inout RefreshAllowance
    ) -> Bool {
        for part in [part(of: walk, stripes), walk] {
            guard collect(part, stripes, &allowance) else { return false }
            var isShort = false
            while !isShort, chosen.count < walk.limit, let number = takeNext() {
                isShort = runs[number].isUsedUp && chosen.count < walk.limit
                restoreHeap(number, stripes)
            }
            if !isShort { break }
        }
        return true
    }

    private func part(of walk: ListWalk, _ stripes: borrowing StripeSlab) -> ListWalk {
        var part = walk
        part.limit = ListWalk.entryCount(ofWalk: walk.limit, stripeCount: stripes.count)
        return part
    }

    /// Collects a part of each stripe, one stripe at a time; false when the allowance is used up.
    private mutating func collect(
        _ part: ListWalk,
        _ stripes: borrowing StripeSlab,
        _ allowance: inout RefreshAllowance
    ) -> Bool {
        removeAll()
        isDescending = part.isDescending
        for number in 0..<stripes.count {
            let first = entries.count
            let summary = stripes.read(number, &allowance) { stripe, allowance in
                stripe.collect(part, into: &entries, &allowance)
            }
            guard let summary else { return false }
            self.summary.add(summary)
            let end = entries.count
            let isLast = end - first < part.limit
            runs.append(Run(next: first, end: end, isLast: isLast))
            if end > first { push(number, stripes) }
        }
        return true
    }

    /// Chooses the first of the entries that are left; returns its stripe.
    @inline(__always)
    private mutating func takeNext() -> Int? {
        guard let number = heap.first?.run else { return nil }
        chosen.append(entries[runs[number].next])
        runs[number].next += 1
        return number
    }

    /// Restores the heap after the root's stripe has lost its first entry.
    @inline(__always)
    private mutating func restoreHeap(_ number: Int, _ stripes: borrowing StripeSlab) {
        if runs[number].next == runs[number].end {
            heap[0] = heap[heap.count - 1]
            heap.removeLast()
        } else {
            heap[0] = head(number)
        }
        sink(stripes)
    }

    /// Asks a stripe for more entries behind the last entry of its run.
    private mutating func refill(
        _ number: Int,
        with walk: ListWalk,
        _ stripes: borrowing StripeSlab,
        _ allowance: inout RefreshAllowance
    ) -> Bool {
        var part = walk
        part.start = .entry(entries[runs[number].end - 1])
        let first = entries.count
        let summary = stripes.read(number, &allowance) { stripe, allowance in
            stripe.collect(part, into: &entries, &allowance)
        }
        guard summary != nil else { return false }
        self.summary.isShown = false
        runs[number].isLast = entries.count - first < part.limit
        // A post may come again if it has moved since its stripe was first asked.
        let taken = chosen.map(\.id)
        var kept = first
        for index in first..<entries.count where !taken.contains(entries[index].id) {
            entries[kept] = entries[index]
            kept += 1
        }
        entries.removeLast(entries.count - kept)
        runs[number].next = first
        runs[number].end = kept
        return true
    }

    private mutating func push(_ number: Int, _ stripes: borrowing StripeSlab) {
        var child = heap.count
        heap.append(head(number))
        while child > 0 {
            let parent = (child - 1) / 2
            let (left, right) = (heap[child], heap[parent])
            guard comesFirst(left, right, stripes) else { break }
            heap[parent] = left
            heap[child] = right
            child = parent
        }
    }

    private mutating func sink(_ stripes: borrowing StripeSlab) {
        guard let sinking = heap.first else { return }
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < heap.count else { break }
            var head = heap[child]
            if child + 1 < heap.count {
                let other = heap[child + 1]
                if comesFirst(other, head, stripes) {
                    child += 1
                    head = other
                }
            }
            guard comesFirst(head, sinking, stripes) else { break }
            heap[parent] = head
            parent = child
        }
        heap[parent] = sinking
    }

    /// Whether the walk meets the next entry of one run before the next entry of another.
    @inline(__always)
    private mutating func comesFirst(
        _ left: Head,
        _ right: Head,
        _ stripes: borrowing StripeSlab
    ) -> Bool {
        if left.primary != right.primary { return (left.primary < right.primary) != isDescending }
        if left.secondary != right.secondary {
            return (left.secondary < right.secondary) != isDescending
        }
        return comesFirstOnTie(left, right, stripes)
    }

    @inline(never)
    private mutating func comesFirstOnTie(
        _ left: Head,
        _ right: Head,
        _ stripes: borrowing StripeSlab
    ) -> Bool {
        let left = runs[left.run].next
        let right = runs[right.run].next
        var isBefore = precedes(entries[left], entries[right])
        if isBefore == nil {
            fetchTitle(left, stripes)
            fetchTitle(right, stripes)
            isBefore = precedes(entries[left], entries[right])
        }
        return isBefore != isDescending
    }

    /// Copies an entry's full title, or the part in its key where the post has changed.
    private mutating func fetchTitle(_ index: Int, _ stripes: borrowing StripeSlab) {
        guard entries[index].title == nil else { return }
        let entry = entries[index]
        let offset = UInt32(titles.count)
        stripes.withStripe(of: entry.id) { stripe in
            stripe.slots.appendTitle(of: entry, to: &titles, stripe.posts)
        }
        let count = UInt32(titles.count) - offset
        entries[index].title = TextRange(offset: offset, count: count)
    }
}
