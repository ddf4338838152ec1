internal import FeedConcurrency
package import FeedOrders
package import FeedProto
package import FeedRanking

/// What the requests of calls ask for, and whether they may: the same for a service behind a socket and for
/// one in memory.
///
/// It reads feeds and authors, and changes nothing: who uses it executes what it returns.
package final class CallRules: Sendable {
    package let store: FeedStore
    package let limits: CallLimits
    package let texts: TextRules
    package let tokens: PageTokenCoder

    package init(_ store: FeedStore, _ limits: CallLimits, tokens: PageTokenCoder) {
        self.store = store
        self.limits = limits
        self.tokens = tokens
        texts = TextRules(limits: limits)
    }

    /// Checks the number of items of a batch.
    package func checkBatch(_ count: Int, field: String, limit: Int) throws(Status) {
        guard (1...limit).contains(count) else {
            throw .batchSize(count, field: field, limit: limit)
        }
    }

    /// Checks the payload of a Ping.
    package func check(_ request: PingRequest) throws(Status) {
        let limit = limits.maximumPingByteCount
        let count = request.payload.count
        guard count <= limit else {
            throw .invalid(
                .badField,
                field: "payload",
                "payload has \(count) bytes; the limit is \(limit).",
                limit: UInt64(limit),
                actual: UInt64(count)
            )
        }
    }
}

/// How calls name feeds and lists.
extension CallRules {
    /// Finds a feed by name.
    package func feed(named name: String) throws(Status) -> FeedID {
        let limit = limits.maximumFeedNameByteCount
        guard name.utf8.count <= limit else {
            throw .feedNameTooLong(name.utf8.count, limit: limit)
        }
        guard let feed = store.feed(named: name) else { throw .feedNotFound(name) }
        return feed
    }

    /// The feed of a name, or nil of none: the front page over all feeds.
    package func feed(ifNamed name: String) throws(Status) -> FeedID? {
        name.isEmpty ? nil : try feed(named: name)
    }

    /// The name of the feed of new posts, whose request may name none.
    package func nameOfFeed(ofNewPosts name: String) -> String { name.isEmpty ? "posts" : name }

    /// The policy of a feed that exists.
    package func policy(of feed: FeedID) -> FeedPolicy {
        guard let policy = store.policy(of: feed) else {
            preconditionFailure("A feed that was found stays.")
        }
        return policy
    }

    package func policy(of request: CreateFeedRequest) throws(Status) -> FeedPolicy {
        guard let feed = request.feed else { throw .missing("create_feed.feed") }
        try texts.checkFeedName(feed.name)
        return try FeedPolicy(feed, limits: limits)
    }

    /// The list that was asked for: an unspecified order is the feed's own, and TOP on the front page; an
    /// unspecified window is all time.
    private func list(
        of feed: FeedID?,
        _ order: FeedProto.Order,
        _ window: FeedProto.Window
    ) throws(Status) -> ListID {
        var list = ListID(feed: feed, order: .top)
        if order == .unspecified {
            if let feed { list.order = policy(of: feed).defaultOrder }
        } else if let known = FeedRanking.Order(order) {
            list.order = known
        } else {
            throw .unknownValue(order, field: "order")
        }
        guard window != .unspecified else { return list }
        guard let known = FeedOrders.Window(window) else {
            throw .unknownValue(window, field: "window")
        }
        guard list.order.allowsWindow else {
            throw .invalid(
                .badField,
                field: "window",
                "window is \(window); lists of TOP, CONTROVERSIAL and DISCUSSED have windows, and "
                    + "the order is \(FeedProto.Order(list.order)).",
                actual: UInt64(bitPattern: Int64(window.rawValue))
            )
        }
        list.window = known
        return list
    }
}

