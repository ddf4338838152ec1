internal import FeedProto
internal import FeedRanking

/// How the posts in `page` become an answer, without a `String` or an allocation a post.
extension RequestHandler {
    /// Which message the posts in `page` are sent in.
    enum PostsAnswer {
        /// The only post, as a Post.
        case one
        /// All of them, as a page whose tokens are valid in this scope.
        case page(PageTokenScope)
        /// All of them, beside the ids that no post has.
        case batch(missing: [UInt64])
    }

    /// Encodes the posts in `page`.
    mutating func append(_ kind: PostsAnswer, id: UInt64, revision: UInt64, viewer: Bool) {
        gatherFields(viewer: viewer)
        do throws(FrameError) {
            switch kind {
            case .one: try appendOne(id: id, revision: revision)
            case .page(let scope): try appendPage(scope, id: id, revision: revision)
            case .batch(let missing): try appendBatch(missing, id: id, revision: revision)
            }
        } catch {
            appendTooLarge(id: id, error)
        }
    }

    private mutating func appendOne(id: UInt64, revision: UInt64) throws(FrameError) {
        let texts = page.texts
        try encoder.append(post: fields[0], texts: texts.span, id: id, revision: revision)
    }

    private mutating func appendPage(
        _ scope: PageTokenScope,
        id: UInt64,
        revision: UInt64
    ) throws(FrameError) {
        var list = ListPostsFields(firstRank: page.firstRank, totalSize: page.totalCount)
        list.nextPageToken = appendToken(page.next, scope)
        list.previousPageToken = appendToken(page.previous, scope)
        let posts = fields
        let texts = page.texts
        try encoder.append(
            page: list,
            posts: posts.span,
            texts: texts.span,
            id: id,
            revision: revision
        )
    }

    private mutating func appendBatch(
        _ missing: [UInt64],
        id: UInt64,
        revision: UInt64
    ) throws(FrameError) {
        let posts = fields
        let texts = page.texts
        try encoder.append(
            batch: posts.span,
            missingIDs: missing,
            texts: texts.span,
            id: id,
            revision: revision
        )
    }

    /// Says that an answer does not fit into a frame, in place of the answer.
    ///
    /// Only reads have answers that grow: a single post and the answer to any write fit into the
    /// smallest frame limit that the service starts with.
    mutating func appendTooLarge(id: UInt64, _ error: FrameError) {
        let status = Status(
            code: .internal,
            reason: .internal,
            message: "The answer does not fit: \(error)"
        )
        do throws(FrameError) {
            try encoder.append(ServerFrame(id: id, revision: store.revision, status: status))
        } catch {
            preconditionFailure("A frame limit that no error fits into: \(error)")
        }
    }

    /// Turns the rows of `page` into the wire's fields; a feed's name is written once a run.
    private mutating func gatherFields(viewer: Bool) {
        fields.removeAll(keepingCapacity: true)
        var feed: FeedID?
        var name = FeedProto.TextRange.empty
        for row in page.rows {
            if row.feed != feed {
                feed = row.feed
                name = appendText(policy(of: row.feed).name.utf8)
            }
            var post = PostFields(row, feed: name)
            if viewer { post.viewerVote = FeedProto.VoteDirection(row.viewerVote) }
            fields.append(post)
        }
    }

    private mutating func appendToken(
        _ cursor: PageCursor?,
        _ scope: PageTokenScope
    ) -> FeedProto.TextRange {
        guard let cursor else { return .empty }
        return appendText(context.tokens.token(for: cursor, in: scope))
    }

    private mutating func appendText(_ bytes: some Collection<UInt8>) -> FeedProto.TextRange {
        let offset = page.texts.count
        page.texts.append(contentsOf: bytes)
        return FeedProto.TextRange(offset: UInt32(offset), byteCount: UInt32(bytes.count))
    }
}
