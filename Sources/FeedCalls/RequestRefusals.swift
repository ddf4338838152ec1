package import FeedProto
package import FeedRanking

/// The refusals of what a request says; each names the cause, the value and the limit.
extension Status {
    /// A refusal with the code of its reason; a caller may come back after a time, if one is named.
    package init(
        _ reason: Reason,
        _ message: String,
        isNotExecuted: Bool = true,
        retryMilliseconds: UInt32 = 0
    ) {
        self.init(
            code: reason.code,
            reason: reason,
            message: message,
            isNotExecuted: isNotExecuted,
            retryAfterMilliseconds: retryMilliseconds
        )
    }

    /// A field of the request breaks a rule.
    package static func invalid(
        _ reason: Reason,
        field: String,
        _ message: String,
        limit: UInt64 = 0,
        actual: UInt64 = 0
    ) -> Status {
        Status(
            code: .invalidArgument,
            reason: reason,
            message: message,
            violations: [
                FieldViolation(field: field, reason: reason, limit: limit, actual: actual)
            ]
        )
    }

    /// A field that the call needs is absent.
    package static func missing(_ field: String) -> Status {
        invalid(.badField, field: field, "\(field) is absent; the call needs it.")
    }

    /// The number of an enum has no meaning for this field.
    static func unknownValue(_ value: some WireEnum, field: String) -> Status {
        invalid(
            .badField,
            field: field,
            "\(field) is \(value.rawValue), which is none of the values this call takes.",
            actual: UInt64(bitPattern: Int64(value.rawValue))
        )
    }

    /// A batch has more items than its limit, or none.
    static func batchSize(_ count: Int, field: String, limit: Int) -> Status {
        invalid(
            count == 0 ? .badField : .batchTooLarge,
            field: field,
            "\(field) holds \(count); a batch takes 1 to \(limit).",
            limit: UInt64(limit),
            actual: UInt64(count)
        )
    }

    package static func feedNotFound(_ name: String) -> Status {
        Status(.feedNotFound, "No feed is named \(name).")
    }

    /// No feed can have a name of this length, so the message does not repeat the name.
    static func feedNameTooLong(_ byteCount: Int, limit: Int) -> Status {
        Status(
            .feedNotFound,
            "The feed's name has \(byteCount) bytes; no name has more than \(limit)."
        )
    }

    package static func postNotFound(_ id: PostID) -> Status {
        Status(.postNotFound, "No post has the id \(id).")
    }

    /// The post is deleted, or no post of the list that the call is about.
    static func postNotInList(_ id: PostID) -> Status {
        Status(
            .postNotFound,
            "No post of this list has the id \(id): it may be of another feed, outside the "
                + "window, or deleted."
        )
    }

    /// A vote that is neither up, down nor clear, or clear where votes are counted up.
    package static func badVote(_ direction: FeedProto.VoteDirection) -> Status {
        invalid(
            .badVote,
            field: "direction",
            "direction is \(direction); a vote is UP or DOWN, or CLEAR on a BALLOT feed.",
            actual: UInt64(bitPattern: Int64(direction.rawValue))
        )
    }

    /// The page token is not one that this service gave for this list.
    static var pageTokenMismatch: Status {
        invalid(
            .pageTokenMismatch,
            field: "page_token",
            "The page token was not given by this service for this feed, order and caller."
        )
    }

    /// The caller has seen a newer state than the service has.
    package static func stateIsOlder(wanted: UInt64, revision: UInt64) -> Status {
        Status(
            .instanceChanged,
            "min_revision is \(wanted), and the newest revision is \(revision): the "
                + "state that it is from is gone."
        )
    }
}

extension Reason {
    /// The class of all failures with this reason; a disk that does not answer is OVERLOADED, too, and has
    /// another.
    fileprivate var code: StatusCode {
        switch self {
        case .revisionMismatch, .backupCancelled: .aborted
        case .emailTaken, .feedExists: .alreadyExists
        case .cancelled: .cancelled
        case .deadlineExceeded: .deadlineExceeded
        case .channelFenced, .instanceChanged, .noCluster, .notDurable, .replicaRefused,
            .sequenceExpired, .sequenceReused:
            .failedPrecondition
        case .internal: .internal
        case .feedNotFound, .postNotFound, .userNotFound: .notFound
        case .notAuthor, .roleDenied, .serviceOnly, .userSuspended: .permissionDenied
        case .backupNoRoom, .backupRunning, .noRoomForPosts, .overloaded, .rateLimited, .readOnly,
            .tooManyAccounts, .tooManyChannels, .tooManyConnections, .tooManyDevices,
            .tooManyFeeds, .tooManyMarks, .tooManySessions, .tooManyUsers, .tooManyWatches:
            .resourceExhausted
        case .badCredentials, .identityRequired, .sessionExpired: .unauthenticated
        case .clockJumped, .clusterUpgrading, .draining, .notCaughtUp, .notLeader, .replicaSilent,
            .staleReplica:
            .unavailable
        case .unknownMethod, .unsupportedVersion: .unimplemented
        default: .invalidArgument
        }
    }
}

