import Synchronization

/// Changes since a revision, for readers that keep a copy.
extension FeedStore {
    /// Reads the changes behind a position into a page: posts as they are now, and deleted ones.
    ///
    /// The revision is read before the first stripe. Each change up to it is in its stripe by the time
    /// that the stripe is locked, so a reader that has every change of the stripes up to a revision
    /// misses none. A post that changes while the page is read may come here and again later.
    ///
    /// Each stripe contributes a few changes. The page has those up to the revision that no stripe has
    /// more before, so it may have fewer than asked for. O(stripes + changes looked at), and O(n log n)
    /// where nobody has read changes for long.
    package func sync(
        _ query: SyncQuery,
        into page: inout PostPage,
        allowance: inout RefreshAllowance
    ) -> SyncOutcome {
        let end = revision
        let now = syncClock.now()
        var query = query
        var isReset = query.position.isStart || query.position.deletionsSince > end
        var changes: [SyncChange] = []
        while true {
            if isReset { query.position = SyncPosition(revision: 0, copyRevision: end) }
            changes.removeAll(keepingCapacity: true)
            guard let part = collect(query, to: end, at: now, into: &changes, &allowance) else {
                return .again
            }
            if isReset || part.deletionsKnownSince <= query.position.deletionsSince {
                let last = copyRows(of: &changes, query, through: part.end, into: &page)
                let outcome = SyncPage(
                    position: query.position.moved(to: last),
                    hasMore: last < end,
                    isReset: isReset
                )
                return .done(outcome)
            }
            isReset = true
        }
    }

    /// Gives up the orders of changes that nobody has read for long, and forgets old deletions;
    /// O(stripes + changed posts).
    package func expireSync() {
        let now = syncClock.now()
        for number in 0..<stripes.count {
            stripes.withStripe(number) { stripe in
                stripe.sync.dropIfIdle(at: now, &stripe.pass.posts)
                stripe.tombstones.expire(at: now)
            }
        }
    }

    /// The changes of all stripes behind a position, in no order; nil when the allowance is used up.
    private func collect(
        _ query: SyncQuery,
        to end: UInt64,
        at now: Int64,
        into changes: inout [SyncChange],
        _ allowance: inout RefreshAllowance
    ) -> Stripe.SyncPart? {
        let count = min(
            query.size,
            max(2 * query.size / stripes.count, RankingLimits.syncPartCount)
        )
        let range = SyncRange(
            feed: query.feed,
            start: query.position.revision,
            end: end,
            countLimit: count,
            scanLimit: max(count, RankingLimits.maximumScanCount / stripes.count)
        )
        var whole = Stripe.SyncPart(
            end: end,
            deletionsKnownSince: unknownDeletionsRevision.load(ordering: .relaxed)
        )
        for number in 0..<stripes.count {
            let part = stripes.withStripe(number) { stripe in
                stripe.collectChanges(
                    range,
                    deletionsSince: query.position.deletionsSince,
                    at: now,
                    into: &changes,
                    &allowance
                )
            }
            guard let part else { return nil }
            whole.end = min(whole.end, part.end)
            whole.deletionsKnownSince = max(whole.deletionsKnownSince, part.deletionsKnownSince)
        }
        return whole
    }

    /// Appends the rows of the changes up to a revision, in their order, until the page is full.
    ///
    /// A post that was deleted meanwhile is left out: its deletion is a later change.
    ///
    /// - Returns: The revision up to which no change is left out.
    private func copyRows(
        of changes: inout [SyncChange],
        _ query: SyncQuery,
        through end: UInt64,
        into page: inout PostPage
    ) -> UInt64 {
        changes.sort { $0.revision < $1.revision }
        var last = query.position.revision
        for (index, change) in changes.enumerated() {
            guard change.revision <= end else { return end }
            if index == query.size { return last }
            if change.isDeletion {
                page.appendDeletion(of: change.id, revision: change.revision)
            } else {
                let outcome = stripes.withStripe(of: change.id) { stripe in
                    page.appendLive(change.id, of: &stripe, query.voter, byteLimit: query.byteLimit)
                }
                if case .full = outcome { return last }
            }
            last = change.revision
        }
        return end
    }
}
