public import FeedProto

/// A list of posts: which feed, in which order, and which of its posts.
public struct PostList: Sendable, Hashable {
    /// The feed; empty is the front page over all feeds.
    public var feed: String
    /// The order; unspecified is the feed's default.
    public var order: Order
    /// The age of the posts, for TOP, CONTROVERSIAL and DISCUSSED; unspecified is any.
    public var window: Window
    /// The author of the posts; 0 is any.
    public var authorID: UserID
    /// Whether posts that the caller has read are left out.
    public var unreadOnly: Bool
    /// Whether posts that the caller has dismissed are in the list.
    public var includesDismissed: Bool
    /// Whether the pages are of one snapshot (STABLE); unspecified is LIVE.
    public var consistency: Consistency

    /// A list; by default all posts of all feeds.
    public init(
        feed: String = "",
        order: Order = .unspecified,
        window: Window = .unspecified,
        authorID: UserID = 0,
        unreadOnly: Bool = false,
        includesDismissed: Bool = false,
        consistency: Consistency = .unspecified
    ) {
        self.feed = feed
        self.order = order
        self.window = window
        self.authorID = authorID
        self.unreadOnly = unreadOnly
        self.includesDismissed = includesDismissed
        self.consistency = consistency
    }

    func request(pageSize: Int, from start: PageStart) -> ListPostsRequest {
        var request = ListPostsRequest(
            feed: feed,
            order: order,
            window: window,
            pageSize: Int32(clamping: pageSize),
            authorID: authorID,
            unreadOnly: unreadOnly,
            includesDismissed: includesDismissed,
            consistency: consistency
        )
        switch start {
        case .first: break
        case .token(let token): request.pageToken = token.bytes
        case .around(let id): request.start = .aroundPostID(id)
        case .rank(let rank): request.start = .rank(rank)
        case .newerThan(let id): request.start = .newerThanPostID(id)
        }
        return request
    }
}

/// A page of a feed, with the tokens of its neighbours.
public struct Page: Sendable, Equatable {
    /// The posts, in order; there may be few, and only a missing token marks the end.
    public var posts: [Post]
    /// Where the page after this one starts; nil at the end of the list.
    public var next: PageToken?
    /// Where the page before this one starts; nil at the start of the list.
    public var previous: PageToken?
    /// The token of the posts that are created after this page, in any order; nil on a page that was read
    /// by ``next`` or ``previous``.
    public var refresh: PageToken?
    /// The rank of the first post; 1 is the best.
    public var firstRank: UInt64
    /// How many posts the list has.
    public var totalSize: UInt64
    /// In an answer of newer posts, how many more there are, those that the list's filters leave out among
    /// them: read them by ``refresh``.
    public var newerCount: UInt32
    /// What was served: LIVE also if STABLE was asked for, and its snapshot is gone or ends.
    public var consistency: Consistency
    /// The list that the page is of.
    public var list: PostList
    /// How many posts were asked for; 0 is the service's default.
    public var pageSize: Int

    /// A page, by default the only one.
    public init(
        posts: [Post],
        next: PageToken? = nil,
        previous: PageToken? = nil,
        firstRank: UInt64 = 1,
        totalSize: UInt64 = 0,
        refresh: PageToken? = nil,
        newerCount: UInt32 = 0,
        consistency: Consistency = .unspecified,
        of list: PostList = PostList(),
        pageSize: Int = 0
    ) {
        self.posts = posts
        self.next = next
        self.previous = previous
        self.firstRank = firstRank
        self.totalSize = totalSize
        self.refresh = refresh
        self.newerCount = newerCount
        self.consistency = consistency
        self.list = list
        self.pageSize = pageSize
    }

    init(_ response: ListPostsResponse, of list: PostList, pageSize: Int) {
        posts = response.posts
        next = PageToken(bytes: response.nextPageToken)
        previous = PageToken(bytes: response.previousPageToken)
        firstRank = response.firstRank
        totalSize = response.totalSize
        refresh = PageToken(bytes: response.refreshToken)
        newerCount = response.newerCount
        consistency = response.consistency
        self.list = list
        self.pageSize = pageSize
    }
}

/// A place in a list.
///
/// It may be kept for any time: it stays valid when posts come and go.
///
/// It belongs to its feed, order and caller; elsewhere the service refuses it.
public struct PageToken: Sendable, Hashable {
    /// The bytes that the service issued; they mean something to the service only.
    public let bytes: [UInt8]

    /// A stored token; nil of no bytes.
    public init?(bytes: [UInt8]) {
        guard !bytes.isEmpty else { return nil }
        self.bytes = bytes
    }
}

/// Where a page starts.
public enum PageStart: Sendable, Hashable {
    /// At the first post.
    case first
    /// At the token of another page.
    case token(PageToken)
    /// With the page that holds a post.
    case around(PostID)
    /// At a rank; 1 is the first post.
    case rank(UInt64)
    /// With the posts created since a post, in the order NEW, or OLD in a list of OLD.
    case newerThan(PostID)
}

