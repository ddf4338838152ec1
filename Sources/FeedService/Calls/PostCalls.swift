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
