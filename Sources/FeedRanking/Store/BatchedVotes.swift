/// Votes that are cast together, and what each left behind.
///
/// A caller keeps one of these and fills it for each batch, so that a batch allocates nothing.
package struct BatchedVotes: ~Copyable {
    /// The most votes that are cast together.
    package static var capacity: Int { 256 }

    /// One vote, and the post's counts after it.
    package struct Entry {
        /// The post that the vote is about.
        package var post = PostID(rawValue: 0)
        /// All ups counted, or the ballots that are up; has a meaning where nothing was refused.
        package var upvoteCount: UInt64 = 0
        /// All downs counted, or the ballots that are down; has a meaning where nothing was
        /// refused.
        package var downvoteCount: UInt64 = 0
        /// What the vote says.
        package var direction = VoteDirection.up
        /// The voter's ballot; nil when none stands, and always nil in a tally.
        package var standingVote: VoteDirection?
        /// Why the vote was not counted; nil where it was.
        package var refusal: Refusal?

        /// A vote that is not cast yet.
        package init() {}
    }

    /// Why a vote was not counted, as `RankingError` has it.
    package enum Refusal: UInt8, Sendable {
        /// No post of this id lives.
        case postNotFound
        /// A vote of a tally, once counted, cannot be cleared.
        case clearOnTally
        /// An up or down of a ballot feed has to say whose ballot it sets.
        case voterRequired
    }

    /// Places for votes, of which the first `count` are taken.
    package var entries = [Entry](repeating: Entry(), count: capacity)
    /// How many votes there are.
    package var count = 0
    /// How many votes were refused.
    package internal(set) var refusedCount = 0
    /// A post of each stripe that the caller should settle once its answers are out.
    package internal(set) var settlingDue: [PostID] = []

    /// The places of the votes, those of each stripe together and in their order.
    private(set) var order = [UInt8](repeating: 0, count: capacity)
    /// Working memory of `groupByStripe`: where the places of each stripe end.
    private var ends = [UInt16](repeating: 0, count: capacity)

    /// No votes.
    package init() {
        settlingDue.reserveCapacity(Self.capacity)
    }

    /// The post of the vote that comes at a position of `order`.
    @inline(__always)
    func post(_ position: Int) -> PostID { entries[Int(order[position])].post }

    /// Sorts the places by the low bits of the posts' ids, which name the stripes; O(votes +
    /// stripes).
    ///
    /// With more stripes than a batch has votes, several stripes may be mixed: then groups are
    /// short.
    mutating func groupByStripe(stripeCount: Int) {
        let mask = UInt64(min(stripeCount, Self.capacity) - 1)
        let entries = self.entries
        let count = self.count
        // Taken out and put back: the compiler sees spans of two properties as one access to all.
        var ends = self.ends
        self.ends = []
        defer { self.ends = ends }
        for stripe in 0...Int(mask) { ends[stripe] = 0 }
        for item in 0..<count { ends[Int(entries[item].post.rawValue & mask)] += 1 }
        var end: UInt16 = 0
        for stripe in 0...Int(mask) {
            end += ends[stripe]
            ends[stripe] = end
        }
        var order = self.order.mutableSpan
        // From the last vote on, so that each stripe's votes stay in their order.
        for item in (0..<count).reversed() {
            let stripe = Int(entries[item].post.rawValue & mask)
            ends[stripe] -= 1
            order[Int(ends[stripe])] = UInt8(truncatingIfNeeded: item)
        }
    }
}
