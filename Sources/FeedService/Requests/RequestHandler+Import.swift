internal import FeedLog
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
            context.clock.now()
            + context.limits.maximumImportedTimeLead.wholeMilliseconds
        for (index, post) in request.posts.enumerated() {
            let path = PostPath.item(index)
            if index >= textWalk.checkedPostCount { try check(post, at: path, against: policy) }
            try checkTime(post, at: path, latest: latestTime)
            try checkCount(post.upvoteCount, path, "upvote_count")
            try checkCount(post.downvoteCount, path, "downvote_count")
            try checkCount(post.commentCount, path, "comment_count")
        }
        let outcome = try insert(request.posts.map(ImportedPost.init), in: feed)
        for post in outcome.refreshDue { refreshLater(stripeOf: post) }
        let first = outcome.firstID.rawValue
        return .response(
            .importPosts(
                ImportPostsResponse(ids: Array(first..<first + UInt64(request.posts.count)))
            ),
            revision: outcome.revision
        )
    }

    /// Makes posts that were checked; refuses them where what they log might overflow a record.
    private func insert(
        _ posts: [ImportedPost],
        in feed: FeedID
    ) throws(Status) -> ImportOutcome {
        let byteCount = posts.reduce(0) { $0 + $1.content.maximumLogEntryByteCount }
        guard context.importRoom.reserve(byteCount) else { throw .journalBehind }
        defer {
            changeLog.countWaitingBytes()
            context.importRoom.release(byteCount)
        }
        // Other imports may have been logged since the transaction began.
        try admitChange()
        do throws(RankingError) {
            return try store.importPosts(posts, in: feed, sink: changeLog)
        } catch {
            throw Status(error)
        }
    }

    /// Checks the texts of an import ahead of its execution, a turn's worth; false where some are
    /// left for a later turn.
    ///
    /// What does not keep to the rules is refused by the execution, which looks at it again.
    mutating func checkTexts(
        of request: ImportPostsRequest,
        from caller: borrowing Caller
    ) -> Bool {
        // What is refused anyhow is not worth a walk.
        guard caller.isService, context.refusalOfChanges == nil,
            request.posts.count <= context.limits.maximumImportPostCount,
            let feed = store.feed(named: request.feed.isEmpty ? Self.defaultFeed : request.feed)
        else { return true }
        let policy = policy(of: feed)
        while textWalk.checkedPostCount < request.posts.count {
            guard textWalk.hasRoom else { return false }
            let index = textWalk.checkedPostCount
            do throws(Status) {
                try check(request.posts[index], at: .item(index), against: policy)
            } catch {
                return true
            }
            textWalk.checked(
                walkedByteCount: rules.walkedByteCount(
                    request.posts[index],
                    maximumTitleCharacterCount: policy.maximumTitleCharacterCount,
                    textCharacterCounts: policy
                        .minimumTextCharacterCount...max(
                            policy.minimumTextCharacterCount,
                            policy.maximumTextCharacterCount
                        )
                )
            )
        }
        return true
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
