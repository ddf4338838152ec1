internal import FeedConcurrency
internal import FeedProto
internal import FeedRanking

/// Lists of posts and ranks.
extension MemoryState {
    /// Reads a page.
    mutating func listPosts(
        _ request: ListPostsRequest,
        _ call: MemoryCall,
        _ viewer: MemoryViewer,
        _ caller: MemoryCaller
    ) throws(Status) -> Response {
        let feed = request.feed.isEmpty ? nil : try feed(named: request.feed)
        let order = try order(request.order, in: feed)
        let window = try window(request.window, of: order)
        if request.unreadOnly, viewer.key == nil {
            throw .identityRequired("unread_only needs a viewer: connect with a client id.")
        }
        let scope = PageTokens.Scope(
            feed: feed,
            order: order,
            window: window,
            viewer: viewer.key,
            authorID: request.authorID,
            unreadOnly: request.unreadOnly,
            includesDismissed: request.includesDismissed
        )
        let voter = voter(of: viewer)
        var query = PageQuery(
            feed: feed,
            order: order,
            window: window,
            size: try Self.size(request.pageSize),
            start: try start(of: request, in: scope),
            byteLimit: MemoryLimits.frameByteCount / 2,
            voter: voter
        )
        query.filter.authorID = request.authorID
        query.filter.isUnreadOnly = request.unreadOnly
        query.filter.includesDismissed = request.includesDismissed
        query.marks = voter.flatMap { store.marks(of: $0) }
        query.minimumRevision = call.minimumRevision
        // Snapshots live by a clock of intervals, which goes with the time of day here.
        query.now = MonotonicInstant(nanoseconds: UInt64(max(0, clock())) * 1_000_000)
        // One caller at a time; without it a refresh would not go on while the clock stands still.
        query.isAlone = true
        query.stability = try Self.stability(request, call, caller)
        return .listPosts(response(to: try page(query), in: scope, viewer))
    }

    /// Finds the place of a post in its feed.
    func rank(_ request: GetPostRankRequest) throws(Status) -> Response {
        let id = PostID(rawValue: request.id)
        let feed = try ranked { () throws(RankingError) in try store.feed(of: id) }
        let order = try order(request.order, in: feed)
        let window = try window(request.window, of: order)
        var allowance = RefreshAllowance(keyCount: .max)
        while true {
            let outcome = try ranked { () throws(RankingError) in
                try store.rank(of: id, order: order, window: window, allowance: &allowance)
            }
            guard case .done(let rank, let total) = outcome else { continue }
            return .postRank(PostRank(rank: rank, totalSize: total))
        }
    }

    private func page(_ query: PageQuery) throws(Status) -> PostPage {
        var page = PostPage()
        var allowance = RefreshAllowance(keyCount: .max)
        while true {
            page.removeAll()
            let outcome = try ranked { () throws(RankingError) in
                try store.page(query, into: &page, allowance: &allowance)
            }
            if outcome == .done { return page }
        }
    }

    private mutating func response(
        to page: PostPage,
        in scope: PageTokens.Scope,
        _ viewer: MemoryViewer
    ) -> ListPostsResponse {
        let refresh = page.refreshPlace.map { place in
            PageCursor(
                feed: scope.feed,
                order: scope.order,
                window: scope.window,
                direction: .newer,
                position: place,
                rank: 0
            )
        }
        return ListPostsResponse(
            posts: posts(of: page, viewer),
            nextPageToken: tokens.token(page.next, in: scope),
            previousPageToken: tokens.token(page.previous, in: scope),
            refreshToken: tokens.token(refresh, in: scope),
            firstRank: page.firstRank,
            totalSize: page.totalCount,
            newerCount: UInt32(clamping: page.newerCount),
            consistency: page.isStable ? .stable : .live
        )
    }

    private func start(
        of request: ListPostsRequest,
        in scope: PageTokens.Scope
    ) throws(Status) -> PageQuery.Start {
        guard request.pageToken.isEmpty else {
            return .cursor(try tokens.cursor(request.pageToken, in: scope))
        }
        switch request.start {
        case .aroundPostID(let id): return .around(PostID(rawValue: id))
        case .newerThanPostID(let id): return .newerThan(PostID(rawValue: id))
        case .rank(0): throw .invalid(.badField, "start_rank")
        case .rank(let rank): return .rank(rank)
        case nil: return .first
        }
    }

    func order(
        _ order: FeedProto.Order,
        in feed: FeedID?
    ) throws(Status) -> FeedRanking.Order {
        if order == .unspecified { return feed.map { policy(of: $0).defaultOrder } ?? .top }
        guard let known = FeedRanking.Order(order) else {
            throw .invalid(.badField, "order", actual: UInt64(bitPattern: Int64(order.rawValue)))
        }
        return known
    }

    func window(
        _ window: FeedProto.Window,
        of order: FeedRanking.Order
    ) throws(Status) -> FeedRanking.Window? {
        if window == .unspecified { return nil }
        guard let known = FeedRanking.Window(rawValue: UInt8(clamping: window.rawValue)),
            order.allowsWindow
        else {
            throw .invalid(.badField, "window", actual: UInt64(bitPattern: Int64(window.rawValue)))
        }
        return known
    }

    private static func size(_ size: Int32) throws(Status) -> Int {
        let limit = MemoryLimits.maximumPageSize
        guard size >= 0 else {
            let actual = UInt64(bitPattern: Int64(size))
            throw .invalid(.badPageSize, "page_size", limit: limit, actual: actual)
        }
        return size == 0 ? MemoryLimits.pageSize : min(Int(size), limit)
    }

    private static func stability(
        _ request: ListPostsRequest,
        _ call: MemoryCall,
        _ caller: MemoryCaller
    ) throws(Status) -> PageQuery.Stability {
        switch request.consistency {
        case .unspecified, .live: return .live
        case .stable: return .stable(from: max(call.minimumRevision, caller.lastChange))
        default: throw .invalid(.badField, "consistency")
        }
    }
}

extension FeedRanking.Order {
    /// The order of a number from the wire, which counts from 1; nil for unknown numbers.
    init?(_ order: FeedProto.Order) {
        guard order.rawValue > 0 else { return nil }
        self.init(rawValue: UInt8(clamping: order.rawValue - 1))
    }
}
