import Synchronization

/// What the store of a follower has beyond the last whole record of the log.
///
/// A follower's one applying thread restores the entries of the leader's records, in the order of their
/// revisions, while other threads read. What `FeedStore.restore` needs for that:
///
/// - **The revision.** Entries raise `newest`, and `showRecord(at:)` moves it to `FeedStore.revision`, the
///   one that all readers load, on every machine: nothing is added to their way, or to a vote's. A page
///   that shows a part of a record carries the revision of the record before, so a sync or a watch from
///   there on has all of that record. No change of a later record has a revision up to that one.
/// - **Kept pages.** A change counts in `ChangeCounts` as a vote, an edit or a deletion does, under the
///   stripe's lock and before its revision is shown.
/// - **Sync.** The order of changes rises, as the entries do; restored votes are noted as others are.
///   Deletions keep to the limit, and are sorted as they come. All are known, so the floor stays.
/// - **Stale posts.** Restored votes make posts stale as others do; `refreshDueStripe(from:)` is the duty of
///   the event loops.
/// - **Marks.** No older marks come, so a set that became empty is forgotten. The steps, voters, feeds and
///   ballots are behind the locks that leaders take, and the posts' sums of RISING come with their counts.
/// - **Refresh tokens.** What no later post comes behind is told by the leader's clock, not by this
///   machine's (`CreationBound`).
/// - `lastID`, the counts of posts and of their bytes follow by an instant, as those of a leader do. Nobody
///   else writes them, so a load and a store do.
struct FollowedLog: ~Copyable, Sendable {
    private let isOn = Atomic<Bool>(false)
    /// The newest revision that was restored.
    private let newest = Atomic<UInt64>(0)
    /// The leader's clock as of the last whole record, in Unix milliseconds.
    private let recordTime = Atomic<Int64>(0)

    var isFollowing: Bool {
        @inline(__always) get { isOn.load(ordering: .relaxed) }
        nonmutating set { isOn.store(newValue, ordering: .relaxed) }
    }

    var revision: UInt64 { newest.load(ordering: .relaxed) }

    /// The highest id as of the last whole record, or as of one before `recordTime`.
    private let highestID = Atomic<UInt64>(0)

    /// What no post of a later record comes behind, imports and corrected times apart.
    ///
    /// The leader reads its clock for a record's head, then takes the record from all logs at once. A
    /// transaction of a later record begins after that, so its posts have no earlier times, and greater ids.
    var bound: CreationBound {
        let id = highestID.load(ordering: .acquiring)
        return CreationBound(time: recordTime.load(ordering: .relaxed), id: id)
    }

    func endRecord(at milliseconds: Int64, highestID id: UInt64) {
        let last = recordTime.load(ordering: .relaxed)
        recordTime.store(max(last, milliseconds), ordering: .relaxed)
        highestID.store(id, ordering: .releasing)
    }

    /// Only the applying thread calls this.
    func raise(_ revision: UInt64) {
        if revision > self.revision { newest.store(revision, ordering: .relaxed) }
    }
}

/// A follower's store: one thread applies the records of a log, and any thread may read.
extension FeedStore {
    /// Lets readers see no revision inside a record from now on; the store has all records so far.
    ///
    /// The time is the leader's as of the last of them, in Unix milliseconds.
    package func beginFollowing(at milliseconds: Int64) {
        followed.raise(revision)
        followed.endRecord(at: milliseconds, highestID: highestID)
        followed.isFollowing = true
    }

    /// Shows readers all entries that were restored: they are those of whole records, the last of which the
    /// leader made at a time; O(1).
    package func showRecord(at milliseconds: Int64) {
        followed.endRecord(at: milliseconds, highestID: highestID)
        changes.restore(followed.revision)
    }

    /// Takes changes from now on; the store has all records, and they are shown.
    ///
    /// Posts get no times before those that the last leader has given, however far its clock was ahead:
    /// followers tell by the times of records what no later post comes behind, and these never go back.
    package func endFollowing() {
        clock.hold(at: followed.bound.time)
        followed.isFollowing = false
    }

    /// Refreshes one stripe that is due for a millisecond or so, beginning the search at a stripe; O(stripes)
    /// without one.
    ///
    /// Called as often as an event loop would, it keeps the stale posts of all stripes as few as a leader's.
    package func refreshDueStripe(from next: inout Int) {
        for number in 0..<stripes.count {
            let place = (next + number) % stripes.count
            let wasDue = stripes.withStripe(place) { stripe in
                let isDue = stripe.refreshIsDue
                if isDue { stripe.standing.refreshStep(&stripe.pass) }
                return isDue
            }
            guard wasDue else { continue }
            next = place + 1
            return
        }
    }

    /// What no post comes behind that is created from now on.
    var creationBound: CreationBound {
        @inline(__always) get {
            followed.isFollowing ? followed.bound : CreationBound(time: clock.now(), id: 0)
        }
    }
}
