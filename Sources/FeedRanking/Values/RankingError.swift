/// Why the store refused a call; nothing was changed.
package enum RankingError: Error, Equatable, Sendable {
    /// No post of this id lives: it was deleted, or never made.
    case postNotFound(PostID)
    /// The post does not live, or is none of the list: it is of another feed, or outside the window.
    case postNotInList(PostID)
    /// No feed has this number.
    case feedNotFound(FeedID)
    /// A new feed's name is taken.
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
    /// What happened, with the values and the limit.
    package var description: String {
        switch self {
        case .postNotFound(let id):
            "Post \(id.rawValue) does not exist."
        case .postNotInList(let id):
            "Post \(id.rawValue) is not in the list."
        case .feedNotFound(let id):
            "Feed \(id.rawValue) does not exist."
        case .feedExists(let name):
            "Feed \"\(name)\" exists already."
        case .tooManyFeeds(let limit):
            "One feed more exceeds the limit of \(limit) feeds."
        case .tooManyVoters(let limit):
            "One device more exceeds the limit of \(limit) devices that vote."
        case .tooManyUsers(let limit):
            "One user more exceeds the limit of \(limit) users that vote."
        case .tooManyMarks(let limit):
            "One mark more exceeds the limit of \(limit) marks."
        case .marksAreFull(let limit):
            "The marks of all viewers fill the \(limit) places that there are."
        case .revisionMismatch(let expected, let actual):
            "The post's fields are of revision \(actual); the change expects \(expected)."
        case .clearOnTally:
            "Each vote of this feed counts, so none can be cleared."
        case .voterRequired:
            "This feed keeps a ballot a voter, and the vote came without a voter."
        case .userRequired:
            "This feed keeps a ballot a user, and the vote came without a user."
        }
    }
}
