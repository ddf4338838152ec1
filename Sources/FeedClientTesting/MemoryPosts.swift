internal import FeedCalls
internal import FeedConcurrency
internal import FeedProto
internal import FeedRanking

/// Posts and feeds.
extension MemoryState {
    /// Creates a post, whose author is the viewer.
    func createPost(
        _ request: CreatePostRequest,
        _ viewer: VoterKey?
    ) throws(Status) -> Response {
        var (feed, content) = try rules.newPost(of: request, by: viewer)
        if case .user(let id) = viewer, let name = accounts.name(of: UserID(rawValue: id)) {
            content.authorName = name
        }
        var page = PostPage()
        _ = try ranked { () throws(RankingError) in
            try store.createPost(content, in: feed, into: &page)
        }
        return .post(posts(of: page, viewer)[0])
    }

    func getPost(_ request: GetPostRequest, _ viewer: VoterKey?) throws(Status) -> Response {
        var page = PostPage()
        try ranked { () throws(RankingError) in
            let voter = voter(of: viewer)
            try store.post(request.id, voter: voter, into: &page)
        }
        return .post(marked(page, viewer)[0])
    }

    func batchGetPosts(
        _ request: BatchGetPostsRequest,
        _ viewer: VoterKey?
    ) throws(Status) -> Response {
        let limit = rules.limits.maximumBatchGetCount
        try rules.checkBatch(request.ids.count, field: "ids", limit: limit)
        var missing: [PostID] = []
        let posts = posts(request.ids, viewer, &missing)
        return .batchGetPosts(BatchGetPostsResponse(posts: posts, missingIDs: missing))
    }

    func updatePost(
        _ request: UpdatePostRequest,
        _ viewer: VoterKey?,
        _ caller: MemoryCaller
    ) throws(Status) -> Response {
        let post = try rules.editedPost(of: request)
        let id = post.id
        try requireAuthor(of: id, viewer, caller)
        let changes = try rules.changes(post, request.updateMask)
        var page = PostPage()
        _ = try ranked { () throws(RankingError) in
            try store.updatePost(
                id,
                changes,
                expectedRevision: post.revision,
                voter: voter(of: viewer),
                into: &page
            )
        }
        return .post(marked(page, viewer)[0])
    }

    func deletePost(
        _ request: DeletePostRequest,
        _ viewer: VoterKey?,
        _ caller: MemoryCaller
    ) throws(Status) -> Response {
        let id = request.id
        try requireAuthor(of: id, viewer, caller)
        _ = try ranked { () throws(RankingError) in
            try store.deletePost(id, expectedRevision: request.revision)
        }
        return .empty
    }

    func importPosts(
        _ request: ImportPostsRequest,
        _ caller: MemoryCaller
    ) throws(Status) -> Response {
        guard caller.isService else { throw .serviceOnly }
        let (feed, posts) = try rules.importedPosts(of: request, at: clock())
        let outcome = try ranked { () throws(RankingError) in
            try store.importPosts(posts, in: feed)
        }
        let first = outcome.firstID.rawValue
        let ids = (first..<first + UInt64(posts.count)).map(PostID.init(rawValue:))
        return .importPosts(ImportPostsResponse(ids: ids))
    }

    /// Refuses a change of a post by who is not its author.
    private func requireAuthor(
        of id: PostID,
        _ viewer: VoterKey?,
        _ caller: MemoryCaller
    ) throws(Status) {
        guard !caller.isService else { return }
        guard let viewer else { throw .identityRequired }
        var user: UInt64?
        if case .user(let id) = viewer { user = id }
        guard rules.mayChange(id, user: user, device: caller.device) else {
            throw .notAuthor(id)
        }
    }

    /// All feeds, with what the viewer has left to read.
    func listFeeds(_ viewer: VoterKey?) -> Response {
        let feeds = store.feeds().map { summary in
            var feed = Feed(summary.policy, postCount: summary.postCount)
            if viewer != nil { feed.unreadCount = unreadCount(in: summary.id, voter(of: viewer)) }
            return feed
        }
        return .listFeeds(ListFeedsResponse(feeds: feeds))
    }

    func createFeed(
        _ request: CreateFeedRequest,
        _ caller: MemoryCaller
    ) throws(Status) -> Response {
        guard caller.isService else { throw .serviceOnly }
        let policy = try rules.policy(of: request)
        _ = try ranked { () throws(RankingError) in try store.createFeed(policy) }
        return .feed(Feed(policy, postCount: 0))
    }
}

