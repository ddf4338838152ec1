internal import FeedAccounts
internal import FeedCalls
internal import FeedLog
internal import FeedProto
internal import FeedRanking

struct PostCalls {
    let environment: CallEnvironment
    /// The posts of the answer that is being made.
    ///
    /// Its memory is reused, so a page allocates nothing when the memory has grown.
    var page = PostPage()
    /// The refresh allowance that reads have left in this loop iteration.
    var refreshAllowance = RefreshAllowance()

    init(_ environment: CallEnvironment) {
        self.environment = environment
    }

    /// Creates a post; the outcome is its id.
    ///
    /// The ids, times and votes of the request are not read, nor is the author where the caller is a
    /// user. A service's device makes nothing that its own would be.
    mutating func createPost(
        _ request: CreatePostRequest,
        from caller: borrowing Caller,
        _ answers: inout Answers
    ) throws(Status) -> (Answer, FeedLog.Outcome) {
        try environment.requireCreator(caller)
        let isOfDevice = caller.requestUserID == nil
        let isOfService = caller.serviceKey?.role == .service
        var (feed, content) = try environment.rules.newPost(
            of: request,
            by: isOfDevice && isOfService ? nil : caller.voterKey
        )
        if let user = caller.requestUserID, let name = try environment.accountName(of: user) {
            content.authorName = name
        }
        try environment.admitPost(textByteCount: content.textByteCount, isNew: true, by: caller)
        page.removeAll()
        let outcome = try ranked { () throws(RankingError) in
            try environment.store.createPost(
                content,
                in: feed,
                sink: environment.changeLog,
                into: &page
            )
        }
        let post = noted(outcome, &answers)
        environment.noteOrigin(of: post, by: caller)
        return (.postsInPage(.one, revision: post.revision), .id(post.id.rawValue))
    }

    mutating func getPost(
        _ request: GetPostRequest,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
        let revision = environment.store.revision
        page.removeAll()
        let voter = environment.voter(of: caller)
        do throws(RankingError) {
            try environment.store.post(request.id, voter: voter, into: &page)
        } catch {
            throw Status(error)
        }
        showMarks(of: voter)
        return .postsInPage(.one, revision: max(revision, page.rows[0].revision))
    }

    /// Shows what a viewer's marks make of the posts of the page.
    private mutating func showMarks(of viewer: VoterID?) {
        page.apply(viewer.flatMap { environment.store.marks(of: $0) })
    }

    /// Reads posts by id, in the order of the ids.
    mutating func batchGetPosts(
        _ request: BatchGetPostsRequest,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
        let limit = environment.rules.limits.maximumBatchGetCount
        try environment.rules.checkBatch(request.ids.count, field: "ids", limit: limit)
        let revision = environment.store.revision
        page.removeAll()
        var missing: [PostID] = []
        let voter = environment.voter(of: caller)
        _ = environment.store.posts(
            request.ids,
            voter: voter,
            byteLimit: environment.context.pageByteLimit,
            missing: &missing,
            into: &page
        )
        showMarks(of: voter)
        return .postsInPage(.batch(missing: missing), revision: revision)
    }

    /// Changes the fields that the mask names.
    mutating func updatePost(
        _ request: UpdatePostRequest,
        from caller: borrowing Caller,
        _ answers: inout Answers
    ) throws(Status) -> Answer {
        let post = try environment.rules.editedPost(of: request)
        let id = post.id
        try environment.requireAuthor(of: id, caller)
        let changes = try environment.rules.changes(post, request.updateMask)
        try environment.admitPost(
            textByteCount: changes.textByteCount,
            isNew: false,
            by: caller
        )
        page.removeAll()
        let voter = environment.voter(of: caller)
        let outcome = try ranked { () throws(RankingError) in
            try environment.store.updatePost(
                id,
                changes,
                expectedRevision: post.revision,
                voter: voter,
                sink: environment.changeLog,
                into: &page
            )
        }
        showMarks(of: voter)
        return .postsInPage(.one, revision: noted(outcome, &answers).revision)
    }

    /// Deletes a post; a repeat succeeds, too.
    func deletePost(
        _ request: DeletePostRequest,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
        let id = request.id
        try environment.requireAuthor(of: id, caller)
        let outcome = try ranked { () throws(RankingError) in
            try environment.store.deletePost(
                id,
                expectedRevision: request.revision,
                sink: environment.changeLog
            )
        }
        return .response(.empty, revision: outcome.revision)
    }

