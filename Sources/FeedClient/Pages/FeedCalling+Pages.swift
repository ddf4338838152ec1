public import FeedProto

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
            return Page(response)
        }
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