/// Pages, ranks and watches of lists.
extension CallRules {
    /// The page that a ListPosts asks for, without what its viewer has made of the posts, and the scope of
    /// the page's tokens.
    ///
    /// The page has at least the named revision, and a stable one also the viewer's last change. A caller
    /// without identity is no viewer.
    package func page(
        of request: ListPostsRequest,
        for viewer: VoterKey?,
        minimumRevision: UInt64,
        lastChange: UInt64
    ) throws(Status) -> (query: PageQuery, scope: PageTokenScope) {
        let feed = try feed(ifNamed: request.feed)
        let list = try list(of: feed, request.order, request.window)
        if request.unreadOnly, viewer == nil { throw .viewerRequired(field: "unread_only") }
        var scope = PageTokenScope(list: list, viewer: viewer)
        scope.authorID = request.authorID.rawValue
        scope.isUnreadOnly = request.unreadOnly
        scope.includesDismissed = request.includesDismissed
        var query = PageQuery(
            feed: list.feed,
            order: list.order,
            window: list.window,
            size: try pageSize(request.pageSize),
            start: try start(of: request, in: scope)
        )
        query.filter.authorID = request.authorID.rawValue
        query.filter.isUnreadOnly = request.unreadOnly
        query.filter.includesDismissed = request.includesDismissed
        query.minimumRevision = minimumRevision
        switch request.consistency {
        case .unspecified, .live: query.stability = .live
        case .stable: query.stability = .stable(from: max(minimumRevision, lastChange))
        default: throw .unknownValue(request.consistency, field: "consistency")
        }
        return (query, scope)
    }

    private func pageSize(_ size: Int32) throws(Status) -> Int {
        let limit = limits.maximumPageSize
        guard size >= 0 else {
            throw .badPageSize(size, "the usual size", limit: limit)
        }
        return size == 0 ? limits.defaultPageSize : min(Int(size), limit)
    }

    private func start(
        of request: ListPostsRequest,
        in scope: PageTokenScope
    ) throws(Status) -> PageQuery.Start {
        guard request.pageToken.isEmpty else {
            guard let cursor = tokens.cursor(from: request.pageToken, in: scope) else {
                throw .pageTokenMismatch
            }
            return .cursor(cursor)
        }
        switch request.start {
        case .aroundPostID(let id): return .around(id)
        case .newerThanPostID(let id): return .newerThan(id)
        case .rank(0):
            throw .invalid(
                .badField,
                field: "start_rank",
                "start_rank is 0; the first post has rank 1."
            )
        case .rank(let rank): return .rank(rank)
        case nil: return .first
        }
    }

    /// The list in which a GetPostRank looks for its post.
    package func list(of request: GetPostRankRequest) throws(Status) -> ListID {
        let id = request.id
        let feed = try ranked { () throws(RankingError) in try store.feed(of: id) }
        return try list(of: feed, request.order, request.window)
    }

    /// What a WatchPosts of a viewer watches.
    package func subject(
        of request: WatchPostsRequest,
        for viewer: VoterKey?
    ) throws(Status) -> WatchSubject {
        guard request.postIDs.isEmpty else {
            guard request.topCount == 0 else { throw .watchOfListAndPosts }
            let limit = limits.maximumWatchPostCount
            try checkBatch(request.postIDs.count, field: "post_ids", limit: limit)
            var seen: Set<PostID> = []
            return .posts(request.postIDs.filter { seen.insert($0).inserted })
        }
        guard (1...limits.maximumWatchTopCount).contains(Int(request.topCount)) else {
            throw .watchTopCount(request.topCount, limit: limits.maximumWatchTopCount)
        }
        let feed = try feed(ifNamed: request.feed)
        let list = try list(of: feed, request.order, request.window)
        if request.unreadOnly, viewer == nil { throw .viewerRequired(field: "unread_only") }
        var watched = WatchedListID(list: list)
        watched.filter.authorID = request.authorID.rawValue
        watched.filter.isUnreadOnly = request.unreadOnly
        watched.filter.includesDismissed = !request.excludesDismissed
        if request.unreadOnly || request.excludesDismissed { watched.viewer = viewer }
        return .list(watched, topCount: Int(request.topCount))
    }
}

package struct ListID: Hashable, Sendable {
    /// The feed; nil is the front page over all feeds.
    package var feed: FeedID?
    package var order: FeedRanking.Order
    /// The window; nil is all time.
    package var window: FeedOrders.Window?
}

