internal import FeedProto

/// What the service refuses, each with what happened, the value and the limit.
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

    /// An enum's number has no meaning here.
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

    /// No such post, or no longer.
    static func postNotFound(_ id: UInt64) -> Status {
        Status(code: .notFound, reason: .postNotFound, message: "No post has the id \(id).")
    }

    /// No such feed.
    static func feedNotFound(_ name: String) -> Status {
        Status(code: .notFound, reason: .feedNotFound, message: "No feed is named \(name).")
    }

    /// No feed can have a name of this length, which is not worth repeating.
    static func feedNameTooLong(_ byteCount: Int, limit: Int) -> Status {
        Status(
            code: .notFound,
            reason: .feedNotFound,
            message: "The feed's name has \(byteCount) bytes; no name has more than \(limit)."
        )
    }

    /// The frame holds no call, or one that this version does not know.
    static var unknownMethod: Status {
        Status(
            code: .unimplemented,
            reason: .unknownMethod,
            message: "The frame holds no call that \(ServiceVersion.serverName) knows."
        )
    }

    /// Nothing is kept beyond the process, and so there is nothing to back up.
    static var notDurable: Status {
        Status(
            code: .failedPrecondition,
            reason: .notDurable,
            message: "The service keeps its state in memory only; there is nothing to back up."
        )
    }

    /// The caller's time was over before the request's turn came.
    static func deadlineExceeded(waited: Duration, _ timeout: Duration) -> Status {
        Status(
            code: .deadlineExceeded,
            reason: .deadlineExceeded,
            message: "The request waited \(waited) for its turn; its timeout is \(timeout)."
        )
    }

    /// The caller has seen a newer state than there is.
    static func stateIsOlder(wanted: UInt64, revision: UInt64) -> Status {
        Status(
            code: .failedPrecondition,
            reason: .instanceChanged,
            message: "min_revision is \(wanted), and the newest revision is \(revision): the "
                + "state that it is from is gone.",
            isNotExecuted: false
        )
    }

    /// Too many bytes wait in buffers for writes to be taken.
    static func overloaded(limit: Int) -> Status {
        Status(
            code: .resourceExhausted,
            reason: .overloaded,
            message: "More than \(limit) bytes wait for slow connections; writes are refused "
                + "until they are fewer.",
            retryAfterMilliseconds: 1000
        )
    }

    /// The process has no memory for a request; whose it was is not known either.
    static var outOfMemory: Status {
        Status(
            code: .resourceExhausted,
            reason: .overloaded,
            message: "The service has no memory left for a request of this size.",
            retryAfterMilliseconds: 1000
        )
    }

    /// A batch holds more than its limit, or nothing.
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

    /// A ballot needs someone who casts it.
    static var identityRequired: Status {
        Status(
            code: .unauthenticated,
            reason: .identityRequired,
            message: "A ballot needs an identity: say Hello with a client_id of 16 bytes first."
        )
    }

    /// Only a service may do this, and no caller from another machine is one.
    static var serviceOnly: Status {
        Status(
            code: .permissionDenied,
            reason: .serviceOnly,
            message: "Only a service may: a caller that connects over a loopback address."
        )
    }

    /// A host brings more new devices than one may.
    static func tooManyDevices(limit: Int) -> Status {
        Status(
            code: .resourceExhausted,
            reason: .rateLimited,
            message: "This host has brought its limit of \(limit) new devices a minute.",
            retryAfterMilliseconds: 60_000
        )
    }

    /// The bytes after this frame cannot be understood, and the connection closes.
    static func badFrame(_ message: String) -> Status {
        Status(code: .invalidArgument, reason: .badFrame, message: message)
    }

    /// A text is not UTF-8, or holds a NUL.
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
