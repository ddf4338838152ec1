internal import FeedCalls
internal import FeedConcurrency
internal import FeedProto
internal import FeedRanking

/// The result of a call that is executed.
enum Answer {
    /// The counts after a vote, which are encoded without a message because votes are so frequent.
    case vote(CastVoteResponse, revision: UInt64)
    /// A message, and the revision of the state that it reflects.
    case response(Response, revision: UInt64)
    /// The posts that the call has left in `PostCalls.page`, in one of the messages that have posts.
    ///
    /// The page keeps its memory from call to call, so the answer names the page and does not carry
    /// posts. The next call of the loop clears the page, so the answer is encoded before it.
    case postsInPage(Posts, revision: UInt64)
    /// The page that is kept encoded at a place of `Answers.kept`, with what `Answers.viewers` says of its
    /// posts and with tokens of this scope.
    case keptPage(Int, PageTokenScope, revision: UInt64)
    /// No answer in this loop iteration: the call has more work than one iteration allows, and is
    /// passed again in a later one.
    case again
    /// No answer in this loop iteration: the call waits for the work of another one, and is passed again
    /// in a later one.
    case wait
    /// No answer of its own: the events of a watch follow, or end.
    case events
    /// No answer in this loop iteration: it follows when another thread has done its part.
    case later(LaterCall)

    /// The message that posts are sent in.
    enum Posts {
        /// The one post that the page has, as a Post.
        case one
        /// All posts of the page, as a list whose tokens are valid in this scope.
        case page(PageTokenScope)
        /// All posts of the page, as changes since a revision.
        case changes(SyncPage)
        /// All posts of the page, beside the ids without a post.
        case batch(missing: [PostID])
    }
}

/// A call whose answer follows when a backup is made, when its password was hashed, when the replica has
/// answered, or when a follower has the revision that it asks for.
enum LaterCall {
    case read(PostponedRead)
    /// The id of its request.
    case backup(UInt64)
    indirect case signIn(SignIn)
    indirect case cluster(ClusterCall)
}

/// The answers of one loop iteration to one connection, and the refreshes that are due after them.
///
/// The answers are encoded in the order of the requests, and sent at the end of the iteration.
struct Answers: ~Copyable {
    let environment: CallEnvironment
    var encoder: FrameEncoder
    /// The part of the budget that the encoded answers take.
    var room: AnswerRoom
    /// The posts of an answer as the encoder takes them; the memory is reused.
    var fields: [PostFields] = []
    /// The calls that are answered, to time them.
    var calls = AnsweredCalls()
    /// The encoded pages near the start of their lists that were served last.
    var kept = KeptPages()
    /// What the caller has made of each post of a kept page; nothing for a caller without identity.
    var viewers: [Viewer] = []
    /// The tokens of a kept page; the memory is reused.
    var tokens: [UInt8] = []
    /// One post of each stripe that is refreshed after the answers are sent.
    private var refreshDue: [PostID] = []

    init(_ environment: CallEnvironment) {
        self.environment = environment
        let context = environment.context
        room = AnswerRoom(context.budget)
        encoder = FrameEncoder(maximumFrameByteCount: context.limits.maximumFrameByteCount)
    }

    var byteCount: Int { encoder.byteCount }

    mutating func append(_ vote: CastVoteResponse, id: UInt64, revision: UInt64) {
        do throws(FrameError) {
            try encoder.append(vote: vote, id: id, revision: revision)
        } catch {
            appendTooLarge(id: id, error)
        }
    }

    mutating func append(_ results: borrowing VoteBatchResults, id: UInt64, revision: UInt64) {
        do throws(FrameError) {
            try encoder.append(results, id: id, revision: revision)
        } catch {
            appendTooLarge(id: id, error)
        }
    }

    /// Encodes an answer.
    ///
    /// An answer over the frame limit becomes an error, so that every request has one answer.
    mutating func append(_ frame: borrowing ServerFrame) {
        do throws(FrameError) {
            try encoder.append(frame)
        } catch {
            appendTooLarge(id: frame.id, error)
        }
    }

    /// Encodes the answer to a sign-in, whose token is left nowhere else afterwards.
    mutating func append(_ session: UserSession, id: UInt64) {
        let revision = environment.store.revision
        append(ServerFrame(id: id, revision: revision, response: .session(session)))
        session.overwriteToken()
        calls.hasSecret = true
    }

    /// Forgets the token of an answer that was encoded, if it has one.
    mutating func forgetToken(of response: Response) {
        guard case .passwordReset(let reset) = response else { return }
        reset.overwriteToken()
        calls.hasSecret = true
    }

