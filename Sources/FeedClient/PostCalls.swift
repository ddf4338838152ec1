public import FeedProto

extension FeedCalling {
    /// Imports up to 256 posts from another system with their times and counts, all or none.
    ///
    /// Only clients that the service accepts as a service may do so.
    ///
    /// - Parameters:
    ///   - posts: The posts with their creation times, their counts, their authors' names and what
    ///     ``PostDraft`` has.
    ///   - feed: The feed; empty is the feed `posts`.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Returns: The posts' ids, in their order.
    /// - Throws: A ``FeedClientError`` that names the posts and fields at fault.
    @discardableResult
    public func importPosts(
        _ posts: [Post],
        in feed: String = "",
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> [PostID] {
        let request = ImportPostsRequest(feed: feed, posts: posts)
        return try await call(.importPosts(request), timeout: timeout) {
            guard case .importPosts(let answer) = $0, answer.ids.count == posts.count else {
                return nil
            }
            return answer.ids
        }
    }

    /// Reads one post.
    public func getPost(
        _ id: PostID,
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> Post {
        try await postCall(.getPost(GetPostRequest(id: id)), timeout: timeout)
    }

    /// Reads up to 100 posts in one call, in the order of the ids.
    ///
    /// The answer names ids that no post has. If it has fewer posts than there are other ids, no
    /// more fitted into a frame: ask for the rest again.
    public func getPosts(
        _ ids: [PostID],
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> BatchGetPostsResponse {
        try await call(.batchGetPosts(BatchGetPostsRequest(ids: ids)), timeout: timeout) {
            if case .batchGetPosts(let posts) = $0 { posts } else { nil }
        }
    }

    /// Reads what has changed in a feed since a copy of it was brought up to date.
    ///
    /// - Parameters:
    ///   - request: The feed, and what the copy has.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Returns: The changed posts and the deleted ones, and from where to continue.
    /// - Throws: A ``FeedClientError``.
    public func syncPosts(
        _ request: SyncPostsRequest,
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> SyncPostsResponse {
        try await call(.syncPosts(request), timeout: timeout) {
            if case .syncPosts(let answer) = $0 { answer } else { nil }
        }
    }

    /// Changes fields of a post that need not be at hand; ``editPost(_:timeout:_:)`` edits one that is.
    ///
    /// - Parameters:
    ///   - post: The id and the new values. With a revision other than 0 the call is refused as
    ///     `REVISION_MISMATCH` if the post was edited since that revision.
    ///   - fields: The fields to take from `post`; the others are not read.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Returns: The post as it is now.
    /// - Throws: A ``FeedClientError``, as `REVISION_MISMATCH` if another caller was faster.
    public func updatePost(
        _ post: Post,
        fields: [PostField],
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> Post {
        try await postCall(
            .updatePost(UpdatePostRequest(post: post, updateMask: fields)),
            timeout: timeout
        )
    }

    /// Deletes a post; deleting it again is no error.
    ///
    /// - Parameters:
    ///   - id: The post.
    ///   - revision: With a value other than 0 the call is refused if the post was edited since.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Throws: A ``FeedClientError``, as `REVISION_MISMATCH` if another caller was faster.
    public func deletePost(
        _ id: PostID,
        revision: UInt64 = 0,
        timeout: Duration? = nil
    ) async throws(FeedClientError) {
        let request = DeletePostRequest(id: id, revision: revision)
        try await emptyCall(.deletePost(request), timeout: timeout)
    }

    /// Finds a post's place in its feed.
    ///
    /// - Parameters:
    ///   - id: The post.
    ///   - order: The order; unspecified is the feed's default.
    ///   - window: The age of the list's posts; unspecified is any.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Returns: The place, 1 for the best, and how many posts the list has.
    /// - Throws: A ``FeedClientError``, as `POST_NOT_FOUND`.
    public func rank(
        of id: PostID,
        order: Order = .unspecified,
        window: Window = .unspecified,
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> PostRank {
        let request = GetPostRankRequest(id: id, order: order, window: window)
        return try await call(.getPostRank(request), timeout: timeout) {
            if case .postRank(let rank) = $0 { rank } else { nil }
        }
    }

    func postCall(
        _ request: Request,
        timeout: Duration?
    ) async throws(FeedClientError) -> Post {
        try await call(request, timeout: timeout) {
            if case .post(let post) = $0 { post } else { nil }
        }
    }
}

extension FeedCalling {
    /// Votes on a post.
    ///
    /// In a TALLY feed a repeated vote counts again, so check ``FeedClientError/effect`` before
    /// repeating one. In a BALLOT feed a vote sets the caller's one ballot, for which the client
    /// needs an id.
    ///
    /// - Parameters:
    ///   - id: The post.
    ///   - direction: The direction of the vote.
    ///   - timeout: How long it may take; nil is the client's timeout.
    /// - Returns: The post's counts, including the vote.
    /// - Throws: A ``FeedClientError``, as `POST_NOT_FOUND`.
    @discardableResult
    public func vote(
        on id: PostID,
        _ direction: VoteDirection,
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> CastVoteResponse {
        try await call(
            .castVote(CastVoteRequest(postID: id, direction: direction)),
            timeout: timeout
        ) {
            if case .castVote(let counts) = $0 { counts } else { nil }
        }
    }

    /// Votes up to 256 times in one call; each vote succeeds or fails by itself.
    ///
    /// - Parameters:
    ///   - votes: The votes. Votes on one post are executed in their order; the order of votes on
    ///     different posts is not defined.
    ///   - timeout: How long all of them may take; nil is the client's timeout.
    /// - Returns: The result of each vote, in their order.
    /// - Throws: A ``FeedClientError`` if none of the votes has a result.
    public func votes(
        _ votes: [CastVoteRequest],
        timeout: Duration? = nil
    ) async throws(FeedClientError) -> [Result<CastVoteResponse, Status>] {
        try await call(.batchCastVotes(BatchCastVotesRequest(votes: votes)), timeout: timeout) {
            guard case .batchCastVotes(let batch) = $0, batch.results.count == votes.count else {
                return nil
            }
            let results = batch.results.compactMap(\.result)
            return results.count == votes.count ? results : nil
        }
    }
}

extension CastVoteResult {
    /// The one of the two that is present; nil if the service sent neither.
    fileprivate var result: Result<CastVoteResponse, Status>? {
        if let status { return .failure(status) }
        return vote.map(Result.success)
    }
}

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
        _ ids: [PostID],
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
        through id: PostID,
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
            if case .markPosts(let answer) = $0 { answer.unreadCount } else { nil }
        }
    }
}
