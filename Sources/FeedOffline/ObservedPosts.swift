public import FeedClient
import FeedConcurrency
import FeedProto
import FeedSQLite

extension OfflineFeed {
    /// The first posts of a list of the copy, whenever something of them has changed.
    ///
    /// As with a watch of the service no row moves, comes or goes by itself, but a list without rows fills.
    /// ``ObservedPosts/refresh()`` puts the rows into the order of now. A post that was made here stays its
    /// row when it gets its id.
    ///
    /// ```swift
    /// let observed = feed.observe(PostList(feed: "posts", order: .hot), limit: 50)
    /// for try await posts in observed { show(posts.rows) }
    /// ```
    ///
    /// - Parameters:
    ///   - list: The list, as of ``posts(_:from:limit:)``.
    ///   - limit: The most posts, 1 to 200; a number beside that is the nearest one.
    /// - Returns: The posts, from the first iteration on.
    public nonisolated func observe(
        _ list: PostList = PostList(),
        limit: Int = 20
    ) -> ObservedPosts {
        ObservedPosts(feed: self, list: list, limit: min(max(1, limit), 200))
    }

    /// What an observer reads: the first posts, and how many are newer than a place in NEW.
    fileprivate func observed(
        _ list: PostList,
        _ limit: Int,
        since newest: OfflinePlace?,
        localIDs: [PostID]
    ) throws(OfflineError) -> ObservedPage {
        let posts = try posts(list, limit: limit).posts
        return try perform { store throws(OfflineError) in
            var page = ObservedPage(userID: userID, posts: posts)
            for id in localIDs { page.ids[id] = try store.currentID(id) }
            (page.newest, page.newPostCount) = try store.newest(in: list.feed, since: newest)
            return page
        }
    }
}

private struct ObservedPage: Sendable {
    /// Whose changes the posts show.
    let userID: UserID
    let posts: [Post]
    /// The ids of now of posts that were made here.
    var ids: [PostID: PostID] = [:]
    var newest: OfflinePlace?
    var newPostCount = 0

    /// How many posts that were made here have got their ids: their rows are no new ones.
    var sentPostCount: Int { ids.count { $0.key != $0.value } }
}

extension OfflineStore {
    /// The newest post of a feed that the service has named, and how many are newer than a place; O(posts)
    /// for all feeds.
    fileprivate func newest(
        in feed: String,
        since place: OfflinePlace?
    ) throws(OfflineError) -> (newest: OfflinePlace?, count: Int) {
        let condition = (feed.isEmpty ? "" : "feed = ? AND ") + "base IS NOT NULL"
        let values: [OfflineDatabase.Value] = feed.isEmpty ? [] : [.text(feed)]
        let newest = try database.first(
            "SELECT created, id FROM posts WHERE \(condition) ORDER BY created DESC, id DESC LIMIT 1",
            values
        ) { OfflinePlace(key: $0.int64(0), title: "", id: $0.id(1)) }
        guard let place else { return (newest, 0) }
        let count = try number(
            "SELECT count(*) FROM posts WHERE \(condition) AND (created, id) > (?, ?)",
            values + [.int(place.key), .id(place.id)]
        )
        return (newest, Int(count))
    }
}

/// The first posts of a list of the copy, as they change; each iterator begins with the state of then.
///
/// A slow program gets the newest state. Once somebody else has signed in, the rows are those of a refresh:
/// call ``OfflineFeed/requestSync()`` then. The sequence ends with the feed and with the task that iterates,
/// and with an error of the file.
public struct ObservedPosts: AsyncSequence, Sendable {
    /// The posts as a reader sees them: the numbers of now in rows that stay.
    public typealias Element = WatchedPosts
    /// An error of the file, or ``OfflineError/unsupportedOrder(_:)``.
    public typealias Failure = OfflineError

    fileprivate final class Refreshes: Sendable {
        let count = Lock(0)
    }

    let feed: OfflineFeed
    let list: PostList
    let limit: Int
    fileprivate let refreshes = Refreshes()

    init(feed: OfflineFeed, list: PostList, limit: Int) {
        self.feed = feed
        self.list = list
        self.limit = limit
    }

    /// Puts the rows of all iterations into the order of now; an element comes at once.
    public func refresh() {
        refreshes.count.withLock { $0 += 1 }
        feed.board.wake()
    }

    /// Begins to observe.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// One iteration.
    public struct Iterator: AsyncIteratorProtocol {
        private let listener: Listener
        private var signals: AsyncStream<Void>.Iterator
        private var refreshCount: Int
        private var userID: UserID = 0
        private var copy: WatchCopy
        private var posts: WatchedPosts?
        private var newest: OfflinePlace?

        fileprivate init(_ observed: ObservedPosts) {
            listener = Listener(observed)
            signals = listener.mailbox.signals.makeAsyncIterator()
            refreshCount = observed.refreshes.count.withLock { $0 }
            copy = WatchCopy(of: WatchPostsRequest(topCount: 1))
        }

        /// The newest state, once there is one that was not returned before; nil at the end.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(OfflineError) -> WatchedPosts? {
            while true {
                if posts != nil, await signals.next(isolation: actor) == nil { return nil }
                guard !Task.isCancelled else { return nil }
                do throws(OfflineError) {
                    if try await read() { return posts }
                } catch {
                    if case .closed = error { return nil }
                    // They are dropped now, and the next sync brings them.
                    guard case .damagedPosts = error else { throw error }
                    if try await read() { return posts }
                }
            }
        }

        /// The newest state, once there is one that was not returned before; nil at the end.
        public mutating func next() async throws(OfflineError) -> WatchedPosts? {
            try await next(isolation: nil)
        }

        /// Reads the list; true if something has changed.
        nonisolated(nonsending) private mutating func read() async throws(OfflineError) -> Bool {
            let before = posts
            let count = listener.observed.refreshes.count.withLock { $0 }
            let page = try await listener.observed.feed.observed(
                listener.observed.list,
                listener.observed.limit,
                since: newest,
                localIDs: before?.rows.map(\.id).filter(LocalPostID.isLocal) ?? []
            )
            newest = page.newest ?? newest
            copy.apply(
                WatchPostsEvent(
                    changed: page.posts,
                    ranking: page.posts.map(\.id),
                    newPostCount: UInt32(clamping: page.newPostCount - page.sentPostCount),
                    isReset: true
                ),
                revision: page.posts.map(\.revision).max() ?? 0,
                isFirst: true
            )
            let isRefreshed = count != refreshCount || page.userID != userID
            (refreshCount, userID) = (count, page.userID)
            if posts == nil {
                posts = WatchedPosts(copy)
            } else {
                for (local, id) in page.ids where local != id { posts?.rename(local, to: id) }
                posts?.follow(copy)
                if isRefreshed { posts?.refresh() }
            }
            return isRefreshed || posts != before
        }
    }

    /// What an iterator and its copies hold.
    fileprivate final class Listener: Sendable {
        let observed: ObservedPosts
        let mailbox = ChangeMailbox()
        private let registration: ChangeBoard.Registration

        init(_ observed: ObservedPosts) {
            self.observed = observed
            registration = observed.feed.board.register(mailbox)
        }
    }
}
