package import FeedConcurrency

/// Snapshots of lists, from which stable pages are read.
extension FeedStore {
    /// How a page is read.
    enum PageSource {
        case live
        case snapshot(ListSnapshot)
        /// The allowance ends before the snapshot is taken: call again in a later loop iteration.
        case again
        /// Another caller is taking the snapshot: call again in a later loop iteration.
        case wait
    }

    /// How many snapshots there are, and their bytes.
    package var snapshotUsage: (count: Int, byteCount: Int) { snapshots.usage }

    /// Drops snapshots that nobody has used for long; O(snapshots).
    package func expireSnapshots(now: MonotonicInstant) { snapshots.expire(now: now) }

    /// Finds the snapshot of a page, or takes one.
    func source(
        of query: PageQuery,
        _ id: ListID,
        _ page: inout PostPage,
        _ allowance: inout RefreshAllowance
    ) -> PageSource {
        let list = ListSnapshot.List(feed: query.feed, order: query.order, window: query.window)
        if case .cursor(let cursor) = query.start {
            guard let place = cursor.snapshot,
                let snapshot = snapshots.snapshot(place.id, of: list, now: query.now),
                snapshot.revision >= query.minimumRevision
            else { return .live }
            return .snapshot(snapshot)
        }
        guard case .stable(let needed) = query.stability else { return .live }
        if case .newerThan = query.start { return .live }
        switch snapshots.admit(to: list, needing: needed, at: revision, now: query.now) {
        case .join(let snapshot): return .snapshot(snapshot)
        case .none: return .live
        case .wait: return .wait
        case .take(let number):
            guard let snapshot = snapshot(number, of: list, id, by: &page.merge, &allowance) else {
                snapshots.abandon(list)
                return .again
            }
            snapshots.finish(snapshot, takenAt: query.now)
            return .snapshot(snapshot)
        }
    }

    /// Takes a snapshot of a list; nil when the allowance is used up.
    private func snapshot(
        _ number: UInt64,
        of list: ListSnapshot.List,
        _ id: ListID,
        by merge: inout PageMerge,
        _ allowance: inout RefreshAllowance
    ) -> ListSnapshot? {
        // Both before the first stripe: the stripes have every change of this revision, and no post
        // that they miss has an earlier time.
        let revision = self.revision
        let time = clock.now()
        let walk = ListWalk(
            list: id,
            isDescending: list.order == .old,
            start: .end,
            limit: RankingLimits.snapshotPostCount
        )
        guard merge.runAtOnce(walk, stripes, &allowance) else { return nil }
        let entries = merge.chosen.map {
            ListSnapshot.Entry(primary: $0.primary, secondary: $0.secondary, id: $0.id)
        }
        let newest = list.order == .new ? merge.chosen.first : nil
        return ListSnapshot(
            id: number,
            list: list,
            revision: revision,
            entries: entries,
            postCount: merge.summary.postCount,
            refreshPlace: .earlier(newest.map { ListPosition($0, title: []) }, time: time)
        )
    }
}
