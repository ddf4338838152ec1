internal import FeedConcurrency
internal import FeedProto

/// The refusals of new posts and edits, and of their deletion by the one who made them.
extension Status {
    /// A host, a device or a user creates more in an hour than it may.
    static func tooManyPosts(_ excess: PostAdmission.Excess) -> Status {
        let noun = excess.isOfBytes ? "bytes of posts" : "posts"
        return Status(
            code: .resourceExhausted,
            reason: .rateLimited,
            message: "This \(excess.identity.creatorNoun) has created its limit of \(excess.limit) "
                + "\(noun) an hour.",
            retryAfterMilliseconds: UInt32(clamping: excess.wait.millisecondsRoundedDown + 1)
        )
    }

    /// The posts take as much memory as they may.
    static func noRoomForPosts(byteCount: Int, limit: Int) -> Status {
        Status(
            code: .resourceExhausted,
            reason: .noRoomForPosts,
            message: "The posts take \(byteCount) bytes of memory, and the limit is \(limit). "
                + "Reads, votes and deletions are taken."
        )
    }

    /// Only users and services may create posts here.
    static var usersCreatePosts: Status {
        Status(
            code: .unauthenticated,
            reason: .identityRequired,
            message: "Only users may create posts here: sign in first."
        )
    }

    /// A deletion names nobody.
    static var deletionOfAllPosts: Status {
        .invalid(
            .badField,
            field: "apply",
            "apply is true, but neither author_id, nor client_id, nor host is given: the call would "
                + "delete the posts of all."
        )
    }

    /// The host of a deletion is no address.
    static func badHost(_ text: String) -> Status {
        .invalid(
            .badField,
            field: "host",
            "host is \"\(text.prefix(64))\"; expected an IPv4 or an IPv6 address."
        )
    }

    /// The client_id of a deletion has another length.
    static func badClientID(_ count: Int) -> Status {
        .invalid(
            .badField,
            field: "client_id",
            "client_id has \(count) bytes; it has \(Caller.Device.byteCount), or none.",
            limit: UInt64(Caller.Device.byteCount),
            actual: UInt64(count)
        )
    }
}

extension ClientIdentity {
    /// What the message of a refusal calls it.
    fileprivate var creatorNoun: String {
        switch self {
        case .device: "device"
        case .user: "user"
        case .address, .network, .key, .earlierRun: "host"
        }
    }
}
