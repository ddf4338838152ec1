internal import FeedConcurrency
internal import FeedProto

/// The refusals of a key, or of a host, whose clients take more than one may.
extension Status {
    /// A host's channels take the memory that it may have.
    static func tooManyChannels(hostByteCount: Int, limit: Int) -> Status {
        Status(
            code: .resourceExhausted,
            reason: .tooManyChannels,
            message: "The channels of this host take \(hostByteCount) bytes, which is its share of "
                + "the limit of \(limit) for all hosts. Calls without a sequence are taken.",
            retryAfterMilliseconds: 10_000
        )
    }

    /// A host opens new channels faster than it may.
    static func newChannelsTooFast(perMinute: Int, wait: Duration) -> Status {
        Status(
            code: .resourceExhausted,
            reason: .tooManyChannels,
            message: "This host opens new channels faster than its limit of \(perMinute) a minute. "
                + "Calls without a sequence are taken.",
            retryAfterMilliseconds: retryTime(wait)
        )
    }

    /// There is no memory to record one more call of the channel.
    static func noRoomForCalls(limit: Int) -> Status {
        Status(
            code: .resourceExhausted,
            reason: .tooManyChannels,
            message: "The channels of this host take its share of the limit of \(limit) bytes for "
                + "all hosts; no further calls can be remembered.",
            retryAfterMilliseconds: 1000
        )
    }

    /// A host brings more new devices than one may.
    static func tooManyDevices(limit: Int, wait: Duration) -> Status {
        Status(
            code: .resourceExhausted,
            reason: .rateLimited,
            message: "This host has brought its limit of \(limit) new devices a minute.",
            retryAfterMilliseconds: retryTime(wait)
        )
    }

    /// The callers of an identity send more than they may.
    static func rateLimited(
        _ noun: String,
        perSecond limit: Int,
        retryAfter: Duration
    ) -> Status {
        Status(
            code: .resourceExhausted,
            reason: .rateLimited,
            message: "The limit of this caller's key or host is \(limit) \(noun) a second.",
            retryAfterMilliseconds: UInt32(clamping: retryAfter.millisecondsRoundedDown + 1)
        )
    }

    /// A key or a host has as many connections as it may.
    static func tooManyConnections(ofIdentity limit: Int) -> Status {
        Status(
            code: .resourceExhausted,
            reason: .tooManyConnections,
            message: "This key or host has \(limit) connections, or as many as are left.",
            retryAfterMilliseconds: 1000
        )
    }

    /// A wait for clients, which is long enough that they do not all call again at once.
    private static func retryTime(_ wait: Duration) -> UInt32 {
        UInt32(clamping: max(1000, wait.millisecondsRoundedDown))
    }
}
