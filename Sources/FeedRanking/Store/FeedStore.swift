import Synchronization

/// Posts in feeds, votes on them and their orders, for any number of threads.
///
/// Posts are spread over stripes by their ids' low bits, each stripe behind its lock; a thread
/// holds at most one stripe's lock. Pages and ranks are exact: they show every vote that was
/// applied before they were read.
///
/// What threads share: a vote takes its stripe's lock and the revision counter. A create, an
/// import, an update or a delete takes the same, and the id counter, the count of posts, the clock's latest
/// time or the feeds' lock, each for an instant. Reads take the stripes' locks one after another,
/// and the feeds' lock once; a first ballot and a look for a voter take the voters' lock.
/// The time of a created post is read under the lock of its stripe. While the clock does not go
/// back, times of a stripe do not go back either; over all stripes a later id may carry the same
/// time, never one before a create that had ended. An imported post brings its time, a clock may be
/// set back, and times are corrected: no order relies on times that rise with ids.
package final class FeedStore: Sendable {
    /// Where the posts are.
    let stripes: StripeSlab
    /// How many low bits of an id are its stripe's number.
    let stripeBits: UInt64
    /// The time that posts are created and changed at.
    let clock: MonotonicClock
    /// The number of the latest write; each write takes the next.
    let revisions = Atomic<UInt64>(0)
    /// The latest id given; ids are never given again.
    let lastID = Atomic<UInt64>(0)
    /// Kept beside the stripes, so that nobody has to visit them for it.
    let livePostCount = Atomic<UInt64>(0)
    /// The names and rules of the feeds.
    let feedTable = FeedTable()
    /// The devices that hold ballots.
    let voters = VoterTable()

    /// Makes a store with the feeds `posts` and `tweets`.
    ///
    /// - Parameters:
    ///   - stripeCount: A power of two; more of them let more threads vote at once.
    ///   - pace: When settling is due, and how much is done at once.
    ///   - clock: Unix milliseconds; where it goes back by up to `RankingLimits.maximumClockHold`,
    ///     the time of new posts stands still until then, and where by more, it goes back too.
    package init(
        stripeCount: Int,
        pace: SettlingPace = SettlingPace(),
        clock: @escaping @Sendable () -> Int64
    ) {
        stripes = StripeSlab(count: stripeCount, pace: pace)
        stripeBits = UInt64(stripeCount.trailingZeroBitCount)
        self.clock = MonotonicClock(clock)
        for policy in FeedTable.builtIn {
            do {
                _ = try feedTable.create(policy, .none)
            } catch {
                preconditionFailure("A new store cannot have its first feeds: \(error)")
            }
        }
    }

    /// The number of the latest write.
    package var revision: UInt64 { revisions.load(ordering: .relaxed) }

    /// The highest id given; 0 before the first.
    package var highestID: UInt64 { lastID.load(ordering: .relaxed) }

    /// How many posts live.
    package var postCount: UInt64 { livePostCount.load(ordering: .relaxed) }

    /// How often a stripe's lock was found taken.
    package var contentionCount: UInt64 { stripes.contentionCount }

    /// The voter that a device of 16 bytes is; O(1).
    package func voter(
        forDevice device: (UInt64, UInt64),
        log: EffectLog = .none
    ) throws(RankingError) -> VoterID {
        try voters.voter(forDevice: device, log)
    }

    /// The voter that a device is, where it has been made one before; O(1).
    package func voter(ifKnown device: (UInt64, UInt64)) -> VoterID? {
        voters.voter(ifKnown: device)
    }

    /// Settles dirty posts of a post's stripe for a millisecond or so, as a write's
    /// `settlingIsDue` asks for; does nothing where other calls have done so since.
    ///
    /// As long as something is left, writes to the stripe go on asking.
    package func settle(stripeOf id: PostID) {
        stripes.withStripe(stripeNumber(id)) { stripe in
            stripe.settleStep()
        }
    }

    /// Traps where an invariant of a stripe does not hold; O(n).
    package func checkInvariants() {
        for number in 0..<stripes.count {
            stripes.withStripe(number) { stripe in
                stripe.checkInvariants()
            }
        }
    }

    /// Whether two posts are in one stripe, which is settled whole; O(1).
    package func shareStripe(_ left: PostID, _ right: PostID) -> Bool {
        stripeNumber(left) == stripeNumber(right)
    }

    @inline(__always)
    func stripeNumber(_ id: PostID) -> Int {
        Int(truncatingIfNeeded: id.rawValue) & (stripes.count - 1)
    }

    @inline(__always)
    func takeRevision() -> UInt64 {
        revisions.wrappingAdd(1, ordering: .relaxed).newValue
    }
}
