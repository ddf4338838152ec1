internal import FeedProto

/// The refusals of watches, and the reasons for their ends.
extension Status {
    /// The connection has as many watches as it may.
    static func tooManyWatches(ofConnection limit: Int) -> Status {
        Status(
            code: .resourceExhausted,
            reason: .tooManyWatches,
            message: "The connection has its limit of \(limit) watches; cancel one first."
        )
    }

    /// All connections together have as many watches as they may, or those of the caller's host.
    static func tooManyWatches(_ refusal: WatchAdmission.Refusal, ofService limit: Int) -> Status {
        let message =
            switch refusal {
            case .full: "The service has its limit of \(limit) watches."
            case .hostIsFull(let count):
                "Your host has \(count) watches, which is its share of the service's \(limit) now."
            }
        return Status(
            code: .resourceExhausted,
            reason: .tooManyWatches,
            message: message,
            retryAfterMilliseconds: 1000
        )
    }

    /// A request names both a list and posts.
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

    /// The client has cancelled the watch.
    static var watchCancelled: Status {
        Status(code: .cancelled, reason: .cancelled, message: "The watch was cancelled.")
    }

    /// The service stops.
    static var watchDrained: Status {
        Status(
            code: .unavailable,
            reason: .draining,
            message: "The service is about to stop; watch again elsewhere or later."
        )
    }

    /// The connection's caller is not the user any more that the watch was begun by.
    static var watchOfFormerUser: Status {
        Status(
            code: .unauthenticated,
            reason: .sessionExpired,
            message: "The session that the watch was begun with is not the connection's any more."
        )
    }

    /// The event of a watch does not fit into a frame, which the limits rule out.
    static func watchDoesNotFit(_ error: FrameError) -> Status {
        Status(code: .internal, reason: .internal, message: "An event does not fit: \(error)")
    }
}
