/// Finds posts whose times lie more than five minutes ahead of the service's clock, and corrects
/// them on request.
///
/// Only a service may call this.
public struct CorrectTimesRequest: Equatable, Sendable {
    /// Whether the posts are corrected; false only lists them.
    public var appliesCorrection: Bool
    /// The time to set, in Unix milliseconds; 0 is the service's clock.
    public var timeMilliseconds: Int64
    /// Only posts with greater ids.
    public var afterID: UInt64
    /// The most posts in the answer; 0 means the service's default.
    public var limit: UInt32

    /// By default lists the first posts.
    public init(
        appliesCorrection: Bool = false,
        timeMilliseconds: Int64 = 0,
        afterID: UInt64 = 0,
        limit: UInt32 = 0
    ) {
        self.appliesCorrection = appliesCorrection
        self.timeMilliseconds = timeMilliseconds
        self.afterID = afterID
        self.limit = limit
    }
}

/// Posts that lie ahead of the clock, in the order of their ids.
public struct CorrectTimesResponse: Equatable, Sendable {
    /// The posts as they were found, before their correction; there may be none here and more after
    /// them.
    public var posts: [PostTimes]
    /// The id to continue after; 0 marks the end.
    public var nextAfterID: UInt64
    /// The clock that the posts were compared with, in Unix milliseconds.
    public var serverTimeMilliseconds: Int64

    /// An answer with these posts.
    public init(posts: [PostTimes], nextAfterID: UInt64, serverTimeMilliseconds: Int64) {
        self.posts = posts
        self.nextAfterID = nextAfterID
        self.serverTimeMilliseconds = serverTimeMilliseconds
    }
}

/// A post and its times.
public struct PostTimes: Equatable, Sendable {
    /// The post.
    public var id: UInt64
    /// The feed it is in.
    public var feed: String
    /// The post's title.
    public var title: String
    /// When it was created, in Unix milliseconds.
    public var createTimeMilliseconds: Int64
    /// When it was last edited, in Unix milliseconds.
    public var updateTimeMilliseconds: Int64

    /// A post with these times.
    public init(
        id: UInt64,
        feed: String = "",
        title: String = "",
        createTimeMilliseconds: Int64 = 0,
        updateTimeMilliseconds: Int64 = 0
    ) {
        self.id = id
        self.feed = feed
        self.title = title
        self.createTimeMilliseconds = createTimeMilliseconds
        self.updateTimeMilliseconds = updateTimeMilliseconds
    }
}
