public import FeedProto

/// What a watch is of: the first posts of a list, or single posts.
public struct PostWatch: Sendable, Hashable {
    /// Which posts are watched.
    public enum Subject: Sendable, Hashable {
        /// The first posts of the list: 1 to 100.
        case top(Int)
        /// The posts of these ids: 1 to 200, in the order in which they are shown.
        case posts([UInt64])
    }

    /// Which posts are watched.
    public var subject: Subject
    /// The feed of the list; empty is the front page over all feeds.
    public var feed: String
    /// The order of the list; unspecified is the feed's default.
    public var order: Order
    /// The age of the list's posts, for TOP, CONTROVERSIAL and DISCUSSED; unspecified is any.
    public var window: Window

    /// A watch; feed, order and window are those of a list, and single posts need none of them.
    public init(
        _ subject: Subject,
        in feed: String = "",
        order: Order = .unspecified,
        window: Window = .unspecified
    ) {
        self.subject = subject
        self.feed = feed
        self.order = order
        self.window = window
    }

    /// The request that begins the watch; `interval` is the least time between two events, and nil the
    /// service's default.
    package func request(interval: Duration?) -> WatchPostsRequest {
        var request = WatchPostsRequest()
        request.minimumIntervalMilliseconds = interval.map(Self.milliseconds) ?? 0
        switch subject {
        case .top(let count):
            request.feed = feed
            request.order = order
            request.window = window
            request.topCount = UInt32(clamping: count)
        case .posts(let ids): request.postIDs = ids
        }
        return request
    }

    /// At least one, as 0 would be the service's default.
    private static func milliseconds(_ interval: Duration) -> UInt32 {
        let (seconds, attoseconds) = interval.components
        guard seconds >= 0, attoseconds >= 0 else { return 1 }
        guard seconds < 1_000_000 else { return .max }
        return UInt32(clamping: max(1, seconds * 1_000 + attoseconds / 1_000_000_000_000_000))
    }
}
