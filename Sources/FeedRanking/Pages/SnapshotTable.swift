import FeedConcurrency
import FeedOrders

/// The snapshots of all lists, shared by all callers.
///
/// A list gets at most one new snapshot in `RankingLimits.snapshotInterval`, and one caller takes it
/// while the others wait for it. A snapshot is kept for `RankingLimits.snapshotLifetime` after its
/// last use. Beyond the budget those that were used least recently are dropped before that.
struct SnapshotTable: ~Copyable, Sendable {
    /// What a caller without a page token gets.
    enum Admission {
        case join(ListSnapshot)
        /// The caller takes a snapshot of this number, and then calls `finish` or `abandon`.
        case take(UInt64)
        /// Another caller is taking one: ask again in a later loop iteration.
        case wait
        /// The newest snapshot is too old for the caller, and too new for another one.
        case none
    }

    // These are not private: Swift 6.3 then fails to compile a debug build, where other files hold a
    // table.

    struct Kept {
        var snapshot: ListSnapshot
        var lastUse: MonotonicInstant
    }

    struct ListState {
        var newest: UInt64?
        var takenAt: MonotonicInstant?
        var isTaking = false
    }

    struct State {
        var kept: [UInt64: Kept] = [:]
        var lists: [ListSnapshot.List: ListState] = [:]
        var byteCount = 0
        var nextID: UInt64

        mutating func use(
            _ id: UInt64,
            of list: ListSnapshot.List,
            _ now: MonotonicInstant
        ) -> ListSnapshot? {
            guard let snapshot = kept[id]?.snapshot, snapshot.list == list else { return nil }
            kept[id]?.lastUse = now
            return snapshot
        }

        /// Drops the least recently used snapshots until the others fit; O(snapshots) each.
        mutating func dropUnused(byteLimit: Int) {
            while byteCount > byteLimit,
                let oldest = kept.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                drop(oldest.key)
            }
        }

        mutating func drop(_ id: UInt64) {
            guard let snapshot = kept.removeValue(forKey: id)?.snapshot else { return }
            byteCount -= snapshot.byteCount
            if lists[snapshot.list]?.newest == id { lists[snapshot.list]?.newest = nil }
        }
    }

    private let state: Lock<State>
    private let byteLimit: Int

    /// A table without snapshots.
    ///
    /// The numbers begin at random: a page token of before a restart finds no snapshot of now.
    init(
        byteLimit: Int = RankingLimits.maximumSnapshotByteCount,
        firstID: UInt64 = .random(in: 1...(1 << 62))
    ) {
        self.byteLimit = byteLimit
        state = Lock(State(nextID: firstID))
    }

    var usage: (count: Int, byteCount: Int) { state.withLock { ($0.kept.count, $0.byteCount) } }

    /// The snapshot of a page token; nil where it is dropped, or is of another list.
    func snapshot(_ id: UInt64, of list: ListSnapshot.List, now: MonotonicInstant) -> ListSnapshot?
    {
        state.withLock { state in state.use(id, of: list, now) }
    }

    /// What a caller without a page token gets that needs a revision at least.
    ///
    /// A snapshot of the store's revision is as good as a new one, except of a window, which posts leave by
    /// age.
    func admit(
        to list: ListSnapshot.List,
        needing needed: UInt64,
        at revision: UInt64,
        now: MonotonicInstant
    ) -> Admission {
        state.withLock { state in
            let known = state.lists[list] ?? ListState()
            let isRecent = known.takenAt.map { taken in
                now.duration(since: taken) < RankingLimits.snapshotInterval
            }
            if let newest = known.newest, let snapshot = state.kept[newest]?.snapshot,
                list.window == nil && snapshot.revision >= revision
                    || isRecent == true && snapshot.revision >= needed
            {
                return .join(state.use(newest, of: list, now) ?? snapshot)
            }
            if known.isTaking { return .wait }
            if isRecent == true { return .none }
            state.lists[list, default: ListState()].isTaking = true
            state.nextID += 1
            return .take(state.nextID)
        }
    }

    /// A snapshot was taken, which began at a time.
    func finish(_ snapshot: ListSnapshot, takenAt: MonotonicInstant) {
        state.withLock { state in
            state.lists[snapshot.list] = ListState(newest: snapshot.id, takenAt: takenAt)
            state.kept[snapshot.id] = Kept(snapshot: snapshot, lastUse: takenAt)
            state.byteCount += snapshot.byteCount
            state.dropUnused(byteLimit: byteLimit)
        }
    }

    /// A snapshot is not taken now; the next caller may.
    func abandon(_ list: ListSnapshot.List) { state.withLock { $0.lists[list]?.isTaking = false } }

    /// Drops what nobody has used for the lifetime; O(snapshots).
    func expire(now: MonotonicInstant) {
        state.withLock { state in
            for (id, kept) in state.kept
            where now.duration(since: kept.lastUse) >= RankingLimits.snapshotLifetime {
                state.drop(id)
            }
            state.lists = state.lists.filter { _, list in list.newest != nil || list.isTaking }
        }
    }
}

/// A list at a moment: the ids and the keys of its first posts, in order.
///
/// Rows of a page are read from the posts as they are now; only the order is of the moment.
final class ListSnapshot: Sendable {
    /// A post's id, and its key as it was.
    struct Entry: BitwiseCopyable, Sendable {
        var primary: UInt64
        var secondary: UInt64
        var id: PostID
    }

    struct List: Hashable, Sendable {
        var feed: FeedID?
        var order: Order
        var window: Window?
    }

    /// The number that page tokens name; no two snapshots have the same.
    let id: UInt64
    let list: List
    /// A revision that every change of the list's posts up to it is in the snapshot.
    let revision: UInt64
    let entries: [Entry]
    let postCount: Int
    /// The place in NEW from which a refresh of the list begins.
    let refreshPlace: ListPosition

