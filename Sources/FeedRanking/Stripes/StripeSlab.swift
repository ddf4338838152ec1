import FeedConcurrency
import Synchronization

struct LockedStripe: ~Copyable {
    private let lock: Lock<Stripe>
    /// The directory of the records, for prefetching without the lock.
    fileprivate let directory: RecordDirectory
    fileprivate let ballots: BallotDirectory

    /// Takes the stripe; from then on only the lock gives access to it.
    init(_ stripe: consuming sending Stripe) {
        directory = stripe.posts.directory
        ballots = stripe.ballots.directory
        lock = Lock(stripe)
    }

    @inline(__always)
    func withLockIfAvailable<Result, Failure: Error>(
        _ body: (inout Stripe) throws(Failure) -> sending Result
    ) throws(Failure) -> Result? {
        try lock.withLockIfAvailable { (stripe) throws(Failure) -> sending Result in
            try body(&stripe)
        }
    }

    @inline(__always)
    func withLock<Result, Failure: Error>(
        _ body: (inout Stripe) throws(Failure) -> sending Result
    ) throws(Failure) -> Result {
        try lock.withLock { (stripe) throws(Failure) -> sending Result in try body(&stripe) }
    }
}

/// The stripes, each behind its lock and on cache lines of its own.
///
/// A thread holds at most one stripe's lock at any time. The type is `Sendable` because only a lock
/// gives access to a stripe.
@safe
struct StripeSlab: ~Copyable, @unchecked Sendable {
    private static let alignment = 128

    /// The number of stripes, a power of two.
    let count: Int
    /// The number of low bits of an id that are its stripe's number; the other bits are its slot.
    let stripeBits: UInt64
    private let base: UnsafeMutableRawPointer
    private let byteStride: Int
    private let contentions = Atomic<UInt64>(0)

    /// How often a stripe's lock was found taken.
    var contentionCount: UInt64 { contentions.load(ordering: .relaxed) }

    init(count: Int, pace: RefreshPace) {
        precondition(count > 0 && count & (count - 1) == 0, "Stripes come in a power of two.")
        precondition(
            count <= RankingLimits.maximumStripeCount,
            "With \(count) stripes ids would have more than \(RankingLimits.postIDBitCount) bits."
        )
        self.count = count
        let bits = count.trailingZeroBitCount
        stripeBits = UInt64(bits)
        let size = MemoryLayout<LockedStripe>.size
        byteStride = (size + Self.alignment - 1) / Self.alignment * Self.alignment
        unsafe base = .allocate(byteCount: byteStride * count, alignment: Self.alignment)
        for number in 0..<count {
            let stripe = Stripe(number: number, stripeBits: bits, pace: pace)
            let place = unsafe base + number * byteStride
            unsafe place.assumingMemoryBound(to: LockedStripe.self)
                .initialize(to: LockedStripe(stripe))
        }
    }

    deinit {
        for number in 0..<count { unsafe pointer(number).deinitialize(count: 1) }
        unsafe base.deallocate()
    }

    @inline(__always)
    func number(of id: PostID) -> Int { Int(truncatingIfNeeded: id.rawValue) & (count - 1) }

    @inline(__always)
    func withStripe<Result, Failure: Error>(
        of id: PostID,
        _ body: (inout Stripe) throws(Failure) -> sending Result
    ) throws(Failure) -> Result {
        try withStripe(number(of: id), body)
    }

    /// Runs the body with a stripe's lock held.
    @inline(__always)
    func withStripe<Result, Failure: Error>(
        _ number: Int,
        _ body: (inout Stripe) throws(Failure) -> sending Result
    ) throws(Failure) -> Result {
        precondition(UInt(bitPattern: number) < UInt(bitPattern: count), "There is no such stripe.")
        let stripe = unsafe pointer(number)
        if let result = try unsafe stripe.pointee.withLockIfAvailable(body) { return result }
        contentions.wrappingAdd(1, ordering: .relaxed)
        return try unsafe stripe.pointee.withLock(body)
    }

    /// Prefetches the cache line of a post's record without the lock; any id is allowed.
    @inline(__always)
    func prefetch(_ id: PostID) {
        guard let slot = UInt32(exactly: id.rawValue >> stripeBits) else { return }
        unsafe pointer(number(of: id)).pointee.directory.prefetch(slot)
    }

    /// Prefetches a voter's ballot on a post without the lock; any id is allowed.
    @inline(__always)
    func prefetchBallot(of voter: VoterID, on id: PostID) {
        guard let slot = UInt32(exactly: id.rawValue >> stripeBits) else { return }
        unsafe pointer(number(of: id)).pointee.ballots.prefetch(slot, voter)
    }

    @inline(__always)
    private func pointer(_ number: Int) -> UnsafeMutablePointer<LockedStripe> {
        unsafe (base + number &* byteStride).assumingMemoryBound(to: LockedStripe.self)
    }

