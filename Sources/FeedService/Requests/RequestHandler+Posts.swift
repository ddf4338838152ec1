internal import FeedProto
internal import FeedRanking

/// The calls about single posts: create, get, update, delete and rank.
extension RequestHandler {
    /// Creates a post; the caller's times, counts and ids are not read.
    func createPost(_ request: CreatePostRequest) throws(Status) -> Answer {
        guard let post = request.post else { throw .missing("create_post.post") }
        let feed = try self.feed(named: request.feed.isEmpty ? Self.defaultFeed : request.feed)
        try check(post, against: store.policy(of: feed))
        page.removeAll()
        do throws(RankingError) {
            try store.createPost(PostContent(post), in: feed, into: &page)
        } catch {
            throw Status(error)
        }
        return .posts(.one, revision: page.rows[0].revision)
    }

    /// Reads one post.
    func getPost(_ request: GetPostRequest, from caller: borrowing Caller) throws(Status) -> Answer {
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
    func batchGetPosts(
        _ request: BatchGetPostsRequest,
        from caller: borrowing Caller
    ) throws(Status) -> Answer {
        try checkBatch(
            request.ids.count,
            field: "batch_get_posts.ids",
            limit: context.limits.maximumBatchGetCount
        )
        let revision = store.revision
        page.removeAll()
        let missing = store.posts(
            request.ids.map(PostID.init(rawValue:)),
            voter: voter(of: caller),
            byteLimit: context.pageByteLimit,
            into: &page
        )
        return .posts(.batch(missing: missing.map(\.rawValue)), revision: revision)
    }

    /// Changes the fields that the mask names.
    func updatePost(_ request: UpdatePostRequest) throws(Status) -> Answer {
        guard let post = request.post else { throw .missing("update_post.post") }
        guard !request.updateMask.isEmpty else { throw .missing("update_post.update_mask") }
        let id = PostID(rawValue: post.id)
        guard let feed = store.feed(of: id) else { throw .postNotFound(post.id) }
        let changes = try PostChanges(post, request.updateMask)
        try check(changes, against: store.policy(of: feed))
        page.removeAll()
        do throws(RankingError) {
            try store.updatePost(id, changes, expectedRevision: post.revision, into: &page)
        } catch {
            throw Status(error)
        }
        return .posts(.one, revision: page.rows[0].revision)
    }

    /// Deletes a post; a repeat is as good as the first.
    func deletePost(_ request: DeletePostRequest) throws(Status) -> Answer {
        do throws(RankingError) {
            let revision = try store.deletePost(
                PostID(rawValue: request.id),
                expectedRevision: request.revision
            )
            return .response(.empty, revision: revision)
        } catch {
            throw Status(error)
        }
    }

    /// Counts the place of a post in its feed.
    func getPostRank(_ request: GetPostRankRequest) throws(Status) -> Answer {
        let revision = store.revision
        let id = PostID(rawValue: request.id)
        guard let feed = store.feed(of: id) else { throw .postNotFound(request.id) }
        let order = try order(request.order, in: feed, field: "get_post_rank.order")
        do throws(RankingError) {
            switch try store.rank(of: id, order: order, budget: &settlingBudget) {
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

    private func check(_ post: Post, against policy: FeedPolicy) throws(Status) {
        try rules.checkTitle(
            post.title,
            maximumCharacterCount: policy.maximumTitleCharacterCount
        )
        try rules.checkText(
            post.text,
            minimumCharacterCount: policy.minimumTextCharacterCount,
            maximumCharacterCount: policy.maximumTextCharacterCount
        )
        try rules.checkURL(post.linkURL, field: "post.link_url")
        try rules.checkURL(post.thumbnailURL, field: "post.thumbnail_url")
        try rules.checkURL(post.imageURL, field: "post.image_url")
        if let author = post.author { try rules.checkName(author.displayName) }
    }

    private func check(_ changes: PostChanges, against policy: FeedPolicy) throws(Status) {
        if let title = changes.title {
            try rules.checkTitle(title, maximumCharacterCount: policy.maximumTitleCharacterCount)
        }
        if let text = changes.text {
            try rules.checkText(
                text,
                minimumCharacterCount: policy.minimumTextCharacterCount,
                maximumCharacterCount: policy.maximumTextCharacterCount
            )
        }
        if let url = changes.linkURL { try rules.checkURL(url, field: "post.link_url") }
        if let url = changes.thumbnailURL { try rules.checkURL(url, field: "post.thumbnail_url") }
        if let url = changes.imageURL { try rules.checkURL(url, field: "post.image_url") }
    }
}
