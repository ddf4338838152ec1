internal import FeedProto
internal import FeedRanking

/// The calls about posts and pages of posts.
struct PostCalls {
    /// The shared parts of all calls of the loop.
    let environment: CallEnvironment
    /// The posts of the answer that is being made.
    ///
    /// Its memory is reused, so a page allocates nothing when the memory has grown.
    var page = PostPage()
    /// The refresh allowance that reads have left in this loop iteration.
    var refreshAllowance = RefreshAllowance()
    /// The revision that the answer must have at least, as the request names it.
    var minimumRevision: UInt64 = 0

    /// The calls of a loop.
    init(_ environment: CallEnvironment) {
        self.environment = environment
    }

    /// Creates a post and returns it; `page` has its texts.
    ///
    /// The ids, times and votes of the request are not read, nor is the author where the caller is a
    /// user.
    mutating func createPost(
        _ request: CreatePostRequest,
        from caller: borrowing Caller,
        _ answers: inout Answers
    ) throws(Status) -> PostRow {
        try environment.requireCreator(caller)
        guard let post = request.post else { throw .missing("post") }
        let feed = try environment.feed(
            named: request.feed.isEmpty ? CallEnvironment.defaultFeed : request.feed
        )
        try environment.rules.check(post, at: .only, against: environment.policy(of: feed))
        let content = environment.content(of: post, by: caller)
        try environment.admitPost(textByteCount: content.textByteCount, isNew: true, by: caller)
        page.removeAll()
        do throws(RankingError) {
            let outcome = try environment.store.createPost(
                content,
                in: feed,
                sink: environment.changeLog,
                into: &page
            )
            let row = noted(outcome, &answers)
            environment.noteOrigin(of: row, by: caller)
            return row
        } catch {
            throw Status(error)
        }
    }

    /// Reads one post.
    mutating func getPost(
        _ request: GetPostRequest,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
        let revision = environment.store.revision
        let post = try read(PostID(rawValue: request.id), for: caller)
        return .postsInPage(.one, revision: max(revision, post.revision))
    }

    /// Reads one post with the caller's ballot and marks and returns it; `page` has its texts.
    mutating func read(_ id: PostID, for caller: borrowing Caller) throws(Status) -> PostRow {
        page.removeAll()
        let voter = environment.voter(of: caller)
        do throws(RankingError) {
            try environment.store.post(id, voter: voter, into: &page)
        } catch {
            throw Status(error)
        }
        showMarks(of: voter)
        return page.rows[0]
    }

    /// Shows what a viewer's marks make of the posts of the page.
    mutating func showMarks(of viewer: VoterID?) {
        page.apply(viewer.flatMap { environment.store.marks(of: $0) })
    }

    /// Reads posts by id, in the order of the ids.
    mutating func batchGetPosts(
        _ request: BatchGetPostsRequest,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
        try environment.checkBatch(
            request.ids.count,
            field: "ids",
            limit: environment.context.limits.maximumBatchGetCount
        )
        let revision = environment.store.revision
        page.removeAll()
        var missing: [PostID] = []
        let voter = environment.voter(of: caller)
        _ = environment.store.posts(
            request.ids.map(PostID.init(rawValue:)),
            voter: voter,
            byteLimit: environment.context.pageByteLimit,
            missing: &missing,
            into: &page
        )
        showMarks(of: voter)
        return .postsInPage(.batch(missing: missing.map(\.rawValue)), revision: revision)
    }

    /// Changes the fields that the mask names.
    mutating func updatePost(
        _ request: UpdatePostRequest,
        from caller: borrowing Caller,
        _ answers: inout Answers
    ) throws(Status) -> Answer {
        guard let post = request.post else { throw .missing("post") }
        guard !request.updateMask.isEmpty else { throw .missing("update_mask") }
        let id = PostID(rawValue: post.id)
        try environment.requireAuthor(of: id, caller)
        let changes = try PostChanges(post, request.updateMask)
        try environment.rules.check(changes, against: environment.policy(of: try feed(of: id)))
        try environment.admitPost(
            textByteCount: changes.textByteCount,
            isNew: false,
            by: caller
        )
        page.removeAll()
        let voter = environment.voter(of: caller)
        do throws(RankingError) {
            let outcome = try environment.store.updatePost(
                id,
                changes,
                expectedRevision: post.revision,
                voter: voter,
                sink: environment.changeLog,
                into: &page
            )
            showMarks(of: voter)
            return .postsInPage(.one, revision: noted(outcome, &answers).revision)
        } catch {
            throw Status(error)
        }
    }

