public import FeedProto

/// What a watch is of: the first posts of a list, or single posts.
public struct PostWatch: Sendable, Hashable {
    /// Which posts are watched.
    public enum Subject: Sendable, Hashable {
        /// The first posts of the list: 1 to 100.
        case top(Int)
        /// The posts of these ids: 1 to 200, in the order in which they are shown.
        case posts([PostID])
    }

    /// Which posts are watched.
    public var subject: Subject
    /// The list of the first posts; its consistency is not read, nor is it for single posts.
    public var list: PostList

    /// A watch of the first posts of a list.
    public init(_ subject: Subject, of list: PostList) {
        self.subject = subject
        self.list = list
    }

    /// A watch of the first posts of a list without filters, dismissed posts included, or of single posts,
    /// which need no list.
    ///
    /// - Parameters:
    ///   - subject: How many posts.
    ///   - feed: The feed; empty is the front page over all feeds.
    ///   - order: The order; unspecified is the feed's default.
    ///   - window: The age of the posts, for TOP, CONTROVERSIAL and DISCUSSED; unspecified is any.
    public init(
        _ subject: Subject,
        in feed: String = "",
        order: Order = .unspecified,
        window: Window = .unspecified
    ) {
        let list = PostList(feed: feed, order: order, window: window, includesDismissed: true)
        self.init(subject, of: list)
    }