/// Lists of posts and ranks.
extension MemoryState {
    func listPosts(
        _ request: ListPostsRequest,
        _ call: MemoryCall,
        _ viewer: VoterKey?,
        _ caller: MemoryCaller
    ) throws(Status) -> Response {
        var (query, scope) = try rules.page(
            of: request,
            for: viewer,
            minimumRevision: call.minimumRevision,
            lastChange: caller.lastChange
        )
        query.byteLimit = Self.frameByteCount / 2
        query.voter = voter(of: viewer)
        query.marks = query.voter.flatMap { store.marks(of: $0) }
        // Snapshots live by a clock of intervals, which goes with the time of day here.
        query.now = MonotonicInstant(nanoseconds: UInt64(max(0, clock())) * 1_000_000)
        // One caller at a time; without it a refresh would not go on while the clock stands still.
        query.isAlone = true
        var page = PostPage()
        var allowance = RefreshAllowance(keyCount: .max)
        var outcome = PageOutcome.again
        while outcome != .done {
            page.removeAll()
            outcome = try ranked { () throws(RankingError) in
                try store.page(query, into: &page, allowance: &allowance)
            }
        }
        return .listPosts(
            ListPostsResponse(
                posts: posts(of: page, viewer),
                nextPageToken: token(page.next, in: scope),
                previousPageToken: token(page.previous, in: scope),
                refreshToken: token(page.refresh(in: scope), in: scope),
                firstRank: page.firstRank,
                totalSize: page.totalCount,
                newerCount: UInt32(clamping: page.newerCount),
                consistency: page.isStable ? .stable : .live
            )
        )
    }

    private func token(_ cursor: PageCursor?, in scope: PageTokenScope) -> [UInt8] {
        var bytes: [UInt8] = []
        if let cursor { rules.tokens.append(cursor, in: scope, to: &bytes) }
        return bytes
    }

    /// What has changed since a revision.
    func syncPosts(_ request: SyncPostsRequest, _ viewer: VoterKey?) throws(Status) -> Response {
        var query = try rules.sync(
            of: request,
            for: viewer,
            ofInstance: Self.instanceID,
            postLimit: rules.limits.maximumSyncPostCount
        )
        query.byteLimit = Self.frameByteCount / 2
        var allowance = RefreshAllowance(keyCount: .max)
        while true {
            var page = PostPage()
            let outcome = store.sync(query, into: &page, allowance: &allowance)
            guard case .done(let changes) = outcome else { continue }
            return .syncPosts(
                SyncPostsResponse(
                    posts: posts(of: page, viewer),
                    nextRevision: changes.position.revision,
                    hasMore: changes.hasMore || changes.marks?.hasMore == true,
                    isReset: changes.isReset,
                    copyRevision: changes.position.copyRevision,
                    instanceID: Self.instanceID,
                    marks: changes.marks.map(rules.changes)
                )
            )
        }
    }

    func rank(_ request: GetPostRankRequest) throws(Status) -> Response {
        let list = try rules.list(of: request)
        var allowance = RefreshAllowance(keyCount: .max)
        while true {
            let outcome = try ranked { () throws(RankingError) in
                try store.rank(
                    of: request.id,
                    order: list.order,
                    window: list.window,
                    allowance: &allowance
                )
            }
            guard case .done(let rank, let total) = outcome else { continue }
            return .postRank(PostRank(rank: rank, totalSize: total))
        }
    }
}

/// Votes and marks.
extension MemoryState {
    /// Casts a vote; a caller's first ballot makes it a voter.
    func castVote(
        _ request: CastVoteRequest,
        _ viewer: VoterKey?
    ) throws(Status) -> CastVoteResponse {
        let number = UInt8(clamping: request.direction.rawValue)
        guard let direction = FeedRanking.VoteDirection(rawValue: number) else {
            throw .badVote(request.direction)
        }
        let outcome = try cast(direction, on: request.postID, viewer)
        // Nothing has changed for a caller without identity who clears its ballot. The refusal says why.
        guard direction != .clear || viewer != nil else { throw .identityRequired }
        return CastVoteResponse(
            postID: request.postID,
            score: outcome.score,
            upvoteCount: outcome.upvoteCount,
            downvoteCount: outcome.downvoteCount,
            vote: FeedProto.VoteDirection(outcome.standingVote)
        )
    }

    private func cast(
        _ direction: FeedRanking.VoteDirection,
        on post: PostID,
        _ viewer: VoterKey?
    ) throws(Status) -> VoteOutcome {
        do throws(RankingError) {
            return try store.castVote(post, direction, voter: voter(of: viewer))
        } catch {
            switch (error, viewer) {
            case (.voterRequired, .some), (.userRequired, .user): break
            default: throw Status(error)
            }
        }
        let voter = try becomeVoter(viewer)
        return try ranked { () throws(RankingError) in
            try store.castVote(post, direction, voter: voter)
        }
    }

