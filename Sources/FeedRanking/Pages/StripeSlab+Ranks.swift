/// Places and ranks in the lists over all stripes.
extension StripeSlab {
    /// The place of a post in a list, and its feed; nil where the post is not live or not within
    /// the list's window.
    func place(of id: PostID, _ list: ListID) -> (position: ListPosition, feed: FeedID)? {
        withStripe(of: id) { stripe in
            guard let slot = stripe.liveSlot(id),
                list.hasTime(stripe.posts[slot].createTimeMilliseconds)
            else { return nil }
            let position = stripe.slots.position(of: slot, list.kind, stripe.posts)
            return (position, stripe.posts[slot].feed)
        }
    }

    /// The number of posts before a place of a list, and of all its posts; nil when the allowance is
    /// used up.
    func count(
        before position: ListPosition,
        _ list: ListID,
        _ allowance: inout RefreshAllowance
    ) -> WalkSummary? {
        var sum = WalkSummary()
        for number in 0..<count {
            let counted = read(number, &allowance) { stripe, allowance in
                stripe.countBefore(position, list, &allowance)
            }
            guard let counted else { return nil }
            sum.postCount += counted.postCount
            sum.skippedCount += counted.skippedCount
        }
        return sum
    }

    /// The place of an entry, with its full title where the title decides.
    func position(of entry: MergeEntry) -> ListPosition {
        guard RankKey.titleDecides(entry.secondary) else { return ListPosition(entry, title: []) }
        return withStripe(of: entry.id) { $0.slots.position(of: entry, $0.posts) }
    }

    /// The candidates of a selection in one stripe: ranks within the stripe's share of the list.
    private struct Candidates {
        var low: Int
        var high: Int

        var count: Int { max(high - low, 0) }
    }

    /// The place of the post at a rank of a list; nil when the allowance is used up.
    ///
    /// Each round takes a pivot from the stripe with the most candidates, counts the posts before
    /// it in all stripes, and keeps the side that has the rank. Every other pivot is the place of
    /// the rank under evenly spread keys. Ids spread the keys evenly, so a few rounds suffice.
    /// O(stripes² * log² n) at worst.
    func select(
        _ rank: UInt64,
        _ list: ListID,
        in order: Order,
        _ allowance: inout RefreshAllowance
    ) -> WalkStart? {
        var candidates: [Candidates] = []
        var total = 0
        for number in 0..<count {
            let count = read(number, &allowance) { stripe, allowance in
                stripe.refreshAll(list, &allowance)
            }
            guard let count else { return nil }
            candidates.append(Candidates(low: 0, high: count))
            total += count
        }
        guard rank <= UInt64(total) else { return .position(.behindAll(order), isIncluded: false) }
        let target = order == .old ? total - Int(rank) : Int(rank) - 1
        var last = ListPosition.behindAll(.top)
        // Writes in between may shift ranks; the bound ends the search in any case.
        for round in 0..<64 * count {
            guard let pivot = pivot(candidates, target, inRound: round, list) else { break }
            last = pivot.position
            var before = 0
            var counts: [Int] = []
            for number in 0..<count {
                let counted = read(number, &allowance) { stripe, allowance in
                    stripe.countBefore(pivot.position, list, &allowance)?.skippedCount
                }
                guard let counted else { return nil }
                counts.append(counted)
                before += counted
            }
            if before == target { break }
            for number in 0..<count {
                if before < target {
                    let low = number == pivot.stripe ? counts[number] + 1 : counts[number]
                    candidates[number].low = max(candidates[number].low, low)
                } else {
                    candidates[number].high = min(candidates[number].high, counts[number])
                }
            }
        }
        return .position(last, isIncluded: true)
    }

    /// A candidate of the stripe with the most candidates: the expected place of the target in even
    /// rounds, and the middle in odd rounds.
    private func pivot(
        _ candidates: [Candidates],
        _ target: Int,
        inRound round: Int,
        _ list: ListID
    ) -> (position: ListPosition, stripe: Int)? {
        var stripe = 0
        var lowSum = 0
        var countSum = 0
        for number in candidates.indices {
            lowSum += candidates[number].low
            countSum += candidates[number].count
            if candidates[number].count > candidates[stripe].count { stripe = number }
        }
        let (low, count) = (candidates[stripe].low, candidates[stripe].count)
        guard count > 0 else { return nil }
        var offset = count / 2
        if round % 2 == 0 {
            let share = Double(target - lowSum) / Double(countSum)
            offset = min(max(Int(share * Double(count)), 0), count - 1)
        }
        let found = withStripe(stripe) { stripe in
            stripe.position(atRank: low + offset, list)
        }
        guard let found else { return nil }
        return (found, stripe)
    }
}
