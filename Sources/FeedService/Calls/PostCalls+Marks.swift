internal import FeedProto
internal import FeedRanking

/// MarkPosts, and the counts of unread posts.
extension PostCalls {
    /// Checks a MarkPosts and prepares the count that its answer has; false when that needs another
    /// loop iteration.
    ///
    /// The indexes that the count needs are built before the marks are made, as a change is not
    /// interrupted.
    mutating func prepareMarkPosts(
        _ request: MarkPostsRequest,
        from caller: borrowing Caller
    ) throws(Status) -> Bool {
        let feed = try check(request).feed
        return environment.store.prepareUnreadCount(
            in: feed,
            by: environment.voter(of: caller),
            markingThrough: request.postIDs.isEmpty ? PostID(rawValue: request.throughPostID) : nil,
            allowance: &refreshAllowance
        )
    }

    /// Marks posts for the caller; the answer is `unreadCount(after:from:)`.
    func markPosts(_ request: MarkPostsRequest, from caller: inout Caller) throws(Status) -> Answer
    {
        let (mark, feed) = try check(request)
        let viewer = try environment.becomeVoter(&caller)
        do throws(RankingError) {
            if request.postIDs.isEmpty {
                try environment.store.mark(
                    through: PostID(rawValue: request.throughPostID),
                    in: feed,
                    as: mark,
                    by: viewer,
                    sink: environment.changeLog
                )
            } else {
                try environment.store.mark(
                    request.postIDs.map(PostID.init(rawValue:)),
                    as: mark,
                    by: viewer,
                    sink: environment.changeLog
                )
            }
        } catch {
            throw Status(error)
        }
        return .response(.empty, revision: environment.store.revision)
    }

    /// The answer to a MarkPosts that is executed, now or before.
    ///
    /// It looks at all marks of the viewer on single posts, so it holds neither the change log nor
    /// the channel. `prepareMarkPosts` has charged the looks.
    func unreadCount(
        after request: MarkPostsRequest,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
        let feed = request.feed.isEmpty ? nil : try environment.feed(named: request.feed)
        var allowance = RefreshAllowance(keyCount: .max)
        let count = environment.store.unreadCount(
            in: feed,
            by: environment.voter(of: caller),
            allowance: &allowance
        )
        return .response(
            .markPosts(MarkPostsResponse(unreadCount: count ?? 0)),
            revision: environment.store.revision
        )
    }

    /// Refuses a MarkPosts that is wrong by itself.
    private func check(
        _ request: MarkPostsRequest
    ) throws(Status) -> (mark: FeedRanking.Mark, feed: FeedID?) {
        guard let mark = FeedRanking.Mark(request.mark) else {
            throw .unknownValue(request.mark, field: "mark")
        }
        let feed = request.feed.isEmpty ? nil : try environment.feed(named: request.feed)
        guard request.postIDs.isEmpty != (request.throughPostID == 0) else {
            throw .invalid(
                .badField,
                field: "post_ids",
                "MarkPosts takes either post_ids or through_post_id."
            )
        }
        if !request.postIDs.isEmpty {
            let limit = environment.context.limits.maximumBatchGetCount
            try environment.checkBatch(request.postIDs.count, field: "post_ids", limit: limit)
        }
        return (mark, feed)
    }

    /// All feeds with their policies, sizes and the caller's unread posts.
    mutating func listFeeds(for caller: borrowing Caller) -> Answer {
        let revision = environment.store.revision
        let marks = environment.voter(of: caller).flatMap { environment.store.marks(of: $0) }
        let hasIdentity = caller.isViewer
        let summaries = environment.store.feeds()
        var counts: [UInt64]?
        if let marks {
            counts = environment.store.unreadCounts(
                of: summaries,
                marks,
                allowance: &refreshAllowance
            )
            guard counts != nil else { return .again }
        }
        var feeds: [Feed] = []
        for (number, summary) in summaries.enumerated() {
            var feed = Feed(summary.policy, postCount: summary.postCount)
            if hasIdentity { feed.unreadCount = counts?[number] ?? summary.postCount }
            feeds.append(feed)
        }
        return .response(.listFeeds(ListFeedsResponse(feeds: feeds)), revision: revision)
    }
}