extension FeedCalling {
    /// Reads a page.
    ///
    /// - Parameters:
    ///   - feed: The feed; empty is the front page over all feeds.
    ///   - order: The order; unspecified is the feed's default.
    ///   - pageSize: How many posts; 0 is the service's default, and it has a limit.
    ///   - start: Where the page starts.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Returns: The page; it counts every vote that was answered before.
    /// - Throws: A ``FeedClientError``, as `PAGE_TOKEN_MISMATCH` for the token of another list.
    public func listPosts(
        in feed: String = "",
        order: Order = .unspecified,
        pageSize: Int = 0,
        from start: PageStart = .first,
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> Page {
        try await listPosts(
            PostList(feed: feed, order: order),
            pageSize: pageSize,
            from: start,
            timeout: timeout
        )
    }

    /// Reads a page of a list.
    ///
    /// - Parameters:
    ///   - list: The feed, the order and which posts.
    ///   - pageSize: How many posts; 0 is the service's default, and it has a limit.
    ///   - start: Where the page starts. ``Page/refresh`` is the token of what has come since.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Returns: The page; it counts every vote that was answered before.
    /// - Throws: A ``FeedClientError``, as `PAGE_TOKEN_MISMATCH` for the token of another list.
    public func listPosts(
        _ list: PostList,
        pageSize: Int = 0,
        from start: PageStart = .first,
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> Page {
        let request = Request.listPosts(list.request(pageSize: pageSize, from: start))
        return try await call(request, timeout: timeout) {
            guard case .listPosts(let response) = $0 else { return nil }
            return Page(response, of: list, pageSize: pageSize)
        }
    }

    /// Reads the page after another one.
    ///
    /// - Parameters:
    ///   - page: The other page.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Returns: The page; nil if the other one is the last.
    /// - Throws: A ``FeedClientError``, as ``listPosts(_:pageSize:from:timeout:)``.
    public func next(
        after page: Page,
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> Page? {
        try await neighbour(page.next, of: page, timeout)
    }

    /// Reads the page before another one.
    ///
    /// - Parameters:
    ///   - page: The other page.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Returns: The page; nil if the other one is the first.
    /// - Throws: A ``FeedClientError``, as ``listPosts(_:pageSize:from:timeout:)``.
    public func previous(
        before page: Page,
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> Page? {
        try await neighbour(page.previous, of: page, timeout)
    }

    private func neighbour(
        _ token: PageToken?,
        of page: Page,
        _ timeout: Duration?
    ) async throws(FeedClientError) -> Page? {
        guard let token else { return nil }
        return try await listPosts(
            page.list,
            pageSize: page.pageSize,
            from: .token(token),
            timeout: timeout
        )
    }

    /// All posts of a list, read page by page as they are asked for.
    ///
    /// Each page is read in the order of its moment: a post that votes move meanwhile may come
    /// twice or not at all.
    public func posts(
        in feed: String = "",
        order: Order = .unspecified,
        pageSize: Int = 0
    ) -> PostSequence {
        posts(PostList(feed: feed, order: order), pageSize: pageSize)
    }

    /// All posts of a list, read page by page as they are asked for.
    ///
    /// Pages of a STABLE list are of one snapshot, as deep as the service keeps it.
    public func posts(_ list: PostList, pageSize: Int = 0) -> PostSequence {
        PostSequence(client: self, list: list, pageSize: pageSize)
    }
}

/// The posts of a list from the first to the last; a page is read when its first post is wanted.
public struct PostSequence: AsyncSequence, Sendable {
    /// The element of the sequence.
    public typealias Element = Post
    /// Why it may end before the last post.
    public typealias Failure = FeedClientError

    /// The most pages without a post that are read for one: a filter of a page looks at 5,000 posts, so that
    /// is one of 327 million.
    package static var maximumEmptyPageCount: Int { 1 << 16 }

    fileprivate let client: any FeedCalling
    fileprivate let list: PostList
    fileprivate let pageSize: Int

    /// Starts at the first post.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// A place in the list.
    public struct Iterator: AsyncIteratorProtocol {
        private let sequence: PostSequence
        private var posts: ArraySlice<Post> = []
        /// Where the next page starts; nil at the end of the list.
        private var nextStart: PageStart? = .first
        /// How many pages without a post have followed one another.
        private var emptyPageCount = 0

        fileprivate init(_ sequence: PostSequence) { self.sequence = sequence }

        /// The next post; nil after the last one.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(FeedClientError) -> Post? {
            while posts.isEmpty, let start = nextStart {
                let page = try await sequence.client.listPosts(
                    sequence.list,
                    pageSize: sequence.pageSize,
                    from: start
                )
                posts = page.posts[...]
                nextStart = page.next.map(PageStart.token)
                emptyPageCount = posts.isEmpty ? emptyPageCount + 1 : 0
                if let problem = problem(after: start) {
                    nextStart = nil
                    throw .protocolViolation(reason: problem, effect: .none)
                }
            }
            return posts.popFirst()
        }

        /// Why the pages would not come to an end; nil while they lead on.
        private func problem(after start: PageStart) -> String? {
            if nextStart == start { return "The token of a page leads to the same page." }
            guard nextStart != nil, emptyPageCount >= PostSequence.maximumEmptyPageCount else {
                return nil
            }
            return "\(emptyPageCount) pages in a row have no post, and lead on."
        }

        /// The next post; nil after the last one.
        public mutating func next() async throws(FeedClientError) -> Post? {
            try await next(isolation: nil)
        }
    }
}
