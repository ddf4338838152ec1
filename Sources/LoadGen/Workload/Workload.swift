/// The votes and pages that the threads of a run request.
struct Workload: Sendable {
    /// The post of each number of a vote.
    let postIDs: [UInt64]
    /// How requests are spread over the posts.
    let keys: KeyChoice
    /// The votes to cast, of which even numbers are upvotes and odd ones downvotes; nil where votes
    /// are drawn.
    var planned: PlannedVotes?
    /// How many users vote; 0 where the connections vote themselves.
    var voterCount = 0
    /// The set that stands for the posts at redis-server; nil at the feed service.
    var sortedSet: RESPSortedSet?

    /// What the numbers of votes stand for.
    var tallied: Tallied {
        if voterCount > 0 { return .ballots }
        return planned == nil ? .scores : .directions
    }

    /// The planned votes of one thread; nil where votes are drawn.
    func schedule(thread: Int, of threadCount: Int, seed: UInt64) -> VoteSchedule? {
        planned.map {
            VoteSchedule($0, thread: thread, threadCount: threadCount, seed: seed)
        }
    }
}

/// What the audit tallies, and so what the numbers of votes stand for.
package enum Tallied: String, Sendable {
    /// Scores, under votes up: number n is post n.
    case scores
    /// Upvotes and downvotes apart: number 2n is the upvotes of post n, and 2n + 1 its downvotes.
    case directions
    /// The ballots of users, which replace one another: number 4n + d is a ballot d on post n.
    case ballots

    /// Whether a post has two accounts, of its votes up and of its votes down.
    package var isSplit: Bool { self != .scores }

    /// What the vote of this number asks for.
    @inline(__always)
    func ballot(_ number: UInt32) -> Ballot {
        switch self {
        case .scores: .up
        case .directions: number & 1 == 1 ? .down : .up
        case .ballots: Ballot(rawValue: UInt8(number & 3)) ?? .clear
        }
    }

    /// The number of the ballot `ballot` on post number `post`.
    package static func number(_ ballot: Ballot, on post: UInt32) -> UInt32 {
        post << 2 | UInt32(ballot.rawValue)
    }

    /// The account that the vote of this number adds to; nil for one that takes a vote back.
    func account(_ number: UInt32) -> UInt32? {
        guard self == .ballots else { return number }
        switch ballot(number) {
        case .up: return (number >> 2) << 1
        case .down: return (number >> 2) << 1 | 1
        case .clear: return nil
        }
    }
}
