internal import FeedProto
internal import FeedRanking

/// MarkPosts, and the counts of unread posts.
extension PostCalls {
    /// Prepares the count that the answer has; false when it needs another loop iteration.
    ///
    /// The indexes that it needs are built before the marks are made, as a change is not interrupted.
    mutating func prepareMarkPosts(
        _ request: MarkPostsRequest,
        from caller: borrowing Caller
    ) throws(Status) -> Bool {
        let feed = request.feed.isEmpty ? nil : try environment.feed(named: request.feed)
        let voter = environment.voter(of: caller)
        let count = environment.store.unreadCount(
            in: feed,
            by: voter,
            allowance: &refreshAllowance
        )
        return count != nil
    }

    /// Marks posts for the caller.
    mutating func markPosts(
        _ request: MarkPostsRequest,
        from caller: inout Caller
    ) throws(Status) -> Answer {
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
        let limit = environment.context.limits.maximumBatchGetCount
        if !request.postIDs.isEmpty {
            try environment.checkBatch(request.postIDs.count, field: "post_ids", limit: limit)
        }
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
        return unread(in: feed, by: viewer)
    }

    /// The answer to a MarkPosts that was executed before.
    func marksNow(
        _ request: MarkPostsRequest,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
        let feed = request.feed.isEmpty ? nil : try environment.feed(named: request.feed)
        return unread(in: feed, by: environment.voter(of: caller))
    }

    private func unread(in feed: FeedID?, by viewer: VoterID?) -> Answer {
        var allowance = RefreshAllowance(keyCount: .max)
        let count = environment.store.unreadCount(in: feed, by: viewer, allowance: &allowance)
        return .response(
            .markPosts(MarkPostsResponse(unreadCount: count ?? 0)),
            revision: environment.store.revision
        )
    }

    /// All feeds with their policies, sizes and the caller's unread posts.
    mutating func listFeeds(for caller: borrowing Caller) -> Answer {
        let revision = environment.store.revision
        let marks = environment.voter(of: caller).flatMap { environment.store.marks(of: $0) }
        let hasIdentity = caller.isViewer
        var feeds: [Feed] = []
        for summary in environment.store.feeds() {
            var feed = Feed(summary.policy, postCount: summary.postCount)
            if hasIdentity { feed.unreadCount = summary.postCount }
            if let marks, marks.mayReach(summary.id) {
                let count = environment.store.unreadCount(
                    in: summary.id,
                    marks,
                    allowance: &refreshAllowance
                )
                guard let count else { return .again }
                feed.unreadCount = count
            }
            feeds.append(feed)
        }
        return .response(.listFeeds(ListFeedsResponse(feeds: feeds)), revision: revision)
    }
}