/// A list with a filter, as all who watch it see it.
package struct WatchedListID: Hashable, Sendable {
    package let list: ListID
    package var filter = PageFilter()
    /// The one whose marks the filter goes by; nil where it goes by none.
    package var viewer: VoterKey?
}

/// What is watched.
package enum WatchSubject {
    /// The first posts of a list.
    case list(WatchedListID, topCount: Int)
    /// Single posts, each of them once.
    case posts([PostID])
}

/// Copies of feeds.
extension CallRules {
    /// The changes that a SyncPosts asks for, of at most so many posts; a place of another instance is none.
    ///
    /// The bytes that they may take are the caller's matter.
    package func sync(
        of request: SyncPostsRequest,
        for viewer: VoterKey?,
        ofInstance instanceID: UInt64,
        postLimit: Int
    ) throws(Status) -> SyncQuery {
        let feed = try feed(ifNamed: request.feed)
        guard request.pageSize >= 0 else {
            throw .badPageSize(request.pageSize, "\(postLimit)", limit: postLimit)
        }
        if request.marks != nil, viewer == nil { throw .viewerRequired(field: "marks") }
        let size = request.pageSize == 0 ? postLimit : min(Int(request.pageSize), postLimit)
        var query = SyncQuery(feed: feed, size: size, viewer: viewer)
        query.marks = request.marks.map {
            SyncPosition(revision: $0.revision, copyRevision: $0.copyRevision)
        }
        if request.instanceID == 0 || request.instanceID == instanceID {
            query.position = SyncPosition(
                revision: request.sinceRevision,
                copyRevision: request.copyRevision
            )
        }
        return query
    }

    /// The changes of a viewer's marks as an answer has them.
    package func changes(_ page: MarkPage) -> MarkChanges {
        var changes = MarkChanges(
            next: MarkPosition(
                revision: page.position.revision,
                copyRevision: page.position.copyRevision
            ),
            isReset: page.isReset
        )
        for change in page.changes {
            switch change {
            case .post(let id, let state):
                changes.posts.append(
                    MarkedPost(id: id, isRead: state.isRead, isDismissed: state.isDismissed)
                )
            case .through(let step):
                changes.through.append(
                    MarkedThrough(
                        feed: step.feed.map { policy(of: $0).name } ?? "",
                        mark: FeedProto.Mark(step.mark),
                        createTimeMilliseconds: step.createTimeMilliseconds,
                        postID: step.post
                    )
                )
            }
        }
        return changes
    }
}

/// New posts, edits and imports.
extension CallRules {
    /// The feed and the content of a new post of a user, or of a device; its author's name is the one in the
    /// request, which nobody has checked.
    ///
    /// In a feed of users a device is nobody, so its posts have no author.
    package func newPost(
        of request: CreatePostRequest,
        by author: VoterKey?
    ) throws(Status) -> (feed: FeedID, content: PostContent) {
        guard let post = request.post else { throw .missing("post") }
        let feed = try feed(named: nameOfFeed(ofNewPosts: request.feed))
        let policy = policy(of: feed)
        try texts.check(post, at: .only, against: policy)
        var content = PostContent(post)
        switch author {
        case .user(let id): content.authorID = id
        case .device(let device) where policy.voteMode != .userBallot:
            content.authorID = device.authorID
        case .device, nil: break
        }
        return (feed, content)
    }

    /// The post of an edit, which names fields.
    package func editedPost(of request: UpdatePostRequest) throws(Status) -> Post {
        guard let post = request.post else { throw .missing("post") }
        guard !request.updateMask.isEmpty else { throw .missing("update_mask") }
        return post
    }

    package func changes(_ post: Post, _ mask: [PostField]) throws(Status) -> PostChanges {
        let changes = try PostChanges(post, mask)
        let feed = try ranked { () throws(RankingError) in try store.feed(of: post.id) }
        try texts.check(changes, against: policy(of: feed))
        return changes
    }

    /// Whether a user, or the device that it calls from, may change a post as its author; one that is gone
    /// has none, and the call itself says what it answers then.
    package func mayChange(_ id: PostID, user: UInt64?, device: Device16?) -> Bool {
        guard let author = try? store.author(of: id) else { return true }
        return author != 0 && (author == user || author == device?.authorID)
    }