    /// Deletes a post; a repeat succeeds, too.
    func deletePost(
        _ request: DeletePostRequest,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
        try environment.requireAuthor(of: PostID(rawValue: request.id), caller)
        do throws(RankingError) {
            let outcome = try environment.store.deletePost(
                PostID(rawValue: request.id),
                expectedRevision: request.revision,
                sink: environment.changeLog
            )
            return .response(.empty, revision: outcome.revision)
        } catch {
            throw Status(error)
        }
    }

    /// Finds the rank of a post in its feed.
    mutating func getPostRank(_ request: GetPostRankRequest) throws(Status) -> Answer {
        let revision = environment.store.revision
        let id = PostID(rawValue: request.id)
        let order = try environment.order(
            request.order,
            in: try feed(of: id),
            field: "order"
        )
        let window = try environment.window(request.window, of: order)
        do throws(RankingError) {
            let outcome = try environment.store.rank(
                of: id,
                order: order,
                window: window,
                allowance: &refreshAllowance
            )
            switch outcome {
            case .done(let rank, let total):
                return .response(
                    .postRank(PostRank(rank: rank, totalSize: total)),
                    revision: revision
                )
            case .again:
                return .again
            }
        } catch {
            throw Status(error)
        }
    }

    /// The feed that a post is in.
    private func feed(of id: PostID) throws(Status) -> FeedID {
        do throws(RankingError) {
            return try environment.store.feed(of: id)
        } catch {
            throw Status(error)
        }
    }

    /// The post of a write, whose stripe is refreshed later if a refresh is due.
    private func noted(_ outcome: WriteOutcome, _ answers: inout Answers) -> PostRow {
        let post = page.rows[0]
        if outcome.refreshIsDue { answers.refreshLater(stripeOf: post.id) }
        return post
    }
}

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

/// ListPosts.
extension PostCalls {
    /// Reads a page of a feed, or of the front page over all feeds.
    mutating func listPosts(
        _ request: ListPostsRequest,
        from caller: borrowing Caller,
        _ answers: inout Answers
    ) throws(Status) -> Answer {
        let feed = request.feed.isEmpty ? nil : try environment.feed(named: request.feed)
        let order = try environment.order(request.order, in: feed, field: "order")
        let window = try environment.window(request.window, of: order)
        if request.unreadOnly, !caller.isViewer { throw .viewerRequired(field: "unread_only") }
        let scope = PageTokenScope(request, feed: feed, order: order, window: window, caller)
        var query = PageQuery(
            feed: feed,
            order: order,
            window: window,
            size: try pageSize(request.pageSize),
            start: try start(of: request, in: scope),
            byteLimit: environment.context.pageByteLimit
        )
        query.filter.authorID = request.authorID
        query.filter.isUnreadOnly = request.unreadOnly
        query.filter.includesDismissed = request.includesDismissed
        setViewer(of: &query, caller)
        query.minimumRevision = minimumRevision
        query.stability = try stability(of: request, from: caller)
        let moment = environment.store.moment(of: query)
        if let key = KeptPages.Key(query) {
            let place: Int
            switch try keptPlace(key, query, in: scope, at: moment, &answers) {
            case .known(let found): place = found
            case .later(let answer): return answer
            }
            let kept = Answer.keptPage(place, scope, revision: moment.revision)
            answers.viewers.removeAll(keepingCapacity: true)
            guard caller.voterKey != nil else { return kept }
            // After the page is read: so a ballot that the page counts is found, and a later one moves the
            // version on.
            setViewer(of: &query, caller)
            answers.view(keptPage: place, as: query.voter, query.marks)
            let now = environment.store.moment(of: query)
            if answers.kept.isSame(place, at: now), KeptPages.Key(query) == key {
                return kept
            }
        }
        query.now = environment.context.now
        // A first ballot during the read makes the caller a voter, and may be on the page.
        repeat {
            setViewer(of: &query, caller)
            if let later = try read(query) { return later }
        } while query.voter == nil && environment.voter(of: caller) != nil
        // The order of a snapshot has no later change than the snapshot.
        let shown = min(moment.revision, page.snapshotRevision ?? moment.revision)
        return .postsInPage(.page(scope), revision: shown)
    }

