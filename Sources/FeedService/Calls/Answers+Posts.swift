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
            case .page(let scope):
                let list = environment.context.tokens.fields(
                    of: page.withoutPosts,
                    in: scope,
                    tokensIn: &page.texts
                )
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

    /// Keeps a page that was read without a viewer, and returns its place.
    mutating func keep(
        _ page: inout PostPage,
        _ key: KeptPages.Key,
        in scope: PageTokenScope,
        readAt moment: PageMoment
    ) -> Int {
        collectFields(of: &page, viewer: false)
        let posts = fields
        let texts = page.texts
        let rest = page.withoutPosts
        tokens.removeAll(keepingCapacity: true)
        let coder = environment.context.tokens
        let list = coder.fields(of: rest, in: scope.ofNobody, tokensIn: &tokens)
        let known = KeptPages.Page(
            key: key,
            rest: rest,
            origins: page.rows.map(\.origin),
            posts: EncodedPosts(posts.span, texts: texts.span),
            list: list,
            tokens: tokens
        )
        let place = kept.keep(known, for: PageLife(of: rest, readAt: moment))
        environment.counters.countKeptPageRead(byteCount: kept.byteCount)
        return place
    }

    /// Looks up what a voter has made of the posts of a kept page; O(1) a post.
    mutating func view(keptPage place: Int, as voter: VoterID?, _ marks: ViewerMarks?) {
        viewers.removeAll(keepingCapacity: true)
        if let voter {
            for post in kept.pages[place].origins {
                environment.store.prefetch(post.id)
                environment.store.prefetchBallot(of: voter, on: post.id)
            }
        }
        for post in kept.pages[place].origins {
            let vote = voter.flatMap { environment.store.ballot(of: $0, on: post.id) }
            let state = marks?.state(of: post) ?? ViewerState()
            viewers.append(
                Viewer(
                    vote: FeedProto.VoteDirection(vote),
                    isRead: state.isRead,
                    isDismissed: state.isDismissed
                )
            )
        }
    }

    /// Encodes a kept page as the answer to a request, with tokens of its scope.
    mutating func append(
        keptPage place: Int,
        in scope: PageTokenScope,
        id: UInt64,
        revision: UInt64
    ) {
        var (list, texts) = (kept.pages[place].list, kept.pages[place].tokens)
        if !scope.isOfNobody {
            tokens.removeAll(keepingCapacity: true)
            let coder = environment.context.tokens
            list = coder.fields(of: kept.pages[place].rest, in: scope, tokensIn: &tokens)
            texts = tokens
        }
        let viewers = viewers
        do throws(FrameError) {
            try encoder.append(
                page: list,
                posts: kept.pages[place].posts,
                viewers: viewers.span,
                texts: texts.span,
                id: id,
                revision: revision
            )
        } catch {
            appendTooLarge(id: id, error)
        }
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
                post.viewer = Viewer(
                    vote: FeedProto.VoteDirection(row.viewerVote),
                    isRead: row.viewerState.isRead,
                    isDismissed: row.viewerState.isDismissed
                )
            }
            fields.append(post)
        }
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

extension PageTokenCoder {
    /// The fields of a page beside its posts; its tokens are appended to texts.
    fileprivate func fields(
        of page: PostPage,
        in scope: PageTokenScope,
        tokensIn texts: inout [UInt8]
    ) -> ListPostsFields {
        var list = ListPostsFields(firstRank: page.firstRank, totalSize: page.totalCount)
        list.nextPageToken = token(page.next, scope, in: &texts)
        list.previousPageToken = token(page.previous, scope, in: &texts)
        list.refreshToken = token(page.refresh(in: scope), scope, in: &texts)
        list.newerCount = UInt32(clamping: page.newerCount)
        list.consistency = page.isStable ? .stable : .live
        return list
    }

    private func token(
        _ cursor: PageCursor?,
        _ scope: PageTokenScope,
        in texts: inout [UInt8]
    ) -> FeedProto.TextRange {
        guard let cursor else { return .empty }
        let offset = texts.count
        append(cursor, in: scope, to: &texts)
        return FeedProto.TextRange(
            offset: UInt32(offset),
            byteCount: UInt32(texts.count - offset)
        )
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
