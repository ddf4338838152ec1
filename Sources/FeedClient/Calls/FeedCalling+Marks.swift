public import FeedProto

/// What a caller has read and dismissed: a user, or else the device of the client's id.
extension FeedCalling {
    /// Marks posts.
    ///
    /// - Parameters:
    ///   - ids: The posts, at most 100.
    ///   - mark: Read, unread, dismissed or restored.
    ///   - feed: The feed that the answer counts; empty is the front page over all feeds.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Returns: How many posts of the feed the caller has neither read nor dismissed.
    /// - Throws: A ``FeedClientError``, as `IDENTITY_REQUIRED` for a client without identity.
    @discardableResult
    public func mark(
        _ ids: [UInt64],
        as mark: Mark,
        in feed: String = "",
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> UInt64 {
        try await markCall(MarkPostsRequest(feed: feed, mark: mark, postIDs: ids), timeout)
    }

    /// Marks all posts of a feed that were created up to one of them.
    ///
    /// - Parameters:
    ///   - id: The last post that is marked.
    ///   - mark: Read, unread, dismissed or restored.
    ///   - feed: The feed; empty is the front page over all feeds.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Returns: How many posts of the feed the caller has neither read nor dismissed.
    /// - Throws: A ``FeedClientError``, as `IDENTITY_REQUIRED` for a client without identity.
    @discardableResult
    public func mark(
        through id: UInt64,
        as mark: Mark,
        in feed: String = "",
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> UInt64 {
        try await markCall(MarkPostsRequest(feed: feed, mark: mark, throughPostID: id), timeout)
    }

    private func markCall(
        _ request: MarkPostsRequest,
        _ timeout: Duration?
    ) async throws(FeedClientError) -> UInt64 {
        try await call(.markPosts(request), timeout: timeout) {
            guard case .markPosts(let answer) = $0 else { return nil }
            return answer.unreadCount
        }
    }
}
