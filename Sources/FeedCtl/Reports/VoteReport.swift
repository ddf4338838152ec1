package import FeedProto

/// A post's counts after a vote, as `vote` reports them.
package struct VoteReport: Report, Equatable {
    let postID: UInt64
    let score: Int64
    let upvoteCount: UInt64
    let downvoteCount: UInt64
    /// The caller's ballot now: `up`, `down`, or empty.
    let vote: String

    /// The report of a vote.
    package init(_ counts: CastVoteResponse) {
        postID = counts.postID
        score = counts.score
        upvoteCount = counts.upvoteCount
        downvoteCount = counts.downvoteCount
        vote = counts.vote.argument
    }

    /// One line.
    package func text(_ style: TextStyle) -> String {
        "Post \(postID): score \(score) (\(upvoteCount) up, \(downvoteCount) down)"
            + (vote.isEmpty ? "" : ", your vote is \(vote)") + ".\n"
    }
}
