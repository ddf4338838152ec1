internal import FeedProto
internal import FeedRanking

/// The first votes of reads that are served next, one read after another.
///
/// The memory of all of them is requested before the first is served, so that the waits for it overlap.
/// Further ones than 64 are forgotten: a connection that is closing announces its reads, and serves none.
struct AnnouncedVotes {
    private struct Vote {
        let post: PostID
        let user: UInt64
        /// The voter of the connection, where the vote names no user.
        let ownVoter: VoterID?
    }

    private static let capacity = 64

    private var votes: [Vote] = []

    /// Whether no vote is announced.
    var isEmpty: Bool { votes.isEmpty }

    /// Adds a vote; `ownVoter` is the voter of its connection.
    mutating func append(_ frame: VoteFrame, from ownVoter: VoterID?) {
        guard votes.count < Self.capacity else { return }
        votes.append(
            Vote(
                post: PostID(rawValue: frame.vote.postID),
                user: frame.actingUserID,
                ownVoter: ownVoter
            )
        )
    }

    /// Requests the memory of the posts and of the ballots of known voters, and forgets the votes;
    /// O(votes).
    mutating func prefetch(from store: FeedStore) {
        for vote in votes {
            store.prefetch(vote.post)
            if vote.user != 0 { store.prefetchVoter(user: vote.user) }
        }
        for vote in votes {
            let voter = vote.user == 0 ? vote.ownVoter : store.voter(ifKnown: .user(vote.user))
            if let voter { store.prefetchBallot(of: voter, on: vote.post) }
        }
        votes.removeAll(keepingCapacity: true)
    }
}
