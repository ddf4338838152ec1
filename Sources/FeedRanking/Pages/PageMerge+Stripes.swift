extension PageMerge {
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

    /// A stripe's part of a walk.
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
