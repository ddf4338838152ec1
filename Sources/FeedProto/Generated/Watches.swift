// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

import CFeedProto

/// Watches the first posts of a list, or single posts.
///
/// The answers are any number of events with `more`, the first at once, until a frame without:
/// CANCELLED after a Cancel, or why the watch ended. TOO_MANY_WATCHES where the connection has as
/// many as it may, or, with `retryAfterMilliseconds`, the service.
///
/// The answer: `WatchPostsEvent`.
public struct WatchPostsRequest: Equatable, Sendable {
    /// The feed of the list; empty is the front page over all feeds.
    public var feed: String
    /// The order of the list; unspecified is the feed's default order.
    public var order: Order
    /// The window of the list, as in ListPostsRequest; unspecified is all posts.
    public var window: Window
    /// How many posts from the first one on: at most 100; 0 where posts are named.
    public var topCount: UInt32
    /// The posts, at most 200; empty where `topCount` is given.
    public var postIDs: [UInt64]
    /// The least time between two events: 0 is 250; less than 50 is 50; more than 60,000 is 60,000.
    public var minimumIntervalMilliseconds: UInt32
    /// The revision of the last event of an earlier watch of the same posts: the first event has
    /// what has changed since.
    ///
    /// 0, or a revision that the service cannot resume from, is all of them.
    public var sinceRevision: UInt64

    /// All fields; each has a default.
    public init(
        feed: String = "",
        order: Order = .unspecified,
        window: Window = .unspecified,
        topCount: UInt32 = 0,
        postIDs: [UInt64] = [],
        minimumIntervalMilliseconds: UInt32 = 0,
        sinceRevision: UInt64 = 0
    ) {
        self.feed = feed
        self.order = order
        self.window = window
        self.topCount = topCount
        self.postIDs = postIDs
        self.minimumIntervalMilliseconds = minimumIntervalMilliseconds
        self.sinceRevision = sinceRevision
    }
}

/// What has changed since the event before.
///
/// The frame's revision is the state that it shows.
public struct WatchPostsEvent: Equatable, Sendable {
    /// The watched posts that have changed or are new among those watched, as they are now.
    ///
    /// Of a post without `feed` only `id`, `score`, the counts of votes, `revision` and `viewer`
    /// are set: the rest is as the client has it. Posts that do not fit into a frame follow in the
    /// next event. A post may show a later change than the frame's revision, which its own revision
    /// says; it then comes again.
    public var changed: [Post]
    /// The ids of the watched list in order, where they or their order have changed; else empty.
    ///
    /// Empty in the first event is a list without posts.
    public var ranking: [UInt64]
    /// Posts that are watched no more: deleted ones, and those that are no longer among the first.
    public var removedIDs: [UInt64]
    /// How many posts were created in the list's feed since the event before.
    public var newPostCount: UInt32
    /// Whether the event has all of the watched posts: what the client knew before is void.
    public var isReset: Bool

    /// All fields; each has a default.
    public init(
        changed: [Post] = [],
        ranking: [UInt64] = [],
        removedIDs: [UInt64] = [],
        newPostCount: UInt32 = 0,
        isReset: Bool = false
    ) {
        self.changed = changed
        self.ranking = ranking
        self.removedIDs = removedIDs
        self.newPostCount = newPostCount
        self.isReset = isReset
    }
}

extension WatchPostsRequest: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__WatchPostsRequest>) {
        unsafe feed__v1__watch_posts_request__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__WatchPostsRequest>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            feed: reader.text(message.pointee.feed, "feed"),
            order: Order(message.pointee.order),
            window: Window(message.pointee.window),
            topCount: message.pointee.top_count,
            postIDs: reader.numbers(message.pointee.post_ids, count: message.pointee.n_post_ids),
            minimumIntervalMilliseconds: message.pointee.min_interval_ms,
            sinceRevision: message.pointee.since_revision
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__WatchPostsRequest>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.feed = arena.text(feed)
        unsafe message.pointee.order = order.cValue()
        unsafe message.pointee.window = window.cValue()
        unsafe message.pointee.top_count = topCount
        unsafe message.pointee.n_post_ids = postIDs.count
        unsafe message.pointee.post_ids = arena.numbers(postIDs)
        unsafe message.pointee.min_interval_ms = minimumIntervalMilliseconds
        unsafe message.pointee.since_revision = sinceRevision
    }
}

extension WatchPostsEvent: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__WatchPostsEvent>) {
        unsafe feed__v1__watch_posts_event__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__WatchPostsEvent>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            changed: reader.messages(
                message.pointee.changed,
                count: message.pointee.n_changed,
                "changed"
            ),
            ranking: reader.numbers(message.pointee.ranking, count: message.pointee.n_ranking),
            removedIDs: reader.numbers(
                message.pointee.removed_ids,
                count: message.pointee.n_removed_ids
            ),
            newPostCount: message.pointee.new_post_count,
            isReset: message.pointee.reset != 0
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__WatchPostsEvent>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.n_changed = changed.count
        unsafe message.pointee.changed = arena.messages(changed)
        unsafe message.pointee.n_ranking = ranking.count
        unsafe message.pointee.ranking = arena.numbers(ranking)
        unsafe message.pointee.n_removed_ids = removedIDs.count
        unsafe message.pointee.removed_ids = arena.numbers(removedIDs)
        unsafe message.pointee.new_post_count = newPostCount
        unsafe message.pointee.reset = isReset ? 1 : 0
    }
}
