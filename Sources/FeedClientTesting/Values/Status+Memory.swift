internal import FeedProto
internal import FeedRanking

/// The refusals, with the codes, reasons and fields of the real service.
extension Status {
    /// A field of the request breaks a rule.
    static func invalid(
        _ reason: Reason,
        _ field: String,
        limit: Int = 0,
        actual: UInt64 = 0
    ) -> Status {
        let violation = FieldViolation(
            field: field,
            reason: reason,
            limit: UInt64(limit),
            actual: actual
        )
        let bound = limit > 0 ? ", and the limit is \(limit)" : ""
        return Status(
            code: .invalidArgument,
            reason: reason,
            message: "\(field) breaks a rule (\(reason)): it has \(actual)\(bound).",
            violations: [violation]
        )
    }

    /// The caller has no identity, or not the one that the call needs.
    static func identityRequired(_ message: String) -> Status {
        Status(code: .unauthenticated, reason: .identityRequired, message: message)
    }

    /// The e-mail and the password are no account's.
    static var badCredentials: Status {
        Status(
            code: .unauthenticated,
            reason: .badCredentials,
            message: "There is no account with this e-mail and this password."
        )
    }

    /// The session has expired or was ended.
    static var sessionExpired: Status {
        Status(
            code: .unauthenticated,
            reason: .sessionExpired,
            message: "The session has expired or was ended: sign in again."
        )
    }

    /// Only services may do this.
    static var serviceOnly: Status {
        Status(
            code: .permissionDenied,
            reason: .serviceOnly,
            message: "Only a service may: connect with a service key."
        )
    }

    /// The post does not exist, or is deleted.
    static func postNotFound(_ id: UInt64) -> Status {
        Status(code: .notFound, reason: .postNotFound, message: "No post has the id \(id).")
    }

    /// The post is deleted, or no post of the list that the call is about.
    static func postNotInList(_ id: UInt64) -> Status {
        Status(
            code: .notFound,
            reason: .postNotFound,
            message: "No post of this list has the id \(id)."
        )
    }

    /// The feed does not exist.
    static func feedNotFound(_ name: String) -> Status {
        Status(code: .notFound, reason: .feedNotFound, message: "No feed is named \(name).")
    }

    /// The client has as many watches as a connection may have.
    static func tooManyWatches(_ limit: Int) -> Status {
        Status(
            code: .resourceExhausted,
            reason: .tooManyWatches,
            message: "The connection has its limit of \(limit) watches; cancel one first."
        )
    }

    /// A watch was asked for as a call.
    static var watchIsNoCall: Status {
        Status(
            code: .unimplemented,
            reason: .unknownMethod,
            message: "A watch is no call of one answer: begin it with watch(_:interval:)."
        )
    }

    /// The call is one that a service in memory does not have.
    static var unknownMethod: Status {
        Status(
            code: .unimplemented,
            reason: .unknownMethod,
            message: "A service in memory does not have this call."
        )
    }

    /// The refusal for an error of the ranking.
    init(_ error: RankingError) {
        self =
            switch error {
            case .postNotFound(let id): .postNotFound(id.rawValue)
            case .postNotInList(let id): .postNotInList(id.rawValue)
            case .feedNotFound(let id): .feedNotFound("number \(id.rawValue)")
            case .clearOnTally: .invalid(.badVote, "direction")
            case .voterRequired, .userRequired: .identityRequired(error.description)
            case .revisionMismatch:
                Status(code: .aborted, reason: .revisionMismatch, message: error.description)
            case .feedExists:
                Status(code: .alreadyExists, reason: .feedExists, message: error.description)
            case .tooManyFeeds: .full(.tooManyFeeds, error)
            case .tooManyVoters: .full(.tooManyDevices, error)
            case .tooManyUsers: .full(.tooManyUsers, error)
            case .tooManyMarks, .marksAreFull: .full(.tooManyMarks, error)
            }
    }

    private static func full(_ reason: Reason, _ error: RankingError) -> Status {
        Status(code: .resourceExhausted, reason: reason, message: error.description)
    }
}