    /// Sets whose ballots and marks a page has.
    private func setViewer(of query: inout PageQuery, _ caller: borrowing Caller) {
        query.voter = environment.voter(of: caller)
        query.marks = query.voter.flatMap { environment.store.marks(of: $0) }
    }

    /// The place of a kept page, or the answer of a call that is passed again.
    private enum KeptPlace {
        case known(Int)
        case later(Answer)
    }

    /// Finds a page among those that are kept, or reads it as everybody sees it and keeps it.
    private mutating func keptPlace(
        _ key: KeptPages.Key,
        _ query: PageQuery,
        in scope: PageTokenScope,
        at moment: PageMoment,
        _ answers: inout Answers
    ) throws(Status) -> KeptPlace {
        if let place = answers.kept.place(of: key, at: moment) {
            environment.counters.count(.keptPagesServed)
            return .known(place)
        }
        var query = query
        (query.voter, query.marks) = (nil, nil)
        if let later = try read(query) { return .later(later) }
        return .known(answers.keep(&page, key, in: scope, readAt: moment))
    }

    /// Reads a page; returns the answer of a call that is passed again, and nil once the page is read.
    private mutating func read(_ query: PageQuery) throws(Status) -> Answer? {
        page.removeAll()
        do throws(RankingError) {
            switch try environment.store.page(query, into: &page, allowance: &refreshAllowance) {
            case .done: return nil
            case .again: return .again
            case .wait: return .wait
            }
        } catch {
            throw Status(error)
        }
    }

    /// Whether the page may be of a snapshot, and what the snapshot must have: the caller's own last
    /// change, and all up to the revision that the request names.
    private func stability(
        of request: ListPostsRequest,
        from caller: borrowing Caller
    ) throws(Status) -> PageQuery.Stability {
        switch request.consistency {
        case .unspecified, .live: .live
        case .stable: .stable(from: max(minimumRevision, caller.lastChange))
        default: throw .unknownValue(request.consistency, field: "consistency")
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
        case .newerThanPostID(let id):
            return .newerThan(PostID(rawValue: id))
        case nil:
            return .first
        }
    }
}

extension PageTokenScope {
    /// The scope of the tokens in the answer to a request, and of the one in the request.
    fileprivate init(
        _ request: ListPostsRequest,
        feed: FeedID?,
        order: FeedRanking.Order,
        window: FeedRanking.Window?,
        _ caller: borrowing Caller
    ) {
        self.init(feed: feed, order: order, window: window)
        userID = caller.requestUserID
        if userID == nil { device = caller.device }
        authorID = request.authorID
        isUnreadOnly = request.unreadOnly
        includesDismissed = request.includesDismissed
    }
}

/// SyncPosts.
extension PostCalls {
    /// Reads the changes of a feed, or of all feeds, since a revision.
    mutating func syncPosts(
        _ request: SyncPostsRequest,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
        let revision = environment.store.revision
        let feed = request.feed.isEmpty ? nil : try environment.feed(named: request.feed)
        let size = try syncSize(request.pageSize)
        let voter = environment.voter(of: caller)
        let query = SyncQuery(
            feed: feed,
            position: position(of: request),
            size: size,
            byteLimit: environment.context.syncByteLimit(postCount: size),
            voter: voter
        )
        page.removeAll()
        let outcome = environment.store.sync(query, into: &page, allowance: &refreshAllowance)
        guard case .done(let changes) = outcome else { return .again }
        showMarks(of: voter)
        return .postsInPage(.changes(changes), revision: revision)
    }

    /// The place that the caller has come to; a new copy where it belongs to another instance.
    private func position(of request: SyncPostsRequest) -> SyncPosition {
        let isOfInstance =
            request.instanceID == 0 || request.instanceID == environment.context.instanceID
        guard isOfInstance else { return .start }
        return SyncPosition(
            revision: request.sinceRevision,
            copyRevision: request.copyRevision
        )
    }

    private func syncSize(_ size: Int32) throws(Status) -> Int {
        let limit = environment.context.syncPostLimit
        guard size >= 0 else {
            throw .invalid(
                .badPageSize,
                field: "page_size",
                "page_size is \(size); it is 0 for \(limit), or 1 to \(limit).",
                limit: UInt64(limit),
                actual: UInt64(bitPattern: Int64(size))
            )
        }
        return size == 0 ? limit : min(Int(size), limit)
    }
}
