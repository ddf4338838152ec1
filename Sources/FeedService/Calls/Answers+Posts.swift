internal import FeedProto
internal import FeedRanking

/// How the posts of a page become an answer, without a `String` or an allocation a post.
extension Answers {
    /// Encodes the posts of a page, whose texts get the feeds' names and the tokens.
    ///
    /// - Parameters:
    ///   - form: The message that the posts are sent in.
    ///   - page: The posts.
    ///   - id: The id of the request.
    ///   - revision: The revision of the state that the answer reflects.
    ///   - viewer: Whether the caller is a user or a device, whose ballots are shown.
    mutating func append(
        _ form: Answer.Posts,
        of page: inout PostPage,
        id: UInt64,
        revision: UInt64,
        viewer: Bool
    ) {
        collectFields(of: &page, viewer: viewer)
        do throws(FrameError) {
            switch form {
            case .one:
                let texts = page.texts
                try encoder.append(post: fields[0], texts: texts.span, id: id, revision: revision)
            case .page(let scope, let (key, moment)?):
                let place = keep(page, key, moment, scope)
                return append(keptPage: place, in: scope, id: id, revision: revision)
            case .page(let scope, nil):
                let list = listFields(&page, in: scope)
                let posts = fields
                let texts = page.texts
                try encoder.append(
                    page: list,
                    posts: posts.span,
                    texts: texts.span,
                    id: id,
                    revision: revision
                )
            case .changes(let changes):
                let posts = fields
                let texts = page.texts
                try encoder.append(
                    changes: SyncPostsFields(changes, environment.context.instanceID),
                    posts: posts.span,
                    texts: texts.span,
                    id: id,
                    revision: revision
                )
            case .batch(let missing):
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
        } catch {
            appendTooLarge(id: id, error)
        }
    }

    /// Keeps a page, whose fields are collected, and returns its place.
    private mutating func keep(
        _ page: borrowing PostPage,
        _ key: KeptPages.Key,
        _ moment: KeptPages.Moment,
        _ scope: PageTokenScope
    ) -> Int {
        let posts = fields
        let texts = page.texts
        var rest = page.withoutPosts
        let list = listFields(&rest, in: scope)
        let encoded = FrameEncoder.encoded(posts.span, texts: texts.span)
        let known = KeptPages.Page(
            rest: rest,
            list: list,
            scope: scope,
            posts: encoded,
            moment: moment
        )
        let place = kept.keep(key, known)
        environment.counters.countKeptPageRead(byteCount: kept.byteCount)
        return place
    }

    /// Encodes a kept page as the answer to another request, with tokens of its scope.
    mutating func append(
        keptPage place: Int,
        in scope: PageTokenScope,
        id: UInt64,
        revision: UInt64
    ) {
        let known = kept[place]
        var list = known.list
        var rest = known.rest
        if scope != known.scope {
            rest.texts.removeAll()
            list = listFields(&rest, in: scope)
        }
        let texts = rest.texts
        do throws(FrameError) {
            try encoder.append(
                page: list,
                encodedPosts: known.posts,
                texts: texts.span,
                id: id,
                revision: revision
            )
        } catch {
            appendTooLarge(id: id, error)
        }
    }

    /// The fields of a page beside its posts; its tokens are appended to its texts.
    private func listFields(_ page: inout PostPage, in scope: PageTokenScope) -> ListPostsFields {
        var list = ListPostsFields(firstRank: page.firstRank, totalSize: page.totalCount)
        list.nextPageToken = appendToken(page.next, scope, to: &page)
        list.previousPageToken = appendToken(page.previous, scope, to: &page)
        list.refreshToken = appendToken(page.refresh(in: scope), scope, to: &page)
        list.newerCount = UInt32(clamping: page.newerCount)
        list.consistency = page.isStable ? .stable : .live
        return list
    }

    /// Converts the rows of a page into the wire's fields; adjacent posts of a feed share its name.
    mutating func collectFields(of page: inout PostPage, viewer: Bool) {
        fields.removeAll(keepingCapacity: true)
        var feed: FeedID?
        var name = FeedProto.TextRange.empty
        for row in page.rows {
            if !row.isDeleted, row.feed != feed {
                feed = row.feed
                name = append(environment.policy(of: row.feed).name.utf8, to: &page)
            }
            var post = PostFields(row, feed: row.isDeleted ? .empty : name)
            if viewer, !row.isDeleted {
                post.viewerVote = FeedProto.VoteDirection(row.viewerVote)
                post.viewerHasRead = row.viewerState.isRead
                post.viewerHasDismissed = row.viewerState.isDismissed
            }
            fields.append(post)
        }
    }

    private func appendToken(
        _ cursor: PageCursor?,
        _ scope: PageTokenScope,
        to page: inout PostPage
    ) -> FeedProto.TextRange {
        guard let cursor else { return .empty }
        return append(environment.context.tokens.token(for: cursor, in: scope), to: &page)
    }

    private func append(
        _ bytes: some Collection<UInt8>,
        to page: inout PostPage
    ) -> FeedProto.TextRange {
        let offset = page.texts.count
        page.texts.append(contentsOf: bytes)
        return FeedProto.TextRange(offset: UInt32(offset), byteCount: UInt32(bytes.count))
    }
}

extension PostPage {
    /// The cursor of the posts that are newer than the page's; nil where the page leads to none.
    fileprivate func refresh(in scope: PageTokenScope) -> PageCursor? {
        refreshPlace.map { place in
            PageCursor(
                feed: scope.feed,
                order: scope.order,
                window: scope.window,
                direction: .newer,
                position: place,
                rank: 0
            )
        }
    }
}
