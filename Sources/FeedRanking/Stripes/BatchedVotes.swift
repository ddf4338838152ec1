internal import FeedSpans

/// Votes that are cast together, and the result of each.
///
/// A caller keeps one instance and fills it for each batch, so a batch allocates nothing.
package struct BatchedVotes: ~Copyable {
    package static var capacity: Int { 256 }

    /// One vote, and the post's counts after it.
    package struct Entry {
        package var post = PostID(rawValue: 0)
        /// All ups counted, or the ballots that are up; valid where the vote is not refused.
        package var upvoteCount: UInt64 = 0
        /// All downs counted, or the ballots that are down; valid where the vote is not refused.
        package var downvoteCount: UInt64 = 0
        package var direction = VoteDirection.up
        /// The voter's ballot; nil where there is none, and always nil in a tally.
        package var standingVote: VoteDirection?
        package var refusal: Refusal?

        package init() {}
    }

    /// The reason why a vote was not counted, as in `RankingError`.
    package enum Refusal: UInt8, Sendable {
        case postNotFound
        case clearOnTally
        case voterRequired
        case userRequired
    }

    /// The places for votes; the first `count` places are taken.
    package var entries = [Entry](repeating: Entry(), count: capacity)
    package var count = 0
    package internal(set) var refusedCount = 0
    /// A post of each stripe that the caller should refresh after its answers are sent.
    package internal(set) var refreshDue: [PostID] = []

    /// The places of the votes, grouped by stripe; the votes of a stripe keep their order.
    private(set) var order = [UInt8](repeating: 0, count: capacity)
    /// Working memory of `groupByStripe`: the ends of the stripes' groups in `order`.
    private var ends = [UInt16](repeating: 0, count: capacity)

    package init() { refreshDue.reserveCapacity(Self.capacity) }

    @inline(__always)
    func post(_ position: Int) -> PostID { entries[Int(order[position])].post }

    /// Sorts the places by the low bits of the posts' ids, which name the stripes; O(votes +
    /// stripes).
    ///
    /// A group may mix several stripes where there are more stripes than a batch has votes. The
    /// groups are short then.
    mutating func groupByStripe(stripeCount: Int) {
        let mask = UInt64(min(stripeCount, Self.capacity) - 1)
        let entries = self.entries
        let count = self.count
        // `ends` is taken out and put back: the compiler sees spans of two properties as one access
        // to the whole value.
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
        // The loop starts at the last vote, so the votes of each stripe keep their order.
        for item in (0..<count).reversed() {
            let stripe = Int(entries[item].post.rawValue & mask)
            ends[stripe] -= 1
            order[Int(ends[stripe])] = UInt8(truncatingIfNeeded: item)
        }
    }
}
