internal import FeedProto
internal import FeedRanking

/// ListPosts.
extension PostCalls {
    /// Reads a page of a feed, or of the front page over all feeds.
    mutating func listPosts(
        _ request: ListPostsRequest,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
        let revision = environment.store.revision
        let feed = request.feed.isEmpty ? nil : try environment.feed(named: request.feed)
        let order = try environment.order(request.order, in: feed, field: "order")
        let window = try environment.window(request.window, of: order)
        let scope = PageTokenScope(
            feed: feed,
            order: order,
            window: window,
            device: caller.device
        )
        let query = PageQuery(
            feed: feed,
            order: order,
            window: window,
            size: try pageSize(request.pageSize),
            start: try start(of: request, in: scope),
            byteLimit: environment.context.pageByteLimit,
            voter: environment.voter(of: caller)
        )
        page.removeAll()
        do throws(RankingError) {
            switch try environment.store.page(query, into: &page, allowance: &refreshAllowance) {
            case .done:
                return .postsInPage(.page(scope), revision: revision)
            case .again:
                return .again
            }
        } catch {
            throw Status(error)
        }
    }

    private func pageSize(_ size: Int32) throws(Status) -> Int {
        guard size >= 0 else {
            throw .invalid(
                .badPageSize,
                field: "page_size",
                "page_size is \(size); it is 0 for the usual size, or 1 to "
                    + "\(environment.context.limits.maximumPageSize).",
                limit: UInt64(environment.context.limits.maximumPageSize),
                actual: UInt64(bitPattern: Int64(size))
            )
        }
        if size == 0 { return environment.context.limits.defaultPageSize }
        return min(Int(size), environment.context.limits.maximumPageSize)
    }

    private func start(
        of request: ListPostsRequest,
        in scope: PageTokenScope
    ) throws(Status) -> PageQuery.Start {
        guard request.pageToken.isEmpty else {
            guard
                let cursor = environment.context.tokens.cursor(from: request.pageToken, in: scope)
            else {
                throw .pageTokenMismatch
            }
            return .cursor(cursor)
        }
        switch request.start {
        case .aroundPostID(let id):
            return .around(PostID(rawValue: id))
        case .rank(let rank):
            guard rank > 0 else {
                throw .invalid(
                    .badField,
                    field: "start_rank",
                    "start_rank is 0; the first post has rank 1."
                )
            }
            return .rank(rank)
        case .newerThanPostID:
            throw .invalid(
                .badField,
                field: "newer_than_post_id",
                "newer_than_post_id is not served yet."
            )
        case nil:
            return .first
        }
    }
}
