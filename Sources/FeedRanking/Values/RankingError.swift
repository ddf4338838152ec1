/// Why the store refused a call; nothing was changed.
package enum RankingError: Error, Equatable, Sendable {
    /// No post of this id lives: it was deleted, or never made.
    case postNotFound(PostID)
    /// The post does not live, or is none of the list: it is of another feed, or outside the window.
    case postNotInList(PostID)
    case feedNotFound(FeedID)
    case feedExists(name: String)
    /// The store has `RankingLimits.maximumFeedCount` feeds.
    case tooManyFeeds(limit: Int)
    /// The store has `RankingLimits.maximumVoterCount` devices, and this device is none of them.
    case tooManyVoters(limit: Int)
    /// The store has `RankingLimits.maximumUserCount` users, and this user is none of them.
    case tooManyUsers(limit: Int)
    /// The viewer has marked as many posts as a viewer may.
    case tooManyMarks(limit: Int)
    /// The marks of all viewers of a kind take as much memory as they may.
    case marksAreFull(limit: Int)
    /// The post was edited since the revision that the change expects, or never had it.
    case revisionMismatch(expected: UInt64, actual: UInt64)
    /// A vote of a tally cannot be cleared once it is counted.
    case clearOnTally
    /// An up or down of a ballot feed has to say whose ballot it sets.
    case voterRequired
    /// Only users have ballots in this feed, and the vote came without a user.
    case userRequired
}

extension RankingError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .postNotFound(let id): "Post \(id.rawValue) does not exist."
        case .postNotInList(let id): "Post \(id.rawValue) is not in the list."
        case .feedNotFound(let id): "Feed \(id.rawValue) does not exist."
        case .feedExists(let name): "Feed \"\(name)\" exists already."
        case .tooManyFeeds(let limit): "One feed more exceeds the limit of \(limit) feeds."
        case .tooManyVoters(let limit):
            "One device more exceeds the limit of \(limit) devices that vote."
        case .tooManyUsers(let limit):
            "One user more exceeds the limit of \(limit) users that vote."
        case .tooManyMarks(let limit): "One mark more exceeds the limit of \(limit) marks."
        case .marksAreFull(let limit):
            "The marks of all viewers fill the \(limit) places that there are."
        case .revisionMismatch(let expected, let actual):
            "The post's fields are of revision \(actual); the change expects \(expected)."
        case .clearOnTally: "Each vote of this feed counts, so none can be cleared."
        case .voterRequired: "This feed keeps a ballot a voter, and the vote came without a voter."
        case .userRequired: "This feed keeps a ballot a user, and the vote came without a user."
        }
    }
}

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
    package var description: String {
        switch self {
        case .badPostID(let id): "No post can have the id \(id)."
        case .badTime(let id, let milliseconds):
            "Post \(id.rawValue) has an impossible time: \(milliseconds)."
        case .badCount(let id, let count):
            "Post \(id.rawValue) has an impossible count of votes: \(count)."
        case .badRevision(let revision): "No write can have the revision \(revision)."
        case .badEditRevision(let id): "Post \(id.rawValue) was edited after its last revision."
        case .textTooLong(let id, let byteCount):
            "A text of post \(id.rawValue) has \(byteCount) bytes, more than any may have."
        case .badFeed(let id, let feed): "Post \(id.rawValue) cannot be in feed \(feed.rawValue)."
        case .badFeedDefinition(let feed): "Feed \(feed.rawValue) cannot have that number or name."
        case .badVoter(let voter): "Nobody can be voter \(voter.rawValue)."
        case .badMark(let viewer): "Viewer \(viewer.rawValue) cannot have such marks."
        case .badBallot(let id): "Post \(id.rawValue) cannot have that ballot."
        }
    }
}
