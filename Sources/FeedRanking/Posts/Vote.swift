/// What a vote says about a post.
///
/// The raw values are written to the journal.
package enum VoteDirection: UInt8, Sendable {
    /// Adds one to the score.
    case up = 1
    /// Takes one from the score.
    case down = 2
    /// Takes a ballot back; has no meaning where each vote counts.
    case clear = 3
}

/// What the votes of a feed mean.
///
/// The raw values are written to the journal.
package enum VoteMode: UInt8, Sendable {
    /// Each vote counts, as often as it comes.
    case tally
    /// A voter has one ballot a post; a vote sets it.
    case ballot
}

/// A device that holds ballots, as the store numbers it.
package struct VoterID: Hashable, Sendable {
    /// Counted from 0 in the order of the voters' first ballots.
    package let rawValue: UInt32

    /// A number that the store gave.
    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }
}

/// What a vote left behind.
package struct VoteOutcome: Equatable, Sendable {
    /// Upvotes less downvotes, this vote among them.
    package var score: Int64
    /// All ups counted, or the ballots that are up.
    package var upvoteCount: UInt64
    /// All downs counted, or the ballots that are down.
    package var downvoteCount: UInt64
    /// The revision of the post; a vote that changed nothing took no new one.
    package var revision: UInt64
    /// The voter's ballot; nil when none stands, and always nil in a tally, which keeps none.
    package var standingVote: VoteDirection?
    /// Whether the caller should settle the post's stripe once its answers are out.
    package var settlingIsDue: Bool
}

/// What a create, an update or a delete left behind.
package struct WriteOutcome: Equatable, Sendable {
    /// The post's revision; of a repeated delete, the store's.
    package var revision: UInt64
    /// Whether the caller should settle the post's stripe once its answers are out.
    package var settlingIsDue: Bool
}