    /// The feed and the posts of an import, which were checked; the texts of so many of the first ones were
    /// checked before.
    package func importedPosts(
        of request: ImportPostsRequest,
        checkedTextCount: Int = 0,
        at now: Int64
    ) throws(Status) -> (feed: FeedID, posts: [ImportedPost]) {
        try checkBatch(
            request.posts.count,
            field: "posts",
            limit: limits.maximumImportPostCount
        )
        let feed = try feed(named: nameOfFeed(ofNewPosts: request.feed))
        let policy = policy(of: feed)
        let latest = now + limits.maximumImportedTimeLead.millisecondsRoundedDown
        for (index, post) in request.posts.enumerated() {
            let path = PostPath.item(index)
            if index >= checkedTextCount { try texts.check(post, at: path, against: policy) }
            try checkTime(post, at: path, latest: latest)
            try checkCount(post.upvoteCount, path, "upvote_count")
            try checkCount(post.downvoteCount, path, "downvote_count")
            try checkCount(post.commentCount, path, "comment_count")
        }
        let posts = request.posts.map { post in
            ImportedPost(
                content: PostContent(post),
                createTimeMilliseconds: post.createTimeMilliseconds,
                upvoteCount: post.upvoteCount,
                downvoteCount: post.downvoteCount
            )
        }
        return (feed, posts)
    }

    private func checkTime(_ post: Post, at path: PostPath, latest: Int64) throws(Status) {
        let time = post.createTimeMilliseconds
        guard time < 0 || time > latest else { return }
        let field = path.field("create_time_ms")
        throw .invalid(
            .badTime,
            field: field,
            "\(field) is \(time); a time is 0 to \(latest), which is "
                + "\(limits.maximumImportedTimeLead) from now.",
            limit: UInt64(bitPattern: latest),
            actual: UInt64(bitPattern: time)
        )
    }

    private func checkCount(
        _ count: UInt64,
        _ path: PostPath,
        _ name: StaticString
    ) throws(Status) {
        let limit = limits.maximumImportedCount
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

/// The posts that a MarkPosts marks, and how.
package struct MarkChange {
    package let feed: FeedID?
    private let mark: FeedRanking.Mark
    private let ids: [PostID]
    /// The last post of a mark through one; nil where single posts are marked.
    package let last: PostID?

    /// What a request asks for.
    package init(_ request: MarkPostsRequest, _ rules: CallRules) throws(Status) {
        guard let mark = FeedRanking.Mark(request.mark) else {
            throw .unknownValue(request.mark, field: "mark")
        }
        self.mark = mark
        feed = try rules.feed(ifNamed: request.feed)
        guard request.postIDs.isEmpty != (request.throughPostID == 0) else {
            throw .invalid(
                .badField,
                field: "post_ids",
                "MarkPosts takes either post_ids or through_post_id."
            )
        }
        if request.postIDs.isEmpty {
            last = request.throughPostID
        } else {
            last = nil
            let limit = rules.limits.maximumBatchGetCount
            try rules.checkBatch(request.postIDs.count, field: "post_ids", limit: limit)
        }
        ids = request.postIDs
    }

    /// Marks the posts for a viewer.
    package func apply(
        to store: FeedStore,
        by viewer: VoterID,
        sink: some ChangeSink = NoChanges()
    ) throws(Status) {
        try ranked { () throws(RankingError) in
            if let last {
                try store.mark(through: last, in: feed, as: mark, by: viewer, sink: sink)
            } else {
                try store.mark(ids, as: mark, by: viewer, sink: sink)
            }
        }
    }
}

extension Status {
    /// A page of fewer than no posts.
    package static func badPageSize(_ size: Int32, _ usual: String, limit: Int) -> Status {
        .invalid(
            .badPageSize,
            field: "page_size",
            "page_size is \(size); it is 0 for \(usual), or 1 to \(limit).",
            limit: UInt64(limit),
            actual: UInt64(bitPattern: Int64(size))
        )
    }
}
