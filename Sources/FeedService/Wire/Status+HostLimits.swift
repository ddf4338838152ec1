internal import FeedConcurrency
internal import FeedProto

/// The refusals of a host whose clients take more than one host may.
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

    /// A wait for clients, which is long enough that they do not all call again at once.
    private static func retryTime(_ wait: Duration) -> UInt32 {
        UInt32(clamping: max(1000, wait.millisecondsRoundedDown))
    }
}