    /// Counts calls whose answers or refusals are encoded; the first of them has this id.
    mutating func countCalls(_ method: Method, _ count: Int = 1, firstID: UInt64) {
        environment.counters.countRequests(method, count)
        calls.add(method, count, firstID: firstID)
    }

    /// Adds the times of a call to its answer, which was encoded last and begins at an offset.
    ///
    /// When it is released is set once it is.
    mutating func addTimes(toFrameAt start: Int, receivedAt received: MonotonicInstant) {
        let times = CallTimes(
            receivedNanoseconds: received.nanoseconds,
            executedNanoseconds: environment.context.now.nanoseconds,
            releasedNanoseconds: 0
        )
        if encoder.append(times, toFrameAt: start) { calls.addTimed(endingAt: encoder.byteCount) }
    }

    /// Encodes the refusal of a caller's call, counts it and logs it.
    mutating func refuse(
        _ id: UInt64,
        _ method: Method,
        _ status: Status,
        from caller: borrowing Caller
    ) {
        environment.counters.countError(method, status.reason.rawValue)
        let start = byteCount
        refuse(id, status)
        if status.isOfStall { calls.sendAhead(start..<byteCount) }
        environment.log.refused(method, status.reason.rawValue, from: caller.host)
    }

    /// Encodes a refusal without counting it for a method; the id 0 is the connection.
    mutating func refuse(_ id: UInt64, _ status: Status) {
        append(ServerFrame(id: id, revision: environment.shownRevision, status: status))
    }

    /// Encodes an error in place of an answer that does not fit into a frame.
    ///
    /// Only the answers to reads grow: a single post and the answer to any write fit into the
    /// smallest frame limit that the service starts with.
    private mutating func appendTooLarge(id: UInt64, _ error: FrameError) {
        let status = Status(.internal, "The answer does not fit: \(error)")
        do throws(FrameError) {
            let revision = environment.store.revision
            try encoder.append(ServerFrame(id: id, revision: revision, status: status))
        } catch {
            preconditionFailure("A frame limit that no error fits into: \(error)")
        }
    }

    /// Notes that the stripe of a post is refreshed after the answers are sent; O(stripes that are due).
    mutating func refreshLater(stripeOf post: PostID) {
        guard !refreshDue.contains(where: { environment.store.shareStripe($0, post) }) else {
            return
        }
        refreshDue.append(post)
    }

    /// Passes the encoded answers to the outbox, which sends them in one write.
    mutating func send(to recipient: Recipient, through outbox: Outbox) {
        guard encoder.byteCount > 0 else { return }
        if !calls.timedEnds.isEmpty {
            let now = environment.context.now.nanoseconds
            for end in calls.timedEnds { encoder.setReleaseTime(now, endingAt: end) }
        }
        // Out of the way, so that the outbox reads them while the bytes are lent.
        var answered = AnsweredCalls()
        swap(&answered, &calls)
        encoder.lendBytes { outbox.send($0, of: answered, to: recipient) }
        if answered.hasSecret { encoder.overwrite() } else { encoder.removeAll() }
        answered.removeAll()
        swap(&answered, &calls)
        // The outbox counts the answers that it holds.
        room.end()
    }

    /// Refreshes one of the due stripes, for about a millisecond; the others wait for later loop
    /// iterations.
    mutating func refreshDueStripe() {
        guard !refreshDue.isEmpty else { return }
        environment.counters.count(.refreshes)
        environment.store.refresh(stripeOf: refreshDue.removeFirst())
    }
}

