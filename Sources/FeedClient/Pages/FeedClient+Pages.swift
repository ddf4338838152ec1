public import FeedProto

extension FeedClient {
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
        var request = ListPostsRequest(
            feed: feed,
            order: order,
            pageSize: Int32(clamping: pageSize)
        )
        switch start {
        case .first: break
        case .token(let token): request.pageToken = token.bytes
        case .around(let id): request.start = .aroundPostID(id)
        case .rank(let rank): request.start = .rank(rank)
        }
        return try await call(.listPosts(request), timeout: timeout) {
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
        PostSequence(client: self, feed: feed, order: order, pageSize: pageSize)
    }
}
