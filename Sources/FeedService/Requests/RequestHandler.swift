internal import FeedLog
internal import FeedProto
internal import FeedRanking

/// Executes the requests of one loop's connections and encodes their answers.
///
/// The handler finds the requests in a connection's bytes (`RequestHandler+Serving`), checks them
/// and executes each once (`RequestHandler+Sequences`). Each family of calls is a type with its own
/// working memory. A call returns its answer, or throws the `Status` that is the answer.
///
/// A vote passes the handler without a heap allocation or a reference count. So the handler is a
/// value that its loop owns, and one access to it serves all requests of a read. Every access to a
/// property of a class would be checked at run time.
struct RequestHandler: ~Copyable {
    /// The end of a request's execution.
    enum Execution {
        /// The answer is encoded.
        case answered
        /// The request has more work than one loop iteration allows: pass it again in a later one.
        case again
        /// The request waits for the work of another one: pass it again in a later loop iteration, which
        /// gets no larger allowance for that.
        case wait
    }

    /// The shared parts of all calls of the loop.
    let environment: CallEnvironment
    let scanner: FrameScanner
    /// Decodes the requests of all connections, one at a time.
    var decoder: MessageDecoder
    /// The encoded answers of the connection being served.
    var answers: Answers
    /// The requests of this loop iteration that are answered when a backup is made.
    var backups: [UInt64] = []
    /// The requests of this loop iteration that are answered when their passwords were hashed.
    var signIns: [SignIn] = []
    /// WatchPosts and Cancel, and the lists that are watched.
    var watches: WatchCalls
    /// Builds the events of watches.
    var watchEvents: WatchEvents
    /// Whether the bytes that are served, or were served last, may have a secret.
    var hasReadSecret = false
    /// Whether a request of this loop iteration was refused and told to wait for the longest time.
    var hasLongestWait = false
    /// Why the request that is handled is over the limits of its caller's identity; nil where it is not.
    var excess: RequestExcess?

    /// Hello and Ping, and the channels that numbered calls open.
    let connections: ConnectionCalls
    /// The calls about accounts and sessions.
    let accounts: AccountCalls
    /// The calls about posts and pages of posts.
    var posts: PostCalls
    /// CastVote and BatchCastVotes.
    var votes: VoteCalls
    /// The first votes of the reads that are served next.
    var announcedVotes = AnnouncedVotes()
    /// The calls of services and operators.
    var administration: AdministrationCalls

    /// The handler of a loop.
    init(_ environment: CallEnvironment) {
        self.environment = environment
        let frameLimit = environment.context.limits.maximumFrameByteCount
        scanner = FrameScanner(maximumFrameByteCount: frameLimit)
        decoder = MessageDecoder(maximumFrameByteCount: frameLimit)
        answers = Answers(environment)
        connections = ConnectionCalls(environment: environment)
        accounts = AccountCalls(environment: environment)
        posts = PostCalls(environment)
        votes = VoteCalls(environment)
        administration = AdministrationCalls(environment)
        watches = WatchCalls(environment)
        watchEvents = WatchEvents(environment)
    }

