import FeedConcurrency

/// The snapshots of all lists, shared by all callers.
///
/// A list gets at most one new snapshot in `RankingLimits.snapshotInterval`, and one caller takes it
/// while the others wait for it. A snapshot is kept for `RankingLimits.snapshotLifetime` after its
/// last use. Beyond the budget those that were used least recently are dropped before that.
struct SnapshotTable: ~Copyable, Sendable {
    /// What a caller without a page token gets.
    enum Admission {
        /// This snapshot is new enough.
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

    /// How many snapshots there are, and their bytes.
    var usage: (count: Int, byteCount: Int) {
        state.withLock { ($0.kept.count, $0.byteCount) }
    }

    /// The snapshot of a page token; nil where it is dropped, or is of another list.
    func snapshot(_ id: UInt64, of list: ListSnapshot.List, now: MonotonicInstant) -> ListSnapshot?
    {
        state.withLock { state in
            state.use(id, of: list, now)
        }
    }

    /// What a caller without a page token gets.
    ///
    /// - Parameters:
    ///   - list: The list.
    ///   - needed: The revision that the snapshot must have at least.
    ///   - revision: The store's revision: a snapshot of it is as good as a new one, except of a
    ///     window, which posts leave by age.
    ///   - now: The time.
    /// - Returns: The snapshot, or what the caller does instead.
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
            state.lists[list] = ListState(
                newest: known.newest,
                takenAt: known.takenAt,
                isTaking: true
            )
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
    func abandon(_ list: ListSnapshot.List) {
        state.withLock { $0.lists[list]?.isTaking = false }
    }

    /// Drops what nobody has used for the lifetime; O(snapshots).
    func expire(now: MonotonicInstant) {
        state.withLock { state in
            for (id, kept) in state.kept
            where now.duration(since: kept.lastUse) >= RankingLimits.snapshotLifetime {
                state.drop(id)
            }
            state.lists = state.lists.filter { _, list in
                list.newest != nil || list.isTaking
            }
        }
    }
}

extension SnapshotTable.State {
    /// Uses a snapshot.
    fileprivate mutating func use(
        _ id: UInt64,
        of list: ListSnapshot.List,
        _ now: MonotonicInstant
    ) -> ListSnapshot? {
        guard let snapshot = kept[id]?.snapshot, snapshot.list == list else { return nil }
        kept[id]?.lastUse = now
        return snapshot
    }

    /// Drops the least recently used snapshots until the others fit; O(snapshots) each.
    fileprivate mutating func dropUnused(byteLimit: Int) {
        while byteCount > byteLimit,
            let oldest = kept.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            drop(oldest.key)
        }
    }

    fileprivate mutating func drop(_ id: UInt64) {
        guard let snapshot = kept.removeValue(forKey: id)?.snapshot else { return }
        byteCount -= snapshot.byteCount
        if lists[snapshot.list]?.newest == id { lists[snapshot.list]?.newest = nil }
    }
}
