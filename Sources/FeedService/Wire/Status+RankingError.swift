internal import FeedProto
internal import FeedRanking

extension Status {
    /// The refusal for an error of the ranking.
    init(_ error: RankingError) {
        switch error {
        case .postNotFound(let id):
            self = .postNotFound(id.rawValue)
        case .postNotInList(let id):
            self = .postNotInList(id.rawValue)
        case .revisionMismatch(let expected, let actual):
            self = Status(
                code: .aborted,
                reason: .revisionMismatch,
                message: "The post has changed: its fields are of revision \(actual), the request "
                    + "expects \(expected)."
            )
        case .feedNotFound(let id):
            self = .feedNotFound("number \(id.rawValue)")
        case .feedExists(let name):
            self = Status(
                code: .alreadyExists,
                reason: .feedExists,
                message: "A feed named \(name) exists."
            )
        case .tooManyFeeds(let limit):
            self = Status(
                code: .resourceExhausted,
                reason: .tooManyFeeds,
                message: "There are \(limit) feeds, which is the limit."
            )
        case .tooManyVoters(let limit):
            self = Status(
                code: .resourceExhausted,
                reason: .tooManyDevices,
                message: "\(limit) devices have voted, which is the limit."
            )
        case .tooManyUsers(let limit):
            self = Status(
                code: .resourceExhausted,
                reason: .tooManyUsers,
                message: "\(limit) users have voted, which is the limit."
            )
        case .tooManyMarks(let limit):
            self = Status(
                code: .resourceExhausted,
                reason: .tooManyMarks,
                message: "There are \(limit) marks, which is the limit; mark through a post "
                    + "instead."
            )
        case .marksAreFull(let limit):
            self = Status(
                code: .resourceExhausted,
                reason: .tooManyMarks,
                message: "The marks of all viewers fill the \(limit) places that there are."
            )
        case .clearOnTally:
            self = .badVote(.clear)
        case .voterRequired:
            self = .identityRequired
        case .userRequired:
            self = .userRequired
        }
    }
}
