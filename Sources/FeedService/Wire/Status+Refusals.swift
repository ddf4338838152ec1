internal import FeedProto

/// The refusals of the service; each names the cause, the value and the limit.
extension Status {
    /// A field of the request breaks a rule.
    static func invalid(
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
    static func missing(_ field: String) -> Status {
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

    /// A vote that is neither up, down nor clear, or clear where votes are counted up.
    static func badVote(_ direction: FeedProto.VoteDirection) -> Status {
        invalid(
            .badVote,
            field: "direction",
            "direction is \(direction); a vote is UP or DOWN, or CLEAR on a BALLOT feed.",
            actual: UInt64(bitPattern: Int64(direction.rawValue))
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
            message:
                "No post of this list has the id \(id): it may be of another feed, outside the "
                + "window, or deleted."
        )
    }

    /// The feed does not exist.
    static func feedNotFound(_ name: String) -> Status {
        Status(code: .notFound, reason: .feedNotFound, message: "No feed is named \(name).")
    }

    /// No feed can have a name of this length, so the message does not repeat the name.
    static func feedNameTooLong(_ byteCount: Int, limit: Int) -> Status {
        Status(
            code: .notFound,
            reason: .feedNotFound,
            message: "The feed's name has \(byteCount) bytes; no name has more than \(limit)."
        )
    }

    /// The frame has no call, or one that this version does not know.
    static var unknownMethod: Status {
        Status(
            code: .unimplemented,
            reason: .unknownMethod,
            message: "The frame holds no call that \(ServiceVersion.serverName) knows."
        )
    }

    /// The service keeps nothing beyond the process, so it has nothing to back up.
    static var notDurable: Status {
        Status(
            code: .failedPrecondition,
            reason: .notDurable,
            message: "The service keeps its state in memory only; there is nothing to back up."
        )
    }

    /// The request has waited longer than its timeout.
    static func deadlineExceeded(waited: Duration, _ timeout: Duration) -> Status {
        Status(
            code: .deadlineExceeded,
            reason: .deadlineExceeded,
            message: "The request waited \(waited) to be executed; its timeout is \(timeout)."
        )
    }

    /// The caller has seen a newer state than the service has.
    static func stateIsOlder(wanted: UInt64, revision: UInt64) -> Status {
        Status(
            code: .failedPrecondition,
            reason: .instanceChanged,
            message: "min_revision is \(wanted), and the newest revision is \(revision): the "
                + "state that it is from is gone."
        )
    }

    /// The service holds so much for connections that it takes no writes.
    static func overloaded(limit: Int) -> Status {
        Status(
            code: .resourceExhausted,
            reason: .overloaded,
            message: "More than \(limit) bytes are held for connections; writes are refused "
                + "until they are fewer.",
            retryAfterMilliseconds: 1000
        )
    }

    /// The disk has too little room for more changes.
    static func readOnly(freeByteCount: Int, writableByteCount: Int) -> Status {
        Status(
            code: .resourceExhausted,
            reason: .readOnly,
            message: "The disk has only \(freeByteCount) bytes free; changes are refused until "
                + "\(OperatorLines.size(writableByteCount)) are free, and reads are served.",
            retryAfterMilliseconds: 5000
        )
    }

    /// The disk does not keep up with the admitted changes.
    static var journalBehind: Status {
        Status(
            code: .resourceExhausted,
            reason: .overloaded,
            message: "The disk does not keep up: changes are refused until those before them are "
                + "durable.",
            retryAfterMilliseconds: 1000
        )
    }

    /// The clock was set, so posts would get wrong times.
    static func clockJumped(by milliseconds: Int64) -> Status {
        Status(
            code: .unavailable,
            reason: .clockJumped,
            message: "The service's clock jumped by \(milliseconds / 1000) seconds; changes are "
                + "refused until it is back, or the service is started anew.",
            retryAfterMilliseconds: 5000
        )
    }

    /// The process has no memory for a request, whose id is not known either.
    static var outOfMemory: Status {
        Status(
            code: .resourceExhausted,
            reason: .overloaded,
            message: "The service has no memory left for a request of this size.",
            retryAfterMilliseconds: 1000
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

    /// The page token is not one that this service gave for this list.
    static var pageTokenMismatch: Status {
        invalid(
            .pageTokenMismatch,
            field: "page_token",
            "The page token was not given by this service for this feed, order and caller."
        )
    }

    /// A ballot and a mark need a device.
    static var identityRequired: Status {
        Status(
            code: .unauthenticated,
            reason: .identityRequired,
            message: "This call needs an identity: say Hello with a client_id of 16 bytes first."
        )
    }

    /// A service acts for a user that has no account here.
    static func unknownActingUser(_ user: UInt64) -> Status {
        .invalid(
            .badField,
            field: "acting_user_id",
            "acting_user_id is \(user), and no account has that id.",
            actual: user
        )
    }

    /// A ballot of this feed needs a user.
    static var userRequired: Status {
        Status(
            code: .unauthenticated,
            reason: .identityRequired,
            message: "Only users have ballots in this feed: sign in first."
        )
    }

    /// Only services may do this.
    static var serviceOnly: Status {
        Status(
            code: .permissionDenied,
            reason: .serviceOnly,
            message: "Only a service may: say Hello with a service_key. Where there are no keys, "
                + "call from a loopback address."
        )
    }

    /// The bytes after this frame cannot be understood, and the connection closes.
    static func badFrame(_ message: String) -> Status {
        Status(code: .invalidArgument, reason: .badFrame, message: message)
    }

    /// A text is not UTF-8, or has a NUL.
    static func badText(field: String) -> Status {
        invalid(.badText, field: field, "\(field) is not UTF-8 without NUL.")
    }

    /// There are as many connections as the service takes.
    static func tooManyConnections(limit: Int) -> Status {
        Status(
            code: .resourceExhausted,
            reason: .tooManyConnections,
            message: "The service has its limit of \(limit) connections.",
            retryAfterMilliseconds: 1000
        )
    }
}
