package import FeedProto

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
    private var posts: [UInt64: Post] = [:]
    private var ids: [UInt64]

    /// The copy of a watch that has had no event.
    package init(of request: WatchPostsRequest) {
        source = request.postIDs.isEmpty ? .ranking : .request
        ids = Self.watched(request.postIDs)
    }

    /// The first ids of a list, each once.
    private static func watched(_ ids: [UInt64]) -> [UInt64] {
        var seen: Set<UInt64> = []
        // Not lazy: a lazy filter runs again for each pass, and the second would find no new id.
        return Array(ids.filter { seen.insert($0).inserted }.prefix(maximumPostCount))
    }

    /// The ids of the watched posts in the order of now.
    package var ranking: [UInt64] { ids.filter { posts[$0] != nil } }

    /// A watched post; nil where the id is of none.
    package subscript(id: UInt64) -> Post? { posts[id] }

    /// Whether the copy has each post of the list's order.
    package var isWhole: Bool { source == .request || ids.allSatisfy { posts[$0] != nil } }

    /// Events with more bytes of texts may lack posts, which follow in the next one.
    ///
    /// A service fills its frames to the limit of 1 MiB before it leaves a post to the next event.
    private static var resumableTextByteCount: Int { 1 << 16 }

    /// Applies an event; O(posts).
    ///
    /// - Parameters:
    ///   - event: What has changed.
    ///   - revision: The revision of its frame.
    ///   - isFirst: Whether it is the first one of its call, which always has the list's order.
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
