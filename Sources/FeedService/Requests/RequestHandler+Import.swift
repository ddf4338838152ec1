internal import FeedProto
internal import FeedRanking

/// ImportPosts: posts from another system, all or none, and only from a service.
extension RequestHandler {
    /// Checks every post, then makes them all; their ids are consecutive, in their order.
    mutating func importPosts(
        _ request: ImportPostsRequest,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
        try requireService(caller)
        try checkBatch(
            request.posts.count,
            field: "posts",
            limit: context.limits.maximumImportPostCount
        )
        let feed = try self.feed(named: request.feed.isEmpty ? Self.defaultFeed : request.feed)
        let policy = policy(of: feed)
        let latestTime =
            context.timeOfDay()
            + context.limits.maximumImportedTimeLead.wholeMilliseconds
        for (index, post) in request.posts.enumerated() {
            let path = PostPath.item(index)
            try check(post, at: path, against: policy)
            try checkTime(post, at: path, latest: latestTime)
            try checkCount(post.upvoteCount, path, "upvote_count")
            try checkCount(post.downvoteCount, path, "downvote_count")
            try checkCount(post.commentCount, path, "comment_count")
        }
        let outcome: ImportOutcome
        do throws(RankingError) {
            outcome = try store.importPosts(
                request.posts.map(ImportedPost.init),
                in: feed,
                log: effects
            )
        } catch {
            throw Status(error)
        }
        for post in outcome.settlingDue { settleLater(stripeOf: post) }
        let first = outcome.firstID.rawValue
        return .response(
            .importPosts(
                ImportPostsResponse(ids: Array(first..<first + UInt64(request.posts.count)))
            ),
            revision: outcome.revision
        )
    }

    /// Refuses a caller that is no service: one that comes from another machine.
    func requireService(_ caller: borrowing Caller) throws(Status) {
        guard caller.isService else { throw .serviceOnly }
    }

    private func checkTime(_ post: Post, at path: PostPath, latest: Int64) throws(Status) {
        let time = post.createTimeMilliseconds
        guard time < 0 || time > latest else { return }
        let field = path.field("create_time_ms")
        throw .invalid(
            .badTime,
            field: field,
            "\(field) is \(time); a time is 0 to \(latest), which is "
                + "\(context.limits.maximumImportedTimeLead) from now.",
            limit: UInt64(bitPattern: latest),
            actual: UInt64(bitPattern: time)
        )
    }

    private func checkCount(
        _ count: UInt64,
        _ path: PostPath,
        _ name: StaticString
    ) throws(Status) {
        let limit = context.limits.maximumImportedCount
        guard count > limit else { return }
        let field = path.field(name)
        throw .invalid(
            .badCount,
            field: field,
            "\(field) is \(count); the limit is \(limit).",
            limit: limit,
            actual: count
        )
    }
}

extension ImportedPost {
    /// What a service says of a post of another system; the rest is not read.
    fileprivate init(_ post: Post) {
        self.init(
            content: PostContent(post),
            createTimeMilliseconds: post.createTimeMilliseconds,
            upvoteCount: post.upvoteCount,
            downvoteCount: post.downvoteCount
        )
    }
}
