internal import FeedConcurrency
internal import FeedLog
internal import FeedProto
internal import FeedRanking

/// ImportPosts: posts from another system, all or none, and only from a service.
extension AdministrationCalls {
    /// Checks every post, then makes them all; their ids are consecutive, in their order.
    ///
    /// - Returns: The answer, and the id of the first post.
    func importPosts(
        _ request: ImportPostsRequest,
        _ answers: inout Answers
    ) throws(Status) -> (answer: Answer, firstID: UInt64) {
        try environment.checkBatch(
            request.posts.count,
            field: "posts",
            limit: environment.context.limits.maximumImportPostCount
        )
        let feed = try environment.feed(
            named: request.feed.isEmpty ? CallEnvironment.defaultFeed : request.feed
        )
        let policy = environment.policy(of: feed)
        let latestTime =
            environment.context.clock.now()
            + environment.context.limits.maximumImportedTimeLead.millisecondsRoundedDown
        for (index, post) in request.posts.enumerated() {
            let path = PostPath.item(index)
            if index >= textWalk.checkedPostCount {
                try environment.rules.check(post, at: path, against: policy)
            }
            try checkTime(post, at: path, latest: latestTime)
            try checkCount(post.upvoteCount, path, "upvote_count")
            try checkCount(post.downvoteCount, path, "downvote_count")
            try checkCount(post.commentCount, path, "comment_count")
        }
        let outcome = try insert(request.posts.map(ImportedPost.init), in: feed)
        for post in outcome.refreshDue { answers.refreshLater(stripeOf: post) }
        let first = outcome.firstID.rawValue
        let ids = Array(first..<first + UInt64(request.posts.count))
        let answer = Answer.response(
            .importPosts(ImportPostsResponse(ids: ids)),
            revision: outcome.revision
        )
        return (answer, first)
    }

    /// Makes posts that were checked; refuses them if their log entries might overflow a record.
    private func insert(
        _ posts: [ImportedPost],
        in feed: FeedID
    ) throws(Status) -> ImportOutcome {
        let byteCount = posts.reduce(0) { $0 + $1.content.maximumLogEntryByteCount }
        guard environment.context.longTransactionRoom.reserve(byteCount) else {
            throw .journalBehind
        }
        defer {
            environment.changeLog.countWaitingBytes()
            environment.context.longTransactionRoom.release(byteCount)
        }
        try environment.requireRoom(
            for: posts.reduce(0) {
                $0 + $1.content.textByteCount + RankingLimits.postOverheadByteCount
            }
        )
        // Other imports may have been logged since the transaction began.
        try environment.admitChange()
        do throws(RankingError) {
            return try environment.store.importPosts(posts, in: feed, sink: environment.changeLog)
        } catch {
            throw Status(error)
        }
    }

    /// Checks the texts of an import before its execution, as many as one loop iteration allows;
    /// false where some are left for a later iteration.
    ///
    /// The execution checks a text again that breaks a rule, and refuses it.
    mutating func checkTexts(of request: ImportPostsRequest) -> Bool {
        // The execution refuses these imports without a walk.
        guard environment.context.changeRefusal == nil,
            request.posts.count <= environment.context.limits.maximumImportPostCount,
            let feed = environment.store.feed(
                named: request.feed.isEmpty ? CallEnvironment.defaultFeed : request.feed
            )
        else { return true }
        let policy = environment.policy(of: feed)
        while textWalk.checkedPostCount < request.posts.count {
            guard textWalk.hasRoom else { return false }
            let index = textWalk.checkedPostCount
            do throws(Status) {
                try environment.rules.check(
                    request.posts[index],
                    at: .item(index),
                    against: policy
                )
            } catch {
                return true
            }
            textWalk.checked(
                walkedByteCount: environment.rules.walkedByteCount(
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

    private func checkTime(_ post: Post, at path: PostPath, latest: Int64) throws(Status) {
        let time = post.createTimeMilliseconds
        guard time < 0 || time > latest else { return }
        let field = path.field("create_time_ms")
        throw .invalid(
            .badTime,
            field: field,
            "\(field) is \(time); a time is 0 to \(latest), which is "
                + "\(environment.context.limits.maximumImportedTimeLead) from now.",
            limit: UInt64(bitPattern: latest),
            actual: UInt64(bitPattern: time)
        )
    }

    private func checkCount(
        _ count: UInt64,
        _ path: PostPath,
        _ name: StaticString
    ) throws(Status) {
        let limit = environment.context.limits.maximumImportedCount
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
    /// The fields of an imported post; the others are not read.
    fileprivate init(_ post: Post) {
        self.init(
            content: PostContent(post),
            createTimeMilliseconds: post.createTimeMilliseconds,
            upvoteCount: post.upvoteCount,
            downvoteCount: post.downvoteCount
        )
    }
}
