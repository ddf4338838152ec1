internal import FeedProto
internal import FeedRanking

/// The calls about posts.
extension MemoryState {
    /// Creates a post; a user is its author.
    func createPost(
        _ request: CreatePostRequest,
        _ viewer: MemoryViewer
    ) throws(Status) -> Response {
        guard let post = request.post else { throw .invalid(.badField, "post") }
        let feed = try feed(named: request.feed.isEmpty ? "posts" : request.feed)
        try TextRules.check(post, "post", policy(of: feed))
        var content = PostContent(post)
        if viewer.userID != 0 {
            content.authorID = viewer.userID
            content.authorName = viewer.name ?? content.authorName
        }
        var page = PostPage()
        _ = try ranked { () throws(RankingError) in
            try store.createPost(content, in: feed, into: &page)
        }
        return .post(posts(of: page, viewer)[0])
    }

    /// Reads a post.
    func post(_ id: UInt64, _ viewer: MemoryViewer) throws(Status) -> Post {
        var page = PostPage()
        let voter = voter(of: viewer)
        try ranked { () throws(RankingError) in
            try store.post(PostID(rawValue: id), voter: voter, into: &page)
        }
        page.apply(voter.flatMap { store.marks(of: $0) })
        return posts(of: page, viewer)[0]
    }

    /// Reads posts by id.
    func posts(
        _ request: BatchGetPostsRequest,
        _ viewer: MemoryViewer
    ) throws(Status) -> Response {
        try Self.checkBatch(request.ids.count, "ids", limit: MemoryLimits.batchGetCount)
        var page = PostPage()
        var missing: [PostID] = []
        let voter = voter(of: viewer)
        _ = store.posts(
            request.ids.map(PostID.init(rawValue:)),
            voter: voter,
            missing: &missing,
            into: &page
        )
        page.apply(voter.flatMap { store.marks(of: $0) })
        return .batchGetPosts(
            BatchGetPostsResponse(
                posts: posts(of: page, viewer),
                missingIDs: missing.map(\.rawValue)
            )
        )
    }

    /// Changes fields of a post.
    func updatePost(
        _ request: UpdatePostRequest,
        _ viewer: MemoryViewer,
        _ caller: MemoryCaller
    ) throws(Status) -> Response {
        guard let post = request.post else { throw .invalid(.badField, "post") }
        guard !request.updateMask.isEmpty else { throw .invalid(.badField, "update_mask") }
        let id = PostID(rawValue: post.id)
        try requireAuthor(of: id, viewer, caller)
        let changes = try PostChanges(post, request.updateMask)
        let feed = try ranked { () throws(RankingError) in try store.feed(of: id) }
        try TextRules.check(changes, policy(of: feed))
        var page = PostPage()
        let voter = voter(of: viewer)
        _ = try ranked { () throws(RankingError) in
            try store.updatePost(
                id,
                changes,
                expectedRevision: post.revision,
                voter: voter,
                into: &page
            )
        }
        page.apply(voter.flatMap { store.marks(of: $0) })
        return .post(posts(of: page, viewer)[0])
    }

    /// Deletes a post.
    func deletePost(
        _ request: DeletePostRequest,
        _ viewer: MemoryViewer,
        _ caller: MemoryCaller
    ) throws(Status) -> Response {
        let id = PostID(rawValue: request.id)
        try requireAuthor(of: id, viewer, caller)
        _ = try ranked { () throws(RankingError) in
            try store.deletePost(id, expectedRevision: request.revision)
        }
        return .empty
    }