    /// Reads a stripe with its lock held; nil when the allowance is used up.
    ///
    /// A read that ends with a step of a side list begins anew as often as the allowance has it. The lock is
    /// free in between, so no other thread waits for more than one step.
    @inline(__always)
    func read<Result: Sendable>(
        _ number: Int,
        _ allowance: inout RefreshAllowance,
        _ body: (inout Stripe, inout RefreshAllowance) -> Result?
    ) -> Result? {
        repeat {
            let result = withStripe(number) { stripe in body(&stripe, &allowance) }
            if let result { return result }
        } while allowance.beginStep()
        return nil
    }

    // Places and ranks in the lists over all stripes.

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
        let found = withStripe(stripe) { stripe in stripe.position(atRank: low + offset, list) }
        guard let found else { return nil }
        return (found, stripe)
    }

    // Counts of the posts that a viewer has neither read nor dismissed.
    //
    // The marks through posts divide a list, by time, into parts whose posts have one state. The index
    // of NEW counts the parts without a visit of their posts. Each mark on a single post then adds or
    // subtracts that post.

    /// What decides which marks reach a post; nil where there is no such post.
    func origin(of id: PostID) -> PostOrigin? {
        withStripe(of: id) { stripe in
            guard let slot = stripe.liveSlot(id) else { return nil }
            return PostOrigin(id, stripe.posts[slot])
        }
    }

    /// The number of unread posts of a feed, or of all feeds, by the marks through posts; nil when
    /// the allowance is used up.
    ///
    /// Threads that write meanwhile may make it too small or too great by their posts.
    func unreadCountThroughPosts(
        in feed: FeedID?,
        _ marks: ViewerMarks,
        _ allowance: inout RefreshAllowance
    ) -> Int? {
        guard var sum = unreadCount(in: feed, as: feed ?? .none, marks, &allowance) else {
            return nil
        }
        if feed == nil {
            for case let markedFeed? in marks.steps.keys {
                guard
                    let withOwn = unreadCount(in: markedFeed, as: markedFeed, marks, &allowance),
                    let withoutOwn = unreadCount(in: markedFeed, as: .none, marks, &allowance)
                else { return nil }
                sum += withOwn - withoutOwn
            }
        }
        return sum
    }

    /// What the marks on single posts add to the unread posts of each feed; nil when the allowance is
    /// used up.
    ///
    /// Each mark is a key of the allowance: a look at a post takes as long as a refresh of it.
    func unreadCountsOnPosts(
        _ marks: ViewerMarks,
        _ allowance: inout RefreshAllowance
    ) -> [FeedID: Int]? {
        var sums: [FeedID: Int] = [:]
        guard !marks.posts.isEmpty else { return sums }
        guard !allowance.isUsedUp else { return nil }
        allowance.charge(marks.posts.count)
        for id in marks.posts.keys {
            guard let post = origin(of: id) else { continue }
            let wasUnread = marks.stateThroughPosts(of: post).isUnread
            let isUnread = marks.state(of: post).isUnread
            guard wasUnread != isUnread else { continue }
            sums[post.feed, default: 0] += isUnread ? 1 : -1
        }
        return sums
    }

    /// The unread posts of a list by the marks through posts of one feed and of all feeds.
    private func unreadCount(
        in list: FeedID?,
        as feed: FeedID,
        _ marks: ViewerMarks,
        _ allowance: inout RefreshAllowance
    ) -> Int? {
        let bounds = marks.steps(reaching: feed)
            .map { $0.origin(in: feed) }
            .sorted { ($0.createTimeMilliseconds, $0.id) > ($1.createTimeMilliseconds, $1.id) }
        let id = ListID(feed: list, kind: .new)
        var sum = 0
        var newerCount = 0
        var partIsUnread = true
        for bound in bounds {
            let place = ListPosition(
                createTimeMilliseconds: bound.createTimeMilliseconds,
                id: bound.id
            )
            guard let counted = count(before: place, id, &allowance) else { return nil }
            if partIsUnread { sum += counted.skippedCount - newerCount }
            newerCount = counted.skippedCount
            partIsUnread = marks.stateThroughPosts(of: bound).isUnread
        }
        if partIsUnread { sum += postCount(of: list) - newerCount }
        return sum
    }

    private func postCount(of feed: FeedID?) -> Int {
        (0..<count).reduce(0) { sum, number in
            sum + withStripe(number) { $0.standing.indexes(feed).postCount }
        }
    }
}

extension FeedID {
    /// A feed that no list has, and so without marks through its posts.
    fileprivate static let none = FeedID(rawValue: .max)
}

extension MarkThrough {
    /// The last post that the mark reaches, as if it were in a feed.
    fileprivate func origin(in feed: FeedID) -> PostOrigin {
        PostOrigin(id: post, feed: feed, createTimeMilliseconds: createTimeMilliseconds)
    }
}