    /// Executes one request and encodes its answer.
    ///
    /// - Parameters:
    ///   - frame: The request.
    ///   - hashes: The hashes by which its channel knows it again.
    ///   - caller: The caller; Hello changes it.
    ///   - waited: How long the request has waited for its loop iteration; nil is not at all.
    /// - Returns: Whether it was answered or must be passed again.
    mutating func handle(
        _ frame: borrowing ClientFrame,
        hashes: RequestHashes,
        from caller: inout Caller,
        waited: Duration?
    ) -> Execution {
        let method = Method(frame.request)
        let start = answers.byteCount
        // The start of the iteration may lie before the client has sent the request.
        let received = frame.isTimed ? environment.context.now : nil
        caller.act(forUser: frame.actingUserID)
        defer { answers.room.shrink(to: answers.byteCount) }
        do throws(Status) {
            if !frame.mayBeRepeat(method) {
                if excess != nil { try refuseExcess() }
                try environment.requireNoStall(method)
            }
            try environment.requireLoginNotOver(of: caller, for: method)
            try environment.checkAccess(of: caller, to: method)
            try environment.checkEnvelope(of: frame, method, from: caller, waited: waited)
            try answers.reserveRoom(for: frame.request)
            posts.minimumRevision = frame.minimumRevision
            switch try executeOnce(frame, method, hashes, from: &caller) {
            case .vote(let response, let revision):
                caller.noteChange(revision)
                answers.append(response, id: frame.id, revision: revision)
            case .response(let response, let revision):
                if method.isChange { caller.noteChange(revision) }
                let isAhead = method.isAnsweredInStall && environment.context.stalls.isCommitStalled
                answers.append(
                    ServerFrame(id: frame.id, revision: isAhead ? 0 : revision, response: response)
                )
                if isAhead { answers.calls.sendAhead(start..<answers.byteCount) }
            case .postsInPage(let form, let revision):
                if method.isChange { caller.noteChange(revision) }
                answers.append(
                    form,
                    of: &posts.page,
                    id: frame.id,
                    revision: revision,
                    viewer: caller.voterKey != nil
                )
            case .keptPage(let place, let scope, let revision):
                answers.append(keptPage: place, in: scope, id: frame.id, revision: revision)
            case .again: return .again
            case .wait: return .wait
            case .events:
                environment.counters.countRequests(method)
                return .answered
            case .afterBackup:
                environment.counters.countRequests(method)
                backups.append(frame.id)
                return .answered
            case .afterHash(let signIn):
                environment.counters.countRequests(method)
                signIns.append(signIn)
                return .answered
            }
        } catch {
            if let excess, error.reason == .rateLimited { noteWait(excess.retryTime) }
            answers.refuse(frame.id, method, error)
            environment.log.refused(method, error.reason.rawValue, from: caller.host)
        }
        if let received { answers.addTimes(toFrameAt: start, receivedAt: received) }
        answers.countCalls(method, firstID: frame.id)
        return .answered
    }

    /// Passes a request to its family of calls; a change within a transaction.
    mutating func dispatch(
        _ request: Request?,
        from caller: inout Caller
    ) throws(Status) -> Answer {
        switch request {
        case .castVote(let request):
            try votes.castVote(request, from: &caller, &answers)
        case .batchCastVotes(let request):
            try votes.batchCastVotes(request, from: &caller, &answers).answer
        case .listPosts(let request): try posts.listPosts(request, from: caller, &answers)
        case .getPost(let request): try posts.getPost(request, from: caller)
        case .batchGetPosts(let request): try posts.batchGetPosts(request, from: caller)
        case .getPostRank(let request): try posts.getPostRank(request)
        case .createPost(let request):
            .postsInPage(
                .one,
                revision: try posts.createPost(request, from: caller, &answers).revision
            )
        case .updatePost(let request): try posts.updatePost(request, from: caller, &answers)
        case .deletePost(let request): try posts.deletePost(request, from: caller)
        case .importPosts(let request):
            try administration.importPosts(request, &answers).answer
        case .markPosts(let request): try posts.markPosts(request, from: &caller)
        case .listFeeds: posts.listFeeds(for: caller)
        case .createFeed(let request): try administration.createFeed(request)
        case .getServerStats: administration.serverStats(for: caller.role)
        case .backup: try administration.backup()
        case .correctTimes(let request):
            try administration.correctTimes(request, &answers)
        case .deletePosts(let request): try administration.deletePosts(request)
        case .drain: administration.drain()
        case .setLogLevel(let request): try administration.setLogLevel(request)
        case .hello(let request): try connections.hello(request, from: &caller)
        case .ping(let request): try connections.ping(request)
        case .getSession: try accounts.getSession(from: &caller)
        case .signOut(let request): try accounts.signOut(request, from: &caller)
        // Their answers come later: `executeOnce` passes them to `AccountCalls` with their envelope.
        case .signUp, .signIn: preconditionFailure("A sign-in is not dispatched.")
        case .syncPosts(let request): try posts.syncPosts(request, from: caller)
        case .watchPosts, .cancel: preconditionFailure("A watch is not dispatched.")
        case nil: throw .unknownMethod
        }
    }
}