    /// Casts votes in order; each succeeds or fails by itself.
    func castVotes(
        _ request: BatchCastVotesRequest,
        _ viewer: VoterKey?
    ) throws(Status) -> Response {
        let limit = rules.limits.maximumBatchVoteCount
        try rules.checkBatch(request.votes.count, field: "votes", limit: limit)
        let results = request.votes.map { vote in
            do throws(Status) {
                return CastVoteResult(status: nil, vote: try castVote(vote, viewer))
            } catch {
                return CastVoteResult(status: error, vote: nil)
            }
        }
        return .batchCastVotes(BatchCastVotesResponse(results: results))
    }

    /// Marks posts; the answer counts what is left to read.
    func markPosts(
        _ request: MarkPostsRequest,
        _ viewer: VoterKey?
    ) throws(Status) -> Response {
        guard viewer != nil else { throw .identityRequired }
        let change = try MarkChange(request, rules)
        let voter = try becomeVoter(viewer)
        try change.apply(to: store, by: voter)
        return .markPosts(MarkPostsResponse(unreadCount: unreadCount(in: change.feed, voter)))
    }

    private func unreadCount(in feed: FeedID?, _ voter: VoterID?) -> UInt64 {
        var allowance = RefreshAllowance(keyCount: .max)
        return store.unreadCount(in: feed, by: voter, allowance: &allowance) ?? 0
    }

    /// The number of a viewer's ballots and marks; nil where it never had any.
    private func voter(of viewer: VoterKey?) -> VoterID? {
        viewer.flatMap { store.voter(ifKnown: $0) }
    }

    /// The number of a viewer, which a new one gets.
    private func becomeVoter(_ viewer: VoterKey?) throws(Status) -> VoterID {
        guard let viewer else { throw .identityRequired }
        return try ranked { () throws(RankingError) in try store.voter(for: viewer) }
    }
}

/// Posts as a viewer sees them.
extension MemoryState {
    /// Those of the posts that exist, and the ids of the others.
    func posts(_ ids: [PostID], _ viewer: VoterKey?, _ missing: inout [PostID]) -> [Post] {
        guard !ids.isEmpty else { return [] }
        var page = PostPage()
        _ = store.posts(ids, voter: voter(of: viewer), missing: &missing, into: &page)
        return marked(page, viewer)
    }

    /// The posts of a page that has no marks yet.
    private func marked(_ page: PostPage, _ viewer: VoterKey?) -> [Post] {
        var page = page
        page.apply(voter(of: viewer).flatMap { store.marks(of: $0) })
        return posts(of: page, viewer)
    }

    private func posts(of page: PostPage, _ viewer: VoterKey?) -> [Post] {
        page.rows.map { row in
            guard !row.isDeleted else {
                return Post(id: row.id, revision: row.revision, isDeleted: true)
            }
            var post = Post(row, of: page, feed: rules.policy(of: row.feed).name)
            guard viewer != nil else { return post }
            post.viewer = Viewer(
                vote: FeedProto.VoteDirection(row.viewerVote),
                isRead: row.viewerState.isRead,
                isDismissed: row.viewerState.isDismissed
            )
            return post
        }
    }
}

extension FeedProto.VoteDirection {
    /// A standing ballot; none is unspecified.
    fileprivate init(_ direction: FeedRanking.VoteDirection?) {
        self.init(rawValue: Int32(direction?.rawValue ?? 0))
    }
}

extension Post {
    fileprivate init(_ row: PostRow, of page: PostPage, feed: String) {
        func text(_ range: FeedRanking.TextRange) -> String {
            String(decoding: page.bytes(range), as: UTF8.self)
        }
        let name = text(row.authorName)
        self.init(
            id: row.id,
            feed: feed,
            author: row.authorID == 0 && name.isEmpty
                ? nil : User(id: UserID(rawValue: row.authorID), displayName: name),
            title: text(row.title),
            text: text(row.text),
            linkURL: text(row.linkURL),
            thumbnailURL: text(row.thumbnailURL),
            imageURL: text(row.imageURL),
            score: row.score,
            upvoteCount: row.upvoteCount,
            downvoteCount: row.downvoteCount,
            commentCount: row.commentCount,
            createTimeMilliseconds: row.createTimeMilliseconds,
            updateTimeMilliseconds: row.updateTimeMilliseconds,
            revision: row.revision
        )
    }
}
