/// Why the store refused a call; nothing was changed.
package enum RankingError: Error, Equatable, Sendable {
    case postNotFound(PostID)
    case feedNotFound(FeedID)
    case feedExists(name: String)
    case tooManyFeeds(limit: Int)
    case tooManyVoters(limit: Int)
    case revisionMismatch(expected: UInt64, actual: UInt64)
    case clearOnTally
    case voterRequired
}

extension RankingError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .postNotFound(let id):
            "Post \(id.rawValue) does not exist."
        case .feedNotFound(let id):
            "Feed \(id.rawValue) does not exist."
        case .feedExists(let name):
            "Feed \"\(name)\" exists already."
        case .tooManyFeeds(let limit):
            "One feed more exceeds the limit of \(limit) feeds."
        case .tooManyVoters(let limit):
            "One voter more exceeds the limit of \(limit) voters."
        case .revisionMismatch(let expected, let actual):
            "The post's fields are of revision \(actual); the change expects \(expected)."
        case .clearOnTally:
            "Each vote of this feed counts, so none can be cleared."
        case .voterRequired:
            "This feed keeps a ballot a voter, and the vote came without a voter."
        }
    }
}
