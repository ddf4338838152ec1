import Synchronization

/// What the store of a follower has beyond the last whole record of the log.
///
/// A follower's one applying thread restores the entries of the leader's records, in the order of their
/// revisions, while other threads read. What `FeedStore.restore` needs for that:
///
/// - **The revision.** Entries raise `newest`, and `showRecord(at:)` moves it to `FeedStore.revision`, which is
///   the one that all readers load, on every machine: nothing is added to their way, or to a vote's. A page
///   that shows a part of a record carries the revision of the record before, so a sync or a watch from
///   there on has all of that record. No change of a later record has a revision up to `FeedStore.revision`.
/// - **Kept pages.** A change counts in `ChangeCounts` as a vote, an edit or a deletion does, under the
///   stripe's lock and before its revision is shown.
/// - **Sync.** The order of changes rises, as the entries do; restored votes are noted as others are.
///   Deletions keep to the limit, and are sorted as they come. All are known, so the floor stays.
/// - **Stale posts.** Restored votes make posts stale as others do; `refreshDueStripe(from:)` is the duty of
///   the event loops.
/// - **Marks.** No older marks come, so a set that became empty is forgotten. The steps, voters, feeds and
///   ballots are behind the locks that leaders take, and the posts' sums of RISING come with their counts.
/// - **Times.** What later posts' times are not below is the leader's clock, not this machine's.
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

    /// No later record has a post that was created before, imports and corrected times apart.
    var time: Int64 {
        get { recordTime.load(ordering: .acquiring) }
        nonmutating set { recordTime.store(newValue, ordering: .releasing) }
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
        followed.time = milliseconds
        followed.isFollowing = true
    }

    /// Shows readers all entries that were restored: they are those of whole records, the last of which the
    /// leader made at a time; O(1).
    package func showRecord(at milliseconds: Int64) {
        changes.restore(followed.revision)
        followed.time = max(followed.time, milliseconds)
    }

    /// Takes changes from now on; the store has all records, and they are shown.
    ///
    /// Posts get no times before those that the last leader has given, if its clock was little ahead.
    package func endFollowing() {
        clock.hold(at: followed.time)
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

    /// No post that is created from now on has an earlier time, if the clock is not set back.
    @inline(__always)
    var creationTimeBound: Int64 { followed.isFollowing ? followed.time : clock.now() }
}