    /// Imports posts with their times and counts.
    func importPosts(
        _ request: ImportPostsRequest,
        _ caller: MemoryCaller
    ) throws(Status) -> Response {
        try requireService(caller)
        try Self.checkBatch(request.posts.count, "posts", limit: MemoryLimits.importCount)
        let feed = try feed(named: request.feed.isEmpty ? "posts" : request.feed)
        let latest = clock() + MemoryLimits.importedTimeLead
        for (index, post) in request.posts.enumerated() {
            let path = "posts[\(index)]"
            try TextRules.check(post, path, policy(of: feed))
            let time = post.createTimeMilliseconds
            guard (0...latest).contains(time) else {
                let actual = UInt64(bitPattern: time)
                throw .invalid(
                    .badTime,
                    "\(path).create_time_ms",
                    limit: Int(latest),
                    actual: actual
                )
            }
            try checkCount(post.upvoteCount, "\(path).upvote_count")
            try checkCount(post.downvoteCount, "\(path).downvote_count")
            try checkCount(post.commentCount, "\(path).comment_count")
        }
        let imported = request.posts.map { post in
            ImportedPost(
                content: PostContent(post),
                createTimeMilliseconds: post.createTimeMilliseconds,
                upvoteCount: post.upvoteCount,
                downvoteCount: post.downvoteCount
            )
        }
        let outcome = try ranked { () throws(RankingError) in
            try store.importPosts(imported, in: feed)
        }
        let first = outcome.firstID.rawValue
        let ids = first..<first + UInt64(imported.count)
        return .importPosts(ImportPostsResponse(ids: Array(ids)))
    }

    private func checkCount(_ count: UInt64, _ field: String) throws(Status) {
        let limit = MemoryLimits.importedCount
        guard count <= limit else {
            throw .invalid(.badCount, field, limit: Int(limit), actual: count)
        }
    }

    /// Refuses a change of a post by a user who is not its author.
    private func requireAuthor(
        of id: PostID,
        _ viewer: MemoryViewer,
        _ caller: MemoryCaller
    ) throws(Status) {
        guard !caller.isService else { return }
        guard !caller.token.isEmpty else {
            throw .identityRequired("Only users change posts: sign in first.")
        }
        guard let author = try? store.author(of: id), author != viewer.userID else { return }
        throw Status(
            code: .permissionDenied,
            reason: .notAuthor,
            message: "The post \(id.rawValue) is another author's."
        )
    }
}

/// What the calls share.
extension MemoryState {
    /// The feed of a name.
    func feed(named name: String) throws(Status) -> FeedID {
        guard let feed = store.feed(named: name) else { throw .feedNotFound(name) }
        return feed
    }

    /// The policy of a feed that exists.
    func policy(of feed: FeedID) -> FeedPolicy {
        guard let policy = store.policy(of: feed) else {
            preconditionFailure("A feed that was found stays.")
        }
        return policy
    }

    /// The number of a viewer's ballots and marks; nil where it never had any.
    func voter(of viewer: MemoryViewer) -> VoterID? {
        viewer.key.flatMap { store.voter(ifKnown: $0) }
    }

    /// The number of a viewer, which a new one gets.
    func becomeVoter(_ viewer: MemoryViewer) throws(Status) -> VoterID {
        guard let key = viewer.key else {
            throw .identityRequired("The call needs an identity: connect with a client id.")
        }
        return try ranked { () throws(RankingError) in try store.voter(for: key) }
    }

    /// The posts of a page.
    func posts(of page: PostPage, _ viewer: MemoryViewer) -> [Post] {
        page.rows.map { row in
            Post(
                row,
                of: page,
                feed: policy(of: row.feed).name,
                isForViewer: viewer.key != nil
            )
        }
    }

    /// Checks the number of items of a batch.
    static func checkBatch(_ count: Int, _ field: String, limit: Int) throws(Status) {
        guard !(1...limit).contains(count) else { return }
        let reason = count == 0 ? Reason.badField : .batchTooLarge
        throw .invalid(reason, field, limit: limit, actual: UInt64(count))
    }

    /// Runs a call of the ranking, whose errors are refusals.
    func ranked<Value>(_ body: () throws(RankingError) -> Value) throws(Status) -> Value {
        do throws(RankingError) {
            return try body()
        } catch {
            throw Status(error)
        }
    }
}
