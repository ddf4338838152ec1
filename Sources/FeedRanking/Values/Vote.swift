/// The direction of a vote on a post.
///
/// The raw values are stored in data directories, so they never change.
package enum VoteDirection: UInt8, Sendable {
    /// Adds one to the score.
    case up = 1
    /// Subtracts one from the score.
    case down = 2
    /// Withdraws a ballot; has no meaning where each vote counts.
    case clear = 3
}

/// The meaning of the votes of a feed.
///
/// The raw values are stored in data directories, so they never change.
package enum VoteMode: UInt8, Sendable {
    /// Each vote counts, every time it is cast.
    case tally
    /// A voter, user or device, has one ballot a post, and a vote sets it.
    case ballot
    /// A user has one ballot a post, and a vote sets it; devices have none.
    case userBallot

    package var keepsBallots: Bool { self != .tally }
}

/// The store's number for a user or a device that has ballots.
///
/// Devices and users are counted apart, each in the order of their first ballots.
package struct VoterID: Hashable, Sendable {
    /// The number of the first user; devices have the numbers below.
    package static let firstUser = UInt32(1) << 29

    /// The number: devices count from 0, users from `firstUser`.
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package var isUser: Bool { @inline(__always) get { rawValue >= Self.firstUser } }

    /// Whether a store can have assigned the number.
    package var isAssignable: Bool {
        isUser
            ? rawValue - Self.firstUser < RankingLimits.maximumUserCount
            : rawValue < RankingLimits.maximumVoterCount
    }
}

package struct VoteOutcome: Equatable, Sendable {
    /// Upvotes minus downvotes, this vote included.
    package var score: Int64
    package var upvoteCount: UInt64
    package var downvoteCount: UInt64
    /// The revision of the post; a vote that changes nothing takes no new one.
    package var revision: UInt64
    /// The voter's ballot; nil where there is none, and always nil in a tally, which keeps none.
    package var standingVote: VoteDirection?
    /// Whether the caller should refresh the post's stripe after its answers are sent.
    package var refreshIsDue: Bool
}

package struct WriteOutcome: Equatable, Sendable {
    /// The post's revision; for a repeated delete, the store's revision.
    package var revision: UInt64
    /// Whether the caller should refresh the post's stripe after its answers are sent.
    package var refreshIsDue: Bool
}

/// The identity behind a ballot: a user or a device.
///
/// Nothing merges the two. Who signs in votes as the user from then on, and the ballots of the device
/// stay its own.
package enum VoterKey: Hashable, Sendable {
    case device(Device16)
    /// A user's id, above 0.
    case user(UInt64)
}

/// The 16 bytes that identify a device.
package struct Device16: Hashable, BitwiseCopyable, Sendable {
    package var high: UInt64
    package var low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The device as the author of posts (`PostContent.authorID`): 62 bits of a hash.
    ///
    /// Posts keep it, so it never changes. Nobody is told it, so nobody can look for another device that has
    /// the same.
    package var authorID: UInt64 {
        var hash = StateHash(seed: 5)
        hash.add(high)
        hash.add(low)
        return PostContent.deviceAuthorBit | hash.value >> 2
    }
}