/// How the posts of a page become an answer, without a `String` or an allocation a post.
extension Answers {
    /// Encodes the posts of a page, whose texts get the feeds' names and the tokens.
    ///
    /// The ballots of a viewer are shown: of a user or a device.
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
                let list = environment.rules.tokens.fields(
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
                    changes: SyncPostsFields(
                        changes,
                        changes.marks.map(environment.rules.changes),
                        environment.context.instanceID
                    ),
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
        let coder = environment.rules.tokens
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
        environment.counters.count(.keptPagesRead)
        environment.counters.set(.keptPageBytes, to: kept.byteCount)
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
        if scope.viewer != nil {
            tokens.removeAll(keepingCapacity: true)
            let coder = environment.rules.tokens
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
                name = append(environment.rules.policy(of: row.feed).name.utf8, to: &page)
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

/// How the budget bounds an answer before it is built.
extension Answers {
    /// Takes room for the answer to a read that asks for posts or feeds, or refuses it: OVERLOADED.
    ///
    /// All other answers are small or belong to changes. They use the room that reads leave free.
    mutating func reserveRoom(for request: Request?) throws(Status) {
        let greatest = min(greatestByteCount(ofAnswerTo: request), encoder.maximumFrameByteCount)
        guard greatest > 0, !room.reserve(greatest) else { return }
        throw .noRoom(limit: environment.context.allReadAnswersByteLimit)
    }

    /// An upper bound of the answer to a read that may be large; 0 for all other calls.
    ///
    /// There is no default, so a new call does not compile before its answer has a bound.
    private func greatestByteCount(ofAnswerTo request: Request?) -> Int {
        let limits = environment.context.limits
        switch request {
        case .getPost:
            return limits.greatestPostByteCount
        case .batchGetPosts(let request):
            return request.ids.count * limits.greatestPostByteCount
        case .listPosts(let request):
            let size =
                request.pageSize == 0 ? limits.calls.defaultPageSize : max(1, Int(request.pageSize))
            return size * limits.greatestPostByteCount + limits.pageTokensByteCount
        case .listFeeds, .syncPosts:
            return encoder.maximumFrameByteCount
        case .getPostRank, .watchPosts, .getServerStats, .getSession,
            .hello, .ping, .cancel, .signUp, .signIn, .signOut,
            .changePassword, .changeEmail, .deleteAccount, .listSessions, .endSession,
            .changeUser, .makePasswordReset, .resetPassword,
            .createPost, .importPosts, .updatePost, .deletePost,
            .castVote, .batchCastVotes, .markPosts, .createFeed,
            .backup, .correctTimes, .deletePosts, .drain, .setLogLevel,
            .clusterStatus, .changeMembers, .transferLeadership, nil:
            return 0
        }
    }
}

extension Status {
    /// There is no room for the answers of reads.
    fileprivate static func noRoom(limit: Int) -> Status {
        Status(
            .overloaded,
            "Answers that clients have not taken, or requests that they have not "
                + "finished, fill the \(limit) bytes that reads may use; this read is refused until "
                + "they are fewer.",
            retryMilliseconds: 1000
        )
    }
}

// The values of votes and of posts on a page as the wire has them. They are of this module, and not of
// FeedCalls: a vote and each post of a page use them, and the compiler inlines no `package` function into
// another module.

extension FeedRanking.VoteDirection {
    /// The direction of a number from the wire; nil for numbers without a meaning.
    init?(_ direction: FeedProto.VoteDirection) {
        switch direction {
        case .up: self = .up
        case .down: self = .down
        case .clear: self = .clear
        default: return nil
        }
    }
}

extension FeedProto.VoteDirection {
    /// A standing ballot; none is unspecified.
    init(_ direction: FeedRanking.VoteDirection?) {
        switch direction {
        case .up: self = .up
        case .down: self = .down
        case .clear, nil: self = .unspecified
        }
    }
}

extension CastVoteResponse {
    init(_ postID: PostID, _ outcome: VoteOutcome) {
        self.init(
            postID: postID,
            score: outcome.score,
            upvoteCount: outcome.upvoteCount,
            downvoteCount: outcome.downvoteCount,
            vote: FeedProto.VoteDirection(outcome.standingVote)
        )
    }
}

extension FeedProto.TextRange {
    init(_ range: FeedRanking.TextRange) {
        self.init(offset: range.offset, byteCount: range.count)
    }
}

extension PostFields {
    /// A row of a page; the feed's name is in the same texts.
    init(_ row: PostRow, feed: FeedProto.TextRange) {
        self.init(id: row.id)
        self.feed = feed
        authorID = UserID(rawValue: row.authorID)
        authorName = FeedProto.TextRange(row.authorName)
        title = FeedProto.TextRange(row.title)
        text = FeedProto.TextRange(row.text)
        linkURL = FeedProto.TextRange(row.linkURL)
        thumbnailURL = FeedProto.TextRange(row.thumbnailURL)
        imageURL = FeedProto.TextRange(row.imageURL)
        score = row.score
        upvoteCount = row.upvoteCount
        downvoteCount = row.downvoteCount
        commentCount = row.commentCount
        createTimeMilliseconds = row.createTimeMilliseconds
        updateTimeMilliseconds = row.updateTimeMilliseconds
        revision = row.revision
        isDeleted = row.isDeleted
    }
}

extension SyncPostsFields {
    /// A page of changes of an instance.
    init(_ page: SyncPage, _ marks: MarkChanges?, _ instanceID: UInt64) {
        self.init(nextRevision: page.position.revision, instanceID: instanceID)
        hasMore = page.hasMore || page.marks?.hasMore == true
        self.marks = marks
        isReset = page.isReset
        copyRevision = page.position.copyRevision
    }
}