    mutating func getPostRank(_ request: GetPostRankRequest) throws(Status) -> Answer {
        let revision = environment.store.revision
        let list = try environment.rules.list(of: request)
        do throws(RankingError) {
            switch try environment.store.rank(
                of: request.id,
                order: list.order,
                window: list.window,
                allowance: &refreshAllowance
            ) {
            case .again: return .again
            case .done(let rank, let total):
                let answer = PostRank(rank: rank, totalSize: total)
                return .response(.postRank(answer), revision: revision)
            }
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

    /// Checks a MarkPosts and prepares the count that its answer has; false when that needs another
    /// loop iteration.
    ///
    /// The indexes that the count needs are built before the marks are made, as a change is not
    /// interrupted.
    mutating func prepareMarkPosts(
        _ request: MarkPostsRequest,
        from caller: borrowing Caller
    ) throws(Status) -> Bool {
        let change = try MarkChange(request, environment.rules)
        return environment.store.prepareUnreadCount(
            in: change.feed,
            by: environment.voter(of: caller),
            markingThrough: change.last,
            allowance: &refreshAllowance
        )
    }

    /// Marks posts for the caller; the answer is `unreadCount(after:from:)`.
    func markPosts(
        _ request: MarkPostsRequest,
        from caller: inout Caller
    ) throws(Status) -> Answer {
        let change = try MarkChange(request, environment.rules)
        let viewer = try environment.becomeVoter(&caller)
        try change.apply(to: environment.store, by: viewer, sink: environment.changeLog)
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
        let feed = try environment.rules.feed(ifNamed: request.feed)
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

    /// All feeds with their policies, sizes and the caller's unread posts.
    mutating func listFeeds(for caller: borrowing Caller) -> Answer {
        let revision = environment.store.revision
        let marks = environment.voter(of: caller).flatMap { environment.store.marks(of: $0) }
        let hasIdentity = caller.voterKey != nil
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

    /// Reads a page of a feed, or of the front page over all feeds.
    mutating func listPosts(
        _ request: ListPostsRequest,
        minimumRevision: UInt64,
        from caller: borrowing Caller,
        _ answers: inout Answers
    ) throws(Status) -> Answer {
        var (query, scope) = try environment.rules.page(
            of: request,
            for: caller.voterKey,
            minimumRevision: minimumRevision,
            lastChange: caller.lastChange
        )
        query.byteLimit = environment.context.pageByteLimit
        setViewer(of: &query, caller)
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

    /// Reads the changes of a feed, or of all feeds, since a revision.
    mutating func syncPosts(
        _ request: SyncPostsRequest,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
        let revision = environment.store.revision
        var query = try environment.rules.sync(
            of: request,
            for: caller.voterKey,
            ofInstance: environment.context.instanceID,
            postLimit: environment.context.syncPostLimit
        )
        for position in [query.position, query.marks ?? .start] {
            try environment.checkReached(max(position.revision, position.copyRevision))
        }
        query.byteLimit = environment.context.syncByteLimit(
            postCount: query.size,
            hasMarks: query.marks != nil
        )
        page.removeAll()
        let outcome = environment.store.sync(query, into: &page, allowance: &refreshAllowance)
        guard case .done(let changes) = outcome else { return .again }
        return .postsInPage(.changes(changes), revision: revision)
    }
}

/// How many posts, and how much of their texts, fit into an answer.
extension ServiceContext {
    /// The bytes of texts in one answer, which leave room for all else that a full page holds.
    fileprivate var pageByteLimit: Int {
        let pageOverhead =
            limits.calls.maximumPageSize * postOverheadByteCount + limits.pageTokensByteCount
        return max(1, limits.maximumFrameByteCount - pageOverhead)
    }

    /// The most posts in an answer to SyncPosts: so many that their numbers take half of a frame at most.
    fileprivate var syncPostLimit: Int {
        let bound = limits.maximumFrameByteCount / 2 / postOverheadByteCount
        return max(1, min(limits.calls.maximumSyncPostCount, bound))
    }

    /// The bytes of texts in an answer to SyncPosts with so many posts, and as many changes of marks.
    fileprivate func syncByteLimit(postCount: Int, hasMarks: Bool) -> Int {
        let markByteCount = hasMarks ? 48 + limits.calls.maximumFeedNameByteCount : 0
        let otherByteCount = postCount * (postOverheadByteCount + markByteCount) + 256
        return max(1, limits.maximumFrameByteCount - otherByteCount)
    }

    /// The most bytes of a post beside its texts.
    private var postOverheadByteCount: Int {
        ServiceLimits.postNumbersByteCount + limits.calls.maximumFeedNameByteCount
    }
}