    /// The request that begins the watch; `interval` is the least time between two events, and nil the
    /// service's default.
    package func request(interval: Duration?) -> WatchPostsRequest {
        var request = WatchPostsRequest()
        request.minimumIntervalMilliseconds = interval.map(Self.milliseconds) ?? 0
        switch subject {
        case .top(let count):
            request.feed = list.feed
            request.order = list.order
            request.window = list.window
            request.authorID = list.authorID
            request.unreadOnly = list.unreadOnly
            request.excludesDismissed = !list.includesDismissed
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

/// The posts of a watch as a reader sees them: the numbers are those of now, and the rows stay.
///
/// No row moves, comes or goes until the program asks for the new order, with
/// ``WatchSequence/refresh()`` or with ``refresh()`` on a value of its own. A list without rows fills by
/// itself, as by a refresh.
public struct WatchedPosts: Sendable, Equatable {
    /// The rows, in the order of the last refresh.
    ///
    /// A row that is watched no more keeps its last numbers; ``removedIDs`` has its id.
    public private(set) var rows: [Post]
    /// The rows that are watched no more, in their order: those posts were deleted, or others have taken
    /// their places among the first.
    public private(set) var removedIDs: [PostID] = []

    private var copy: WatchCopy
    /// The new posts that the rows already show or have passed over.
    private var seenNewPostCount: UInt64

    package init(_ copy: WatchCopy) {
        self.copy = copy
        rows = copy.rows
        seenNewPostCount = copy.newPostCount
    }

    /// The ids of the watched posts in the order of now: what the rows are after a refresh.
    public var ranking: [PostID] { copy.ranking }

    /// Whether a refresh would move, add or remove rows; O(rows).
    public var hasNewOrder: Bool { !rows.lazy.map(\.id).elementsEqual(ranking) }

    /// How many posts were created in the list's feed since the last refresh, whether or not they are
    /// among the first.
    ///
    /// Posts that were created while the connection was lost are not counted.
    public var newPostCount: UInt64 { copy.newPostCount - seenNewPostCount }

    /// The new posts of the whole watch, those before the last refresh too.
    package var allNewPostCount: UInt64 { copy.newPostCount }

    /// The state that the numbers are of: they show every change up to this revision.
    ///
    /// A row with a higher `revision` shows a later change, too.
    public var revision: UInt64 { copy.revision }

    /// Puts the rows into the order of now, with posts that have come and without those that are
    /// watched no more; O(rows).
    public mutating func refresh() { self = Self(copy) }

    /// Gives a row another id: a post that was made on the device has got that of the service; O(rows).
    package mutating func rename(_ id: PostID, to newID: PostID) {
        for place in rows.indices where rows[place].id == id { rows[place].id = newID }
    }

    /// Brings the numbers of the rows up to date, and fills a list without rows; O(rows).
    package mutating func follow(_ copy: WatchCopy) {
        self.copy = copy
        // No row can move.
        if rows.isEmpty, !ranking.isEmpty { return refresh() }
        removedIDs = []
        for place in rows.indices {
            if let post = copy[rows[place].id] {
                rows[place] = post
            } else {
                removedIDs.append(rows[place].id)
            }
        }
    }
}

extension WatchCopy {
    fileprivate var rows: [Post] { ranking.compactMap { self[$0] } }
}

/// What a client has of a watch: the watched posts as they are, however often they have changed.
///
/// A copy holds at most 200 posts, as a watch has. It leaves out further ones that a service sends.
package struct WatchCopy: Sendable, Equatable {
    private static var maximumPostCount: Int { 200 }

    /// Where the order of the posts comes from.
    private enum Source: Equatable {
        /// From the events: the list's own.
        case ranking
        /// From the request: the single posts in their order.
        case request
    }

    /// The revision of the last event; 0 before the first.
    package private(set) var revision: UInt64 = 0
    /// The posts that were created in the list's feed, as far as events have named them.
    package private(set) var newPostCount: UInt64 = 0
    /// Whether an event that brings what has changed since ``revision`` makes the copy whole again.
    package private(set) var isResumable = false

    private let source: Source
    private var posts: [PostID: Post] = [:]
    private var ids: [PostID]

    package init(of request: WatchPostsRequest) {
        source = request.postIDs.isEmpty ? .ranking : .request
        ids = Self.watched(request.postIDs)
    }

    /// The first ids of a list, each once.
    private static func watched(_ ids: [PostID]) -> [PostID] {
        var seen: Set<PostID> = []
        // Not lazy: a lazy filter runs again for each pass, and the second would find no new id.
        return Array(ids.filter { seen.insert($0).inserted }.prefix(maximumPostCount))
    }

    package var ranking: [PostID] { ids.filter { posts[$0] != nil } }

    package subscript(id: PostID) -> Post? { posts[id] }

    /// Whether the copy has each post of the list's order.
    package var isWhole: Bool { source == .request || ids.allSatisfy { posts[$0] != nil } }

    /// Events with more bytes of texts may lack posts, which follow in the next one.
    ///
    /// A service fills its frames to the limit of 1 MiB before it leaves a post to the next event.
    private static var resumableTextByteCount: Int { 1 << 16 }

    /// Applies an event of a frame with a revision; the first one of its call always has the list's order;
    /// O(posts).
    package mutating func apply(_ event: WatchPostsEvent, revision: UInt64, isFirst: Bool) {
        if event.isReset { posts = [:] }
        var textByteCount = 0
        for post in event.changed {
            textByteCount += post.textByteCount
            if post.feed.isEmpty {
                posts[post.id]?.adoptNumbers(of: post)
            } else {
                posts[post.id] = post
            }
        }
        for id in event.removedIDs { posts[id] = nil }
        if source == .ranking {
            if isFirst || !event.ranking.isEmpty {
                ids = Self.watched(event.ranking)
            } else if !event.removedIDs.isEmpty {
                let removed = Set(event.removedIDs)
                ids.removeAll(where: removed.contains)
            }
        }
        let watched = Set(ids)
        posts = posts.filter { watched.contains($0.key) }
        newPostCount &+= UInt64(event.newPostCount)
        self.revision = revision
        isResumable = isWhole && textByteCount <= Self.resumableTextByteCount
    }
}

extension Post {
    /// Takes over what an event says of a post without its texts.
    fileprivate mutating func adoptNumbers(of post: Post) {
        score = post.score
        upvoteCount = post.upvoteCount
        downvoteCount = post.downvoteCount
        revision = post.revision
        viewer = post.viewer
    }

    fileprivate var textByteCount: Int {
        title.utf8.count + text.utf8.count + linkURL.utf8.count + thumbnailURL.utf8.count
            + imageURL.utf8.count
    }
}
