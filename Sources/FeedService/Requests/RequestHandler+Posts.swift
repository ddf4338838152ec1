internal import FeedProto
internal import FeedRanking

/// The calls about single posts: create, get, update, delete and rank.
extension RequestHandler {
    /// Creates a post; the caller's ids, times and votes are not read.
    mutating func createPost(_ request: CreatePostRequest) throws(Status) -> Answer {
        guard let post = request.post else { throw .missing("post") }
        let feed = try self.feed(named: request.feed.isEmpty ? Self.defaultFeed : request.feed)
        try check(post, at: .only, against: policy(of: feed))
        page.removeAll()
        do throws(RankingError) {
            let outcome = try store.createPost(
                PostContent(post),
                in: feed,
                sink: changeLog,
                into: &page
            )
            return .posts(.one, revision: noted(outcome))
        } catch {
            throw Status(error)
        }
    }

    /// Reads one post.
    mutating func getPost(
        _ request: GetPostRequest,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
        let revision = store.revision
        page.removeAll()
        do throws(RankingError) {
            try store.post(
                PostID(rawValue: request.id),
                voter: voter(of: caller),
                into: &page
            )
        } catch {
            throw Status(error)
        }
        return .posts(.one, revision: max(revision, page.rows[0].revision))
    }

    /// Reads posts by id, in the order of the ids.
    mutating func batchGetPosts(
        _ request: BatchGetPostsRequest,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
        try checkBatch(
            request.ids.count,
            field: "ids",
            limit: context.limits.maximumBatchGetCount
        )
        let revision = store.revision
        page.removeAll()
        var missing: [PostID] = []
        _ = store.posts(
            request.ids.map(PostID.init(rawValue:)),
            voter: voter(of: caller),
            byteLimit: context.pageByteLimit,
            missing: &missing,
            into: &page
        )
        return .posts(.batch(missing: missing.map(\.rawValue)), revision: revision)
    }

    /// Changes the fields that the mask names.
    mutating func updatePost(
        _ request: UpdatePostRequest,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
        guard let post = request.post else { throw .missing("post") }
        guard !request.updateMask.isEmpty else { throw .missing("update_mask") }
        let id = PostID(rawValue: post.id)
        let changes = try PostChanges(post, request.updateMask)
        try check(changes, against: policy(of: try feed(of: id)))
        page.removeAll()
        do throws(RankingError) {
            let outcome = try store.updatePost(
                id,
                changes,
                expectedRevision: post.revision,
                voter: voter(of: caller),
                sink: changeLog,
                into: &page
            )
            return .posts(.one, revision: noted(outcome))
        } catch {
            throw Status(error)
        }
    }

    /// Deletes a post; a repeat is as good as the first.
    mutating func deletePost(_ request: DeletePostRequest) throws(Status) -> Answer {
        do throws(RankingError) {
            let outcome = try store.deletePost(
                PostID(rawValue: request.id),
                expectedRevision: request.revision,
                sink: changeLog
            )
            return .response(.empty, revision: outcome.revision)
        } catch {
            throw Status(error)
        }
    }

    /// Counts the place of a post in its feed.
    mutating func getPostRank(_ request: GetPostRankRequest) throws(Status) -> Answer {
        let revision = store.revision
        let id = PostID(rawValue: request.id)
        let order = try order(
            request.order,
            in: try feed(of: id),
            field: "order"
        )
        do throws(RankingError) {
            switch try store.rank(of: id, order: order, budget: &refreshBudget) {
            case .done(let rank, let total):
                return .response(
                    .postRank(PostRank(rank: rank, totalSize: total)),
                    revision: revision
                )
            case .again:
                return .later
            }
        } catch {
            throw Status(error)
        }
    }

    /// The feed that a post is in.
    private func feed(of id: PostID) throws(Status) -> FeedID {
        do throws(RankingError) {
            return try store.feed(of: id)
        } catch {
            throw Status(error)
        }
    }

    /// The revision of a write; its stripe is refreshed later if a refresh is due.
    private mutating func noted(_ outcome: WriteOutcome) -> UInt64 {
        if outcome.refreshIsDue { refreshLater(stripeOf: page.rows[0].id) }
        return outcome.revision
    }

    /// Checks what a new post says against the rules of its feed.
    func check(_ post: Post, at path: PostPath, against policy: FeedPolicy) throws(Status) {
        try rules.checkTitle(
            post.title,
            at: path,
            maximumCharacterCount: policy.maximumTitleCharacterCount
        )
        try rules.checkText(
            post.text,
            at: path,
            minimumCharacterCount: policy.minimumTextCharacterCount,
            maximumCharacterCount: policy.maximumTextCharacterCount
        )
        try rules.checkURL(post.linkURL, at: path, "link_url")
        try rules.checkURL(post.thumbnailURL, at: path, "thumbnail_url")
        try rules.checkURL(post.imageURL, at: path, "image_url")
        if let author = post.author { try rules.checkName(author.displayName, at: path) }
    }

    private func check(_ changes: PostChanges, against policy: FeedPolicy) throws(Status) {
        if let title = changes.title {
            try rules.checkTitle(
                title,
                at: .only,
                maximumCharacterCount: policy.maximumTitleCharacterCount
            )
        }
        if let text = changes.text {
            try rules.checkText(
                text,
                at: .only,
                minimumCharacterCount: policy.minimumTextCharacterCount,
                maximumCharacterCount: policy.maximumTextCharacterCount
            )
        }
        if let url = changes.linkURL { try rules.checkURL(url, at: .only, "link_url") }
        if let url = changes.thumbnailURL { try rules.checkURL(url, at: .only, "thumbnail_url") }
        if let url = changes.imageURL { try rules.checkURL(url, at: .only, "image_url") }
    }
}
