import Synchronization

/// The posts of all feeds with their votes and their orders, for any number of threads.
///
/// The low bits of a post's id choose its stripe. Each stripe is behind its lock, and a thread
/// holds at most one stripe's lock. Pages and ranks are exact: they show every vote that was
/// applied before they were read.
///
/// Threads share the following. A vote takes its stripe's lock and the revision counter. A create,
/// an import, an update or a delete takes the same, and the id counter, the count of posts, the
/// clock's latest time or the feeds' lock, each for an instant. A read takes the stripes' locks one
/// after another, and the feeds' lock once. A first ballot and a lookup of a device take the voters'
/// lock.
///
/// The time of a created post is read under the lock of its stripe. While the clock does not go
/// back, the times of a stripe do not go back either. Over all stripes a later id may carry the
/// same time, but never a time before a create that had ended. An imported post brings its time, a
/// clock may be set back, and times are corrected. So no order relies on times that rise with ids.
package final class FeedStore: Sendable {
    /// The stripes, which hold the posts.
    let stripes: StripeSlab
    /// The clock that gives the times of creations and changes.
    let clock: CreationClock
    /// The clock that ends the windows of lists.
    let windowClock: WindowClock
    /// The clock that ends the time for which deletions are kept.
    let syncClock: CreationClock
    /// The revision of the latest write, and how often first pages may have changed.
    let changes = ChangeCounts()
    /// The revision up to which deletions are unknown, because an earlier run made them.
    let unknownDeletionsRevision = Atomic<UInt64>(0)
    /// Whether recovery brings the deletions of earlier runs.
    let restoresDeletions = Atomic<Bool>(false)
    /// The latest id assigned; no id is assigned twice.
    let lastID = Atomic<UInt64>(0)
    /// The number of live posts, kept here so that a reader of it visits no stripe.
    let livePostCount = Atomic<UInt64>(0)
    /// The bytes of the texts of live posts.
    let liveTextByteCount = Atomic<Int>(0)
    /// The names and rules of the feeds.
    let feedTable = FeedTable()
    /// The devices and users that hold ballots.
    let voters = VoterTable()
    /// What viewers have read and dismissed.
    let marks = MarkTable()
    /// The lists at earlier moments, for stable pages.
    let snapshots = SnapshotTable()

    /// Makes a store with the feeds `posts` and `tweets`.
    ///
    /// - Parameters:
    ///   - stripeCount: A power of two; more stripes let more threads vote at once.
    ///   - pace: When a refresh is due, and how much of it is done at once.
    ///   - clock: The time in Unix milliseconds. Where it goes back by up to
    ///     `RankingLimits.maximumClockHold`, the time of new posts stands still until the clock has
    ///     caught up. Where it goes back by more, the time of new posts goes back too.
    package init(
        stripeCount: Int,
        pace: RefreshPace = RefreshPace(),
        clock: @escaping @Sendable () -> Int64
    ) {
        stripes = StripeSlab(count: stripeCount, pace: pace)
        self.clock = CreationClock(clock)
        windowClock = WindowClock(clock)
        syncClock = CreationClock(clock)
        for policy in FeedTable.builtIn {
            do {
                _ = try feedTable.create(policy, NoChanges())
            } catch {
                preconditionFailure("A new store cannot have its first feeds: \(error)")
            }
        }
    }

    /// The number of the latest write.
    package var revision: UInt64 { changes.revision }

    /// The highest id assigned; 0 before the first.
    package var highestID: UInt64 { lastID.load(ordering: .relaxed) }

    /// The number of live posts.
    package var postCount: UInt64 { livePostCount.load(ordering: .relaxed) }

    /// The memory that the live posts take, about: their texts and so much for each beside them.
    package var postByteCount: Int {
        liveTextByteCount.load(ordering: .relaxed)
            + Int(postCount) * RankingLimits.postOverheadByteCount
    }

    /// How often a stripe's lock was found taken.
    package var contentionCount: UInt64 { stripes.contentionCount }

    /// The voter for a user or a device, a new one on first sight; O(1).
    package func voter(
        for key: VoterKey,
        sink: some ChangeSink = NoChanges()
    ) throws(RankingError) -> VoterID {
        try voters.voter(key, sink)
    }

    /// The voter for a device of 16 bytes; O(1).
    package func voter(
        forDevice device: (UInt64, UInt64),
        sink: some ChangeSink = NoChanges()
    ) throws(RankingError) -> VoterID {
        try voters.voter(.device(Device16(high: device.0, low: device.1)), sink)
    }

    /// The voter for a user or a device that has been made a voter before; O(1), for users without a
    /// lock.
    package func voter(ifKnown key: VoterKey) -> VoterID? {
        voters.voter(ifKnown: key)
    }

    /// The voter for a device, where the device has been made a voter before; O(1).
    package func voter(ifKnown device: (UInt64, UInt64)) -> VoterID? {
        voters.voter(ifKnown: .device(Device16(high: device.0, low: device.1)))
    }

    /// Refreshes stale posts of a post's stripe for a millisecond or so.
    ///
    /// A write asks for this call with `refreshIsDue`. While stale posts are left, further writes
    /// to the stripe ask again. The call does nothing where other calls have done the work since.
    package func refresh(stripeOf id: PostID) {
        stripes.withStripe(of: id) { stripe in
            stripe.standing.refreshStep(&stripe.pass)
        }
    }

    /// Traps if an invariant does not hold; O(n).
    ///
    /// - Parameter isChanging: Whether other threads change posts meanwhile. The counts over all stripes
    ///   follow the stripes by a moment, so they are compared only if nobody does.
    package func checkInvariants(isChanging: Bool = false) {
        var textByteCount = 0
        for number in 0..<stripes.count {
            textByteCount += stripes.withStripe(number) { stripe in
                stripe.standing.checkInvariants(stripe.pass)
                stripe.sides.checkInvariants(stripe.pass)
                stripe.sync.checkInvariants(stripe.posts)
                var byteCount = 0
                stripe.posts.forEachSlot { byteCount += stripe.textByteCount($0) }
                return byteCount
            }
        }
        precondition(
            isChanging || textByteCount == liveTextByteCount.load(ordering: .relaxed),
            "The bytes of texts are those of the live posts."
        )
    }

    /// Whether two posts are in one stripe, which is refreshed as a whole; O(1).
    package func shareStripe(_ left: PostID, _ right: PostID) -> Bool {
        stripes.number(of: left) == stripes.number(of: right)
    }

    /// Counts a post that has come.
    func countPost(textByteCount: Int) {
        livePostCount.wrappingAdd(1, ordering: .relaxed)
        liveTextByteCount.wrappingAdd(textByteCount, ordering: .relaxed)
    }

    /// Takes a post that is deleted out of the counts.
    func uncountPost(textByteCount: Int) {
        livePostCount.wrappingSubtract(1, ordering: .relaxed)
        liveTextByteCount.wrappingSubtract(textByteCount, ordering: .relaxed)
    }

    @inline(__always)
    func takeRevision() -> UInt64 {
        changes.take()
    }
}