/// The refusals of callers: who they are not, or may not be.
extension Status {
    /// A ballot and a mark need a device.
    package static var identityRequired: Status {
        Status(
            .identityRequired,
            "This call needs an identity: say Hello with a client_id of 16 bytes first."
        )
    }

    package static var userRequired: Status {
        Status(.identityRequired, "Only users have ballots in this feed: sign in first.")
    }

    package static var serviceOnly: Status {
        Status(
            .serviceOnly,
            "Only a service may: say Hello with a service_key. Where there are no keys, "
                + "call from a loopback address."
        )
    }

    /// A service acts for a user that has no account here.
    package static func unknownActingUser(_ user: UserID) -> Status {
        .invalid(
            .badField,
            field: "acting_user_id",
            "acting_user_id is \(user), and no account has that id.",
            actual: user.rawValue
        )
    }

    /// A filter looks at marks, and a caller without identity has none.
    static func viewerRequired(field: String) -> Status {
        Status(
            .identityRequired,
            "\(field) needs a viewer: say Hello with a client_id, or sign in, first."
        )
    }
}

/// The refusals of accounts and sessions. None repeats an e-mail, a password or a token.
extension Status {
    package static var sessionExpired: Status {
        Status(.sessionExpired, "The session has expired or was ended: sign in again.")
    }

    package static var sessionRequired: Status {
        Status(
            .identityRequired,
            "The connection has no session: sign in, or say Hello with a session_token."
        )
    }

    package static var badCredentials: Status {
        Status(.badCredentials, "There is no account with this e-mail and this password.")
    }

    /// A user who has signed in shows another password than the account's.
    package static var wrongPassword: Status {
        Status(.badCredentials, "The user has another password.")
    }

    package static var badResetToken: Status {
        Status(.badCredentials, "The token was used, has ended or never was: ask for another one.")
    }

    package static var userSuspended: Status {
        Status(.userSuspended, "The user is suspended.")
    }

    package static var userNotFound: Status {
        Status(.userNotFound, "No account has this number or this e-mail.")
    }

    package static var noUserChange: Status {
        .invalid(.badField, field: "change", "change has none of the values that it may have.")
    }

    package static var emailTaken: Status {
        Status(.emailTaken, "There is an account with this e-mail.")
    }

    package static func badEmail(_ byteCount: Int, limit: Int) -> Status {
        .invalid(
            .badEmail,
            field: "email",
            "email has \(byteCount) bytes; an address has at most \(limit), one @ inside, and no space "
                + "or control character.",
            limit: UInt64(limit),
            actual: UInt64(byteCount)
        )
    }

    package static func notAuthor(_ postID: PostID) -> Status {
        Status(
            .notAuthor,
            "The post \(postID) is another author's: only the user or the device that made it, or a "
                + "service, may change it."
        )
    }
}

/// The refusals of watches.
extension Status {
    package static func tooManyWatches(ofConnection limit: Int) -> Status {
        Status(
            .tooManyWatches,
            "The connection has its limit of \(limit) watches; cancel one first."
        )
    }

    static var watchOfListAndPosts: Status {
        .invalid(
            .badField,
            field: "post_ids",
            "WatchPosts takes either top_count or post_ids."
        )
    }

    /// A request watches no posts of a list, or too many.
    static func watchTopCount(_ count: UInt32, limit: Int) -> Status {
        .invalid(
            .badField,
            field: "top_count",
            "top_count is \(count); a watch of a list takes 1 to \(limit), one of posts names them in "
                + "post_ids.",
            limit: UInt64(limit),
            actual: UInt64(count)
        )
    }
}

/// The refusals of the ranking.
extension Status {
    /// The refusal for an error of the ranking.
    package init(_ error: RankingError) {
        self =
            switch error {
            case .postNotFound(let id): .postNotFound(id)
            case .postNotInList(let id): .postNotInList(id)
            case .revisionMismatch(let expected, let actual):
                Status(
                    .revisionMismatch,
                    "The post has changed: its fields are of revision \(actual), the "
                        + "request expects \(expected)."
                )
            case .feedNotFound(let id): .feedNotFound("number \(id.rawValue)")
            case .feedExists(let name):
                Status(.feedExists, "A feed named \(name) exists.")
            case .tooManyFeeds(let limit):
                Status(.tooManyFeeds, "There are \(limit) feeds, which is the limit.")
            case .tooManyVoters(let limit):
                Status(.tooManyDevices, "\(limit) devices have voted, which is the limit.")
            case .tooManyUsers(let limit):
                Status(.tooManyUsers, "\(limit) users have voted, which is the limit.")
            case .tooManyMarks(let limit):
                Status(
                    .tooManyMarks,
                    "There are \(limit) marks, which is the limit; mark through a post instead."
                )
            case .marksAreFull(let limit):
                Status(
                    .tooManyMarks,
                    "The marks of all viewers fill the \(limit) places that there are."
                )
            case .clearOnTally: .badVote(.clear)
            case .voterRequired: .identityRequired
            case .userRequired: .userRequired
            }
    }
}

/// Runs a call of the ranking, whose errors are refusals.
package func ranked<Value>(
    _ body: () throws(RankingError) -> Value
) throws(Status) -> Value {
    do throws(RankingError) {
        return try body()
    } catch {
        throw Status(error)
    }
}
