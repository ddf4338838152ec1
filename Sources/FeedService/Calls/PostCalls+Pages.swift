internal import FeedProto
internal import FeedRanking

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
            environment.counters.countKeptPageServed()
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
