extension FeedStore {
    /// Chooses the next entries of a walk over all stripes; false when the budget is used up.
    ///
    /// O(stripes * log n + limit * log stripes) plus the refresh. Each stripe is asked for its
    /// share and a little more, and is asked again where that was not enough.
    func merge(
        _ walk: ListWalk,
        into merge: inout PageMerge,
        _ budget: inout RefreshBudget
    ) -> Bool {
        merge.removeAll()
        var part = walk
        part.limit = stripes.count == 1 ? walk.limit : 2 * walk.limit / stripes.count + 4
        for number in 0..<stripes.count {
            let first = merge.entries.count
            let summary = stripes.withStripe(number) { stripe in
                stripe.orders.collect(part, into: &merge.entries, &budget, &stripe.posts)
            }
            guard let summary else { return false }
            merge.summary.postCount += summary.postCount
            merge.summary.skippedCount += summary.skippedCount
            let end = merge.entries.count
            let isLast = end - first < part.limit
            merge.runs.append(PageMerge.Run(next: first, end: end, isLast: isLast))
            if end > first {
                push(number, walk, &merge)
            }
        }
        while merge.chosen.count < walk.limit, let number = merge.heap.first?.run {
            merge.chosen.append(merge.entries[merge.runs[number].next])
            merge.runs[number].next += 1
            if merge.runs[number].next == merge.runs[number].end, !merge.runs[number].isLast,
                merge.chosen.count < walk.limit
            {
                guard refill(number, part, &merge, &budget) else { return false }
            }
            if merge.runs[number].next == merge.runs[number].end {
                merge.heap[0] = merge.heap[merge.heap.count - 1]
                merge.heap.removeLast()
            } else {
                merge.heap[0] = merge.head(number)
            }
            sink(walk, &merge)
        }
        return true
    }

    /// Asks a stripe for more entries behind the last entry of its run.
    private func refill(
        _ number: Int,
        _ walk: ListWalk,
        _ merge: inout PageMerge,
        _ budget: inout RefreshBudget
    ) -> Bool {
        var part = walk
        part.start = .entry(merge.entries[merge.runs[number].end - 1])
        let first = merge.entries.count
        let summary = stripes.withStripe(number) { stripe in
            stripe.orders.collect(part, into: &merge.entries, &budget, &stripe.posts)
        }
        guard summary != nil else { return false }
        merge.runs[number].isLast = merge.entries.count - first < part.limit
        // A post may come again if it has moved since its stripe was first asked.
        let taken = merge.chosen.map(\.id)
        var kept = first
        for index in first..<merge.entries.count where !taken.contains(merge.entries[index].id) {
            merge.entries[kept] = merge.entries[index]
            kept += 1
        }
        merge.entries.removeLast(merge.entries.count - kept)
        merge.runs[number].next = first
        merge.runs[number].end = kept
        return true
    }

    private func push(_ number: Int, _ walk: ListWalk, _ merge: inout PageMerge) {
        var child = merge.heap.count
        merge.heap.append(merge.head(number))
        while child > 0 {
            let parent = (child - 1) / 2
            let (left, right) = (merge.heap[child], merge.heap[parent])
            guard comesFirst(left, right, walk, &merge) else { break }
            merge.heap[parent] = left
            merge.heap[child] = right
            child = parent
        }
    }

    private func sink(_ walk: ListWalk, _ merge: inout PageMerge) {
        guard let sinking = merge.heap.first else { return }
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < merge.heap.count else { break }
            var head = merge.heap[child]
            if child + 1 < merge.heap.count {
                let other = merge.heap[child + 1]
                if comesFirst(other, head, walk, &merge) {
                    child += 1
                    head = other
                }
            }
            guard comesFirst(head, sinking, walk, &merge) else { break }
            merge.heap[parent] = head
            parent = child
        }
        merge.heap[parent] = sinking
    }

    /// Whether the walk meets the next entry of one run before the next entry of another.
    @inline(__always)
    private func comesFirst(
        _ left: PageMerge.Head,
        _ right: PageMerge.Head,
        _ walk: ListWalk,
        _ merge: inout PageMerge
    ) -> Bool {
        if left.primary != right.primary {
            return (left.primary < right.primary) != walk.isDescending
        }
        if left.secondary != right.secondary {
            return (left.secondary < right.secondary) != walk.isDescending
        }
        return comesFirstOnTie(left, right, walk, &merge)
    }

    @inline(never)
    private func comesFirstOnTie(
        _ left: PageMerge.Head,
        _ right: PageMerge.Head,
        _ walk: ListWalk,
        _ merge: inout PageMerge
    ) -> Bool {
        let left = merge.runs[left.run].next
        let right = merge.runs[right.run].next
        var isBefore = merge.precedes(merge.entries[left], merge.entries[right])
        if isBefore == nil {
            fetchTitle(left, &merge)
            fetchTitle(right, &merge)
            isBefore = merge.precedes(merge.entries[left], merge.entries[right])
        }
        return isBefore != walk.isDescending
    }

    /// Copies an entry's full title, or the part in its key where the post has changed.
    private func fetchTitle(_ index: Int, _ merge: inout PageMerge) {
        guard merge.entries[index].title == nil else { return }
        let entry = merge.entries[index]
        let offset = UInt32(merge.titles.count)
        stripes.withStripe(stripeNumber(entry.id)) { stripe in
            stripe.orders.appendTitle(of: entry, to: &merge.titles, stripe.posts)
        }
        let count = UInt32(merge.titles.count) - offset
        merge.entries[index].title = TextRange(offset: offset, count: count)
    }
}