/// Feeds.
extension FeedStore {
    /// Adds a feed, whose policy never changes again; O(1).
    package func createFeed(
        _ policy: FeedPolicy,
        sink: some ChangeSink = NoChanges()
    ) throws(RankingError) -> FeedID {
        try feedTable.create(policy, sink)
    }

    /// The feed of a name; O(1).
    package func feed(named name: String) -> FeedID? {
        feedTable.feed(named: name)
    }

    /// The rules of a feed; nil where there is no such feed.
    ///
    /// O(1).
    package func policy(of feed: FeedID) -> FeedPolicy? {
        feedTable.policy(of: feed)
    }

    /// All feeds in the order of their creation; O(feeds * stripes).
    package func feeds() -> [FeedSummary] {
        var summaries: [FeedSummary] = []
        for (number, policy) in feedTable.policies().enumerated() {
            let id = FeedID(rawValue: UInt32(number))
            summaries.append(FeedSummary(id: id, policy: policy, postCount: 0))
        }
        for stripe in 0..<stripes.count {
            stripes.withStripe(stripe) { stripe in
                for number in summaries.indices {
                    let count = stripe.standing.indexes(summaries[number].id).postCount
                    summaries[number].postCount += UInt64(count)
                }
            }
        }
        return summaries
    }
}
