/// Why the store refused to put a change back; nothing was changed.
package enum RecoveryError: Error, Equatable, Sendable {
    /// A post's id is 0, or needs more stripes than the store has.
    case badPostID(UInt64)
    /// A time is not in 0 to `RankingLimits.maximumTimeMilliseconds`.
    case badTime(PostID, milliseconds: Int64)
    /// A count of votes is above any that votes can reach.
    case badCount(PostID, UInt64)
    /// A revision is above any that writes can reach.
    case badRevision(UInt64)
    /// A post's content is newer than the post.
    case badEditRevision(PostID)
    /// One of a post's texts is longer than any may be.
    case textTooLong(PostID, byteCount: Int)
    /// A post is in a feed that is not there, or is there with another feed, rule or time.
    case badFeed(PostID, FeedID)
    /// A feed's number is over the limit, or the number or its name is another feed's already.
    case badFeedDefinition(FeedID)
    /// A voter's number is over the limit, or its device or user is another voter already.
    case badVoter(VoterID)
    /// A viewer has marks that contradict each other, or too many of them.
    case badMark(VoterID)
    /// A ballot on a post that keeps none, or that is neither up nor down.
    case badBallot(PostID)
}

extension RecoveryError: CustomStringConvertible {
    /// What is wrong, with the values.
    package var description: String {
        switch self {
        case .badPostID(let id):
            "No post can have the id \(id)."
        case .badTime(let id, let milliseconds):
            "Post \(id.rawValue) has an impossible time: \(milliseconds)."
        case .badCount(let id, let count):
            "Post \(id.rawValue) has an impossible count of votes: \(count)."
        case .badRevision(let revision):
            "No write can have the revision \(revision)."
        case .badEditRevision(let id):
            "Post \(id.rawValue) was edited after its last revision."
        case .textTooLong(let id, let byteCount):
            "A text of post \(id.rawValue) has \(byteCount) bytes, more than any may have."
        case .badFeed(let id, let feed):
            "Post \(id.rawValue) cannot be in feed \(feed.rawValue)."
        case .badFeedDefinition(let feed):
            "Feed \(feed.rawValue) cannot have that number or name."
        case .badVoter(let voter):
            "Nobody can be voter \(voter.rawValue)."
        case .badMark(let viewer):
            "Viewer \(viewer.rawValue) cannot have such marks."
        case .badBallot(let id):
            "Post \(id.rawValue) cannot have that ballot."
        }
    }
}
