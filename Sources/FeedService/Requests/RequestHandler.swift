internal import FeedLog
internal import FeedProto
internal import FeedRanking

/// Executes the requests of one loop's connections and encodes their answers.
///
/// Answers gather in `encoder`, in the order of the requests, until the connection that asked
/// takes them out. A vote passes through here without a heap allocation or a reference count:
/// that is why this is a value that its loop owns, entered once for all requests that were read
/// together, and not a class, whose every property would be checked at every access.
///
/// `RequestHandler+Serving` finds the requests in a connection's bytes. Each family of calls is an
/// extension in a file of its own; they return the answer, or throw the `Status` to answer
/// instead.
struct RequestHandler: ~Copyable {
    /// What became of a request.
    enum Outcome {
        /// Its answer is in the encoder.
        case answered
        /// It needs more refreshing than fits into a turn: hand it in again in the next one.
        case needsAnotherTurn
    }

    /// What a call answers with.
    enum Answer {
        /// The counts after a vote, the one answer that is worth a way of its own.
        case vote(CastVoteResponse, revision: UInt64)
        /// A message, and the revision of the state it reflects.
        case response(Response, revision: UInt64)
        /// The posts gathered in `page`, in one of the messages that hold posts.
        case posts(PostsAnswer, revision: UInt64)
        /// Nothing yet: it needs more refreshing than fits into a turn.
        case later
        /// Nothing in this turn: a backup is made first.
        case afterBackup
    }

    let store: FeedStore
    /// Takes the log entries of the loop; every change is in a transaction of it.
    let changeLog: ChangeLog
    let context: ServiceContext
    let counters: LoopCounters
    let log: ServiceLog
    let rules: TextRules
    let scanner: FrameScanner
    var faultyVotes: FaultyVotes?

    /// Decodes the requests of all connections, one at a time.
    var decoder: MessageDecoder
    /// The votes that are executed next.
    var votes = VoteRun()
    /// The batch of votes that is executed now.
    var batch = VoteBatch()
    /// The votes of the batch as the store casts them.
    var batchedVotes = BatchedVotes()
    /// What became of the batch's votes, as the encoder takes it.
    var batchResults = VoteBatchResults()
    /// The encoded answers of the connection being served.
    var encoder: FrameEncoder
    /// What the encoded answers take of the budget.
    var room: AnswerRoom
    /// The posts of the answer being made; reused, so that pages allocate nothing once warm.
    var page = PostPage()
    /// The posts of `page` as the encoder takes them.
    var fields: [PostFields] = []
    /// The refresh budget that reads have left in this turn.
    var refreshBudget = RefreshBudget()
    /// The texts of imports that may still be walked in this turn.
    var textWalk: TextWalk
    /// The requests of this turn that are answered once a backup is made.
    var backups: [UInt64] = []
    /// One post of each stripe whose refresh is due once the answers have left.
    private(set) var refreshDue: [PostID] = []

    init(
        store: FeedStore,
        changeLog: ChangeLog = .none,
        context: ServiceContext,
        counters: LoopCounters,
        log: ServiceLog
    ) {
        self.store = store
        self.changeLog = changeLog
        self.context = context
        self.counters = counters
        self.log = log
        room = AnswerRoom(context.budget)
        rules = TextRules(limits: context.limits)
        textWalk = TextWalk(byteLimit: context.limits.walkedTextByteCount)
        faultyVotes = context.fault.flatMap(FaultyVotes.init)
        let frameLimit = context.limits.maximumFrameByteCount
        scanner = FrameScanner(maximumFrameByteCount: frameLimit)
        decoder = MessageDecoder(maximumFrameByteCount: frameLimit)
        encoder = FrameEncoder(maximumFrameByteCount: frameLimit)
    }