    init(
        id: UInt64,
        list: List,
        revision: UInt64,
        entries: [Entry],
        postCount: Int,
        refreshPlace: ListPosition
    ) {
        self.id = id
        self.list = list
        self.revision = revision
        self.entries = entries
        self.postCount = postCount
        self.refreshPlace = refreshPlace
    }

    var isWhole: Bool { entries.count >= postCount }

    /// The bytes that the snapshot takes, its places in tables included.
    var byteCount: Int {
        RankingLimits.snapshotOverheadByteCount + entries.count * MemoryLayout<Entry>.stride
    }
}

extension MergeEntry {
    init(_ entry: ListSnapshot.Entry) {
        self.init(RankKey(primary: entry.primary, secondary: entry.secondary, slot: 0), entry.id)
    }
}

/// Reads a page from a snapshot: the posts as they are now, in the order of the snapshot.
struct SnapshotReader {
    private let query: PageQuery
    private let snapshot: ListSnapshot

    init(_ query: PageQuery, _ snapshot: ListSnapshot) {
        self.query = query
        self.snapshot = snapshot
    }

    /// Fills the page; false where the start of the page is not in the snapshot.
    ///
    /// O(page), and O(snapshot) for a page around a post or with a filter.
    func read(_ stripes: borrowing StripeSlab, into page: inout PostPage) -> Bool {
        var isBackwards = false
        let start: Int
        switch query.start {
        case .first: start = 0
        case .newerThan: return false
        case .rank(let rank):
            guard rank <= UInt64(snapshot.entries.count) else { return false }
            start = Int(max(rank, 1)) - 1
        case .around(let id):
            guard let place = snapshot.entries.firstIndex(where: { $0.id == id }) else {
                return false
            }
            start = max(place - query.size / 2, 0)
        case .cursor(let cursor):
            guard let index = cursor.snapshot?.index, Int(index) <= snapshot.entries.count else {
                return false
            }
            start = Int(index)
            isBackwards = cursor.direction == .before
        }
        page.removeAll()
        let passed =
            isBackwards ? readBack(from: start, stripes, &page) : read(from: start, stripes, &page)
        setCursors(passed, stripes, &page)
        page.snapshotRevision = snapshot.revision
        page.totalCount = UInt64(snapshot.postCount)
        if case .cursor = query.start { return true }
        page.refreshPlace = snapshot.refreshPlace
        return true
    }

    /// Copies rows from an entry on; returns the entries that the page has passed.
    private func read(
        from start: Int,
        _ stripes: borrowing StripeSlab,
        _ page: inout PostPage
    ) -> Range<Int> {
        prefetch(start..<min(start + query.size, snapshot.entries.count), stripes)
        var end = start
        while end < snapshot.entries.count, page.rows.count < query.size,
            copy(snapshot.entries[end].id, stripes, &page)
        {
            if page.rows.count == 1, page.firstRank == 0 { page.firstRank = UInt64(end) + 1 }
            end += 1
        }
        return start..<end
    }

    /// Copies rows before an entry, and puts them in order.
    private func readBack(
        from end: Int,
        _ stripes: borrowing StripeSlab,
        _ page: inout PostPage
    ) -> Range<Int> {
        prefetch(max(end - query.size, 0)..<end, stripes)
        var start = end
        var rowCount = 0
        while start > 0, rowCount < query.size, copy(snapshot.entries[start - 1].id, stripes, &page)
        {
            start -= 1
            if page.rows.count > rowCount { page.firstRank = UInt64(start) + 1 }
            rowCount = page.rows.count
        }
        page.rows.reverse()
        return start..<end
    }

    /// Copies a post if it is there and passes the filter; false where it is too large for the page.
    private func copy(
        _ id: PostID,
        _ stripes: borrowing StripeSlab,
        _ page: inout PostPage
    ) -> Bool {
        stripes.withStripe(of: id) { stripe in
            if query.filter.isNeeded(query.marks), let slot = stripe.liveSlot(id),
                !query.filter.passes(stripe.posts[slot], id, query.marks)
            {
                return true
            }
            let limit = query.byteLimit
            let outcome = page.appendLive(id, of: &stripe, query.voter, byteLimit: limit)
            if case .full = outcome { return false }
            return true
        }
    }

    private func prefetch(_ range: Range<Int>, _ stripes: borrowing StripeSlab) {
        for index in range { stripes.prefetch(snapshot.entries[index].id) }
    }

    /// Sets the cursors of a page; behind the last entry the list continues as it is then.
    private func setCursors(
        _ passed: Range<Int>,
        _ stripes: borrowing StripeSlab,
        _ page: inout PostPage
    ) {
        let count = snapshot.entries.count
        if page.firstRank == 0 { page.firstRank = UInt64(passed.lowerBound) + 1 }
        if passed.upperBound < count || !snapshot.isWhole, passed.upperBound > 0 {
            page.next = cursor(.after, beside: passed.upperBound - 1, stripes)
            let index = UInt32(passed.upperBound)
            page.next?.snapshot = index < count ? .init(id: snapshot.id, index: index) : nil
        }
        if passed.lowerBound > 0, passed.lowerBound < count {
            page.previous = cursor(.before, beside: passed.lowerBound, stripes)
            let index = UInt32(passed.lowerBound)
            page.previous?.snapshot = .init(id: snapshot.id, index: index)
        }
    }

    private func cursor(
        _ direction: PageCursor.Direction,
        beside index: Int,
        _ stripes: borrowing StripeSlab
    ) -> PageCursor {
        let position = stripes.position(of: MergeEntry(snapshot.entries[index]))
        return query.cursor(direction, beside: position, rank: UInt64(index) + 1)
    }
}
