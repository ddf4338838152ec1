import FeedClient
import FeedProto
import FeedSQLite

/// What an executed entry leaves in the copy. These functions are parts of transactions.
extension OfflineStore {
    func finish(_ entry: OutboxEntry, _ answer: Answer) throws(OfflineError) {
        switch (entry.request, answer.response) {
        case (.castVote, .castVote(let counts)):
            try changeBase(counts.postID) { post in
                post.score = counts.score
                post.upvoteCount = counts.upvoteCount
                post.downvoteCount = counts.downvoteCount
                if counts.vote != .unspecified || post.viewer != nil {
                    var viewer = post.viewer ?? Viewer()
                    viewer.vote = counts.vote
                    post.viewer = viewer
                }
            }
        case (.createPost, .post(let post)):
            try adopt(post, for: entry.localPostID)
        case (.updatePost(let update), .post(let post)):
            try chain(update, of: entry.userID, to: post)
            if let generation = try generation(of: post.feed) {
                try take(post, generation: generation)
            }
        case (.deletePost(let deletion), _): try remove(deletion.id)
        case (.markPosts(let marks), _): try keep(marks)
        default: break
        }
        try remove(entry)
    }

    func finishGone(_ entry: OutboxEntry) throws(OfflineError) {
        for id in entry.request.shownPosts { try remove(id) }
        try remove(entry)
        guard entry.localPostID != 0 else { return }
        for row in try outboxRows("ORDER BY number")
        where row.request.namedPosts.contains(entry.localPostID) {
            try put(row, .failed(.postIsGone))
        }
    }

    /// Lets the waiting edits that stand on an executed one stand on the post that it has left.
    ///
    /// Who edits a post twice without a network sees the first edit when making the second, but names the
    /// revision of the copy in both: 40 and 40, of which the second becomes 51 where the first has made 51.
    /// An answer that shows more than the edit has somebody else's in it, as that of a repeat may. Then the
    /// second edit stays at 40, and is refused.
    private func chain(
        _ update: UpdatePostRequest,
        of userID: UInt64,
        to post: Post
    ) throws(OfflineError) {
        let base = try base(post.id)
        var expected = ShownPost(base ?? post)
        expected.apply(.updatePost(update), mode: .unspecified)
        guard expected.post.hasFields(of: post) else { return }
        let named = update.post?.revision ?? 0
        let oldest = named > 0 ? named : base?.revision ?? .max
        let rows = try outboxRows(
            """
            WHERE state = 1 AND user = ? AND number IN (SELECT number FROM targets WHERE post = ?)
            """,
            [.id(userID), .id(post.id)]
        )
        for var row in rows {
            guard case .updatePost(var next) = row.request, let revision = next.post?.revision,
                revision > 0, revision >= oldest
            else { continue }
            next.post?.revision = post.revision
            row.request = .updatePost(next)
            try write(row)
        }
    }

    /// Gives a post that was made here the id of the service, also in the entries that name it.
    private func adopt(_ post: Post, for localID: UInt64) throws(OfflineError) {
        let instance = try identity().instanceID
        // In any state: those that failed or are in doubt may be sent again later.
        for var row in try outboxRows("ORDER BY number")
        where row.request.namedPosts.contains(localID) {
            try removeTargets(of: row.entry)
            row.request = row.request.replacing(localID, by: post.id)
            row.instanceID = instance
            try write(row)
        }
        try database.run("INSERT INTO made_posts VALUES(?, ?)", [.id(localID), .id(post.id)])
        try database.run(
            """
            DELETE FROM made_posts WHERE local <= (
                SELECT local FROM made_posts ORDER BY local DESC LIMIT 1 OFFSET \(Self.maximumMadeCount))
            """
        )
        if let generation = try generation(of: post.feed) {
            try take(post, generation: generation)
        }
        change.replace(localID, by: post.id)
    }

    /// How many local ids the file still knows after their posts have got others.
    private static let maximumMadeCount = 1_000

    /// Keeps marks that the service has: they are no changes of their posts, so no sync brings them.
    private func keep(_ marks: MarkPostsRequest) throws(OfflineError) {
        let ids = try marks.throughPostID == 0 ? marks.postIDs : postsReached(by: marks)
        for id in ids {
            try changeBase(id) { post in
                var shown = ShownPost(post)
                shown.mark(marks.mark)
                post = shown.post
            }
        }
    }

    private func changeBase(_ id: UInt64, _ body: (inout Post) -> Void) throws(OfflineError) {
        guard var post = try base(id),
            let generation = try database.first(
                "SELECT generation FROM posts WHERE id = ?",
                [.id(id)],
                { $0.int64(0) }
            )
        else { return }
        body(&post)
        try take(post, generation: generation)
    }
}

extension Status {
    fileprivate static var postIsGone: Status {
        Status(
            code: .notFound,
            reason: .postNotFound,
            message: "The post was created and has been deleted since."
        )
    }
}

extension Post {
    /// Whether two posts have equal fields of those that an edit may change.
    fileprivate func hasFields(of post: Post) -> Bool {
        title == post.title && text == post.text && linkURL == post.linkURL
            && thumbnailURL == post.thumbnailURL && imageURL == post.imageURL
            && commentCount == post.commentCount
    }
}