    /// Executes one request and encodes its answer.
    ///
    /// - Parameters:
    ///   - frame: The request.
    ///   - requestHash: What tells the request from others, where it has a sequence.
    ///   - writtenHash: What version 0.1 recorded for the request; nil is the same.
    ///   - caller: Who asks; Hello changes it.
    ///   - waited: How long the request has waited for its turn since it arrived; nil is not at all.
    /// - Returns: Whether it was answered, or is to be handed in again.
    mutating func handle(
        _ frame: borrowing ClientFrame,
        requestHash: UInt32,
        writtenHash: UInt32? = nil,
        from caller: inout Caller,
        waited: Duration?
    ) -> Outcome {
        let method = Method(frame.request)
        defer { room.settle(encoder.byteCount) }
        do throws(Status) {
            try admit(frame, method, waited)
            try reserveRoom(for: frame.request)
            let hashes = (requestHash, writtenHash ?? requestHash)
            switch try execute(frame, method, hashes, from: &caller) {
            case .vote(let response, let revision):
                append(response, id: frame.id, revision: revision)
            case .response(let response, let revision):
                append(ServerFrame(id: frame.id, revision: revision, response: response))
            case .posts(let kind, let revision):
                append(
                    kind,
                    id: frame.id,
                    revision: revision,
                    viewer: caller.device != nil
                )
            case .later:
                return .needsAnotherTurn
            case .afterBackup:
                backups.append(frame.id)
            }
        } catch {
            counters.countError(method, error.reason.rawValue)
            append(ServerFrame(id: frame.id, revision: store.revision, status: error))
        }
        counters.countRequest(method)
        return .answered
    }

    /// Refreshes one of the due stripes, for a millisecond or so; the other stripes wait for later
    /// turns.
    mutating func refreshDueStripes() {
        guard !refreshDue.isEmpty else { return }
        store.refresh(stripeOf: refreshDue.removeFirst())
    }

    /// Notes that the refresh of a post's stripe is due once the answers of this turn have left.
    ///
    /// O(stripes that are due), which are few.
    mutating func refreshLater(stripeOf post: PostID) {
        guard !refreshDue.contains(where: { store.shareStripe($0, post) }) else { return }
        refreshDue.append(post)
    }

    /// Refuses what need not be looked at any more, before anything is looked up.
    private func admit(
        _ frame: borrowing ClientFrame,
        _ method: Method,
        _ waited: Duration?
    ) throws(Status) {
        if let waited {
            let timeout = context.timeout(milliseconds: frame.timeoutMilliseconds)
            guard waited <= timeout else { throw .deadlineExceeded(waited: waited, timeout) }
        }
        if frame.minimumRevision != 0 {
            let revision = store.revision
            guard frame.minimumRevision <= revision else {
                throw .stateIsOlder(wanted: frame.minimumRevision, revision: revision)
            }
        }
        guard frame.sequence == 0 || method.changesState || method == .unknown else {
            throw .sequenceOfRead
        }
    }

    /// Refuses a change while none is taken; one that was made before is answered all the same.
    func admitChange() throws(Status) {
        guard let refusal = context.refusalOfChanges else { return }
        context.countRefusal()
        throw refusal
    }

    /// Executes a request with any sequence or none; a change within a transaction.
    mutating func answer(
        _ request: Request?,
        id: UInt64,
        from caller: inout Caller
    ) throws(Status) -> Answer {
        switch request {
        case .castVote(let request): try castVote(request, from: &caller, id: id)
        case .batchCastVotes(let request):
            try batchCastVotes(request, from: &caller).answer
        case .listPosts(let request): try listPosts(request, from: caller)
        case .getPost(let request): try getPost(request, from: caller)
        case .batchGetPosts(let request): try batchGetPosts(request, from: caller)
        case .getPostRank(let request): try getPostRank(request)
        case .createPost(let request): try createPost(request)
        case .importPosts(let request): try importPosts(request, from: caller)
        case .updatePost(let request): try updatePost(request, from: caller)
        case .deletePost(let request): try deletePost(request)
        case .listFeeds: listFeeds()
        case .createFeed(let request): try createFeed(request, from: caller)
        case .getServerStats: serverStats()
        case .backup: try backup(from: caller)
        case .correctTimes(let request): try correctTimes(request, from: caller)
        case .hello(let request): try hello(request, from: &caller)
        case .ping(let request): try ping(request)
        case nil: throw .unknownMethod
        }
    }

    /// Encodes the answer to a vote.
    mutating func append(_ vote: CastVoteResponse, id: UInt64, revision: UInt64) {
        do throws(FrameError) {
            try encoder.append(vote: vote, id: id, revision: revision)
        } catch {
            appendTooLarge(id: id, error)
        }
    }

    /// Encodes an answer; one over the frame limit becomes an error, so that every request has
    /// exactly one answer.
    mutating func append(_ frame: borrowing ServerFrame) {
        do throws(FrameError) {
            try encoder.append(frame)
        } catch {
            appendTooLarge(id: frame.id, error)
        }
    }
}
