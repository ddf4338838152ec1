internal import FeedAccounts
internal import FeedConcurrency
internal import FeedLog
internal import FeedProto
internal import FeedRanking

/// Executes the requests of one loop's connections and encodes their answers.
///
/// The handler finds the requests in a connection's bytes (`RequestServing.swift`), checks them and
/// executes each once. Each family of calls is a type with its own working memory. A call returns its
/// answer, or throws the `Status` that is the answer.
///
/// A vote passes the handler without a heap allocation or a reference count. So the handler is a
/// value that its loop owns, and one access to it serves all requests of a read. Every access to a
/// property of a class would be checked at run time.
struct RequestHandler: ~Copyable {
    /// The end of a request's execution.
    enum Execution {
        case answered
        /// The request has more work than one loop iteration allows: pass it again in a later one.
        case again
        /// The request waits for the work of another one: pass it again in a later loop iteration, which
        /// gets no larger allowance for that.
        case wait
        /// The request asks for a revision that a follower has not reached; it may wait for it.
        case behind
    }

    let environment: CallEnvironment
    let scanner: FrameScanner
    /// Decodes the requests of all connections, one at a time.
    var decoder: MessageDecoder
    var answers: Answers
    /// The requests of this loop iteration that are answered later.
    var laterCalls: [LaterCall] = []
    /// What may wait for a revision beside what does.
    var readRoom: PostponedReadRoom
    /// Whether the request that is handled may wait for its revision.
    var mayBePostponed = false
    /// WatchPosts and Cancel, and the lists that are watched.
    var watches: WatchCalls
    var watchEvents: WatchEvents
    /// Whether the bytes that are served, or were served last, may have a secret.
    var hasReadSecret = false
    /// Whether a request of this loop iteration was refused and told to wait for the longest time.
    var hasLongestWait = false
    /// Why the request that is handled is over the limits of its caller's identity; nil where it is not.
    var excess: RequestExcess?

    let connections: ConnectionCalls
    let accounts: AccountCalls
    var posts: PostCalls
    var votes: VoteCalls
    /// The first votes of the reads that are served next.
    var announcedVotes = AnnouncedVotes()
    var administration: AdministrationCalls
    let cluster: ClusterCalls

    init(_ environment: CallEnvironment) {
        self.environment = environment
        let frameLimit = environment.context.limits.maximumFrameByteCount
        scanner = FrameScanner(maximumFrameByteCount: frameLimit)
        decoder = MessageDecoder(maximumFrameByteCount: frameLimit)
        readRoom = PostponedReadRoom(environment.context.limits)
        answers = Answers(environment)
        connections = ConnectionCalls(environment: environment)
        accounts = AccountCalls(environment: environment)
        posts = PostCalls(environment)
        votes = VoteCalls(environment)
        administration = AdministrationCalls(environment)
        cluster = ClusterCalls(environment: environment)
        watches = WatchCalls(environment)
        watchEvents = WatchEvents(environment)
    }

    /// Executes one request, which has waited so long for its loop iteration, and encodes its answer.
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
            try environment.checkLeadership(for: method, of: caller)
            try environment.checkEnvelope(of: frame, method, from: caller, waited: waited)
            try answers.reserveRoom(for: frame.request)
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
                answers.forgetToken(of: response)
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
            case .later(let call):
                environment.counters.countRequests(method)
                laterCalls.append(call)
                return .answered
            }
        } catch {
            if mayBePostponed, method.showsState, error.reason == .notCaughtUp { return .behind }
            if let excess, error.reason == .rateLimited,
                excess.retryTime >= RateBucket.longestRetryTime
            {
                hasLongestWait = true
            }
            answers.refuse(frame.id, method, error, from: caller)
        }
        if let received { answers.addTimes(toFrameAt: start, receivedAt: received) }
        answers.countCalls(method, firstID: frame.id)
        return .answered
    }

    /// Passes a request to its family of calls; returns the outcome that a channel remembers, too.
    private mutating func dispatch(
        _ request: Request?,
        _ envelope: Envelope,
        from caller: inout Caller
    ) throws(Status) -> (Answer, FeedLog.Outcome) {
        let answer: Answer
        switch request {
        case .batchCastVotes(let request):
            return try votes.batchCastVotes(request, from: &caller, &answers)
        case .createPost(let request):
            return try posts.createPost(request, from: caller, &answers)
        case .importPosts(let request):
            return try administration.importPosts(request, &answers)
        case .castVote(let request):
            answer = try votes.castVote(request, from: &caller, &answers)
        case .listPosts(let request):
            answer = try posts.listPosts(
                request,
                minimumRevision: envelope.minimumRevision,
                from: caller,
                &answers
            )
        case .getPost(let request): answer = try posts.getPost(request, from: caller)
        case .batchGetPosts(let request): answer = try posts.batchGetPosts(request, from: caller)
        case .getPostRank(let request): answer = try posts.getPostRank(request)
        case .updatePost(let request):
            answer = try posts.updatePost(request, from: caller, &answers)
        case .deletePost(let request): answer = try posts.deletePost(request, from: caller)
        case .markPosts(let request): answer = try posts.markPosts(request, from: &caller)
        case .syncPosts(let request): answer = try posts.syncPosts(request, from: caller)
        case .listFeeds: answer = posts.listFeeds(for: caller)
        case .createFeed(let request): answer = try administration.createFeed(request)
        case .getServerStats: answer = administration.serverStats(for: caller.role)
        case .backup:
            try administration.admitBackup()
            answer = .later(.backup(envelope.id))
        case .correctTimes(let request):
            answer = try administration.correctTimes(request, &answers)
        case .deletePosts(let request): answer = try administration.deletePosts(request)
        case .drain: answer = administration.drain()
        case .setLogLevel(let request): answer = try administration.setLogLevel(request)
        case .clusterStatus(let request): answer = try cluster.status(request, id: envelope.id)
        case .changeMembers(let request): answer = try cluster.change(request, id: envelope.id)
        case .transferLeadership(let request):
            answer = try cluster.transfer(request, id: envelope.id)
        case .hello(let request): answer = try connections.hello(request, from: &caller)
        case .ping(let request): answer = try connections.ping(request)
        case .getSession: answer = try accounts.getSession(from: &caller)
        case .signOut(let request): answer = try accounts.signOut(request, from: &caller)
        case .signUp(let request): answer = try accounts.signUp(request, envelope, from: caller)
        case .signIn(let request): answer = try accounts.signIn(request, envelope, from: caller)
        case .changePassword(let request):
            answer = try accounts.changePassword(request, envelope, from: caller)
        case .changeEmail(let request):
            answer = try accounts.changeEmail(request, envelope, from: caller)
        case .deleteAccount(let request):
            answer = try accounts.deleteAccount(request, envelope, from: caller)
        case .resetPassword(let request):
            answer = try accounts.resetPassword(request, envelope, from: caller)
        case .listSessions: answer = try accounts.listSessions(from: caller)
        case .endSession(let request): answer = try accounts.endSession(request, from: &caller)
        case .changeUser(let request): answer = try accounts.changeUser(request)
        case .makePasswordReset(let request): answer = try accounts.makePasswordReset(request)
        case .watchPosts(let request):
            try watches.watch(request, envelope, from: caller)
            answer = .events
        case .cancel(let request):
            watches.actions.append(.cancel(request.id))
            answer = .events
        case nil: throw .unknownMethod
        }
        return (answer, .done)
    }
}

extension ClientFrame {
    /// Whether the request may be the repeat of one that was executed.
    fileprivate borrowing func mayBeRepeat(_ method: Method) -> Bool {
        sequence != 0 && method.takesSequence
    }
}

/// Executes a call with a sequence once, however often a client sends it.
///
/// The lookup in the channel, the change and the recording of its outcome are one transaction under
/// the channel's lock. Neither another call nor the journal sees one of them without the others.
extension RequestHandler {
    /// Executes a request, or answers with the outcome of its earlier execution.
    private mutating func executeOnce(
        _ frame: borrowing ClientFrame,
        _ method: Method,
        _ hashes: RequestHashes,
        from caller: inout Caller
    ) throws(Status) -> Answer {
        let envelope = Envelope(
            id: frame.id,
            method: method,
            timeoutMilliseconds: frame.timeoutMilliseconds,
            minimumRevision: frame.minimumRevision
        )
        guard method.takesSequence else {
            return try dispatch(frame.request, envelope, from: &caller).0
        }
        let call = Call(
            request: frame.request,
            envelope: envelope,
            sequence: frame.sequence,
            hashes: hashes
        )
        if case .importPosts(let request) = frame.request,
            !administration.checkTexts(of: request)
        {
            return .again
        }
        if case .markPosts(let request) = frame.request,
            !(try posts.prepareMarkPosts(request, from: caller))
        {
            return .again
        }
        // A change that stamps a time checks the clock first, so that it notices a jump at once.
        if method.stampsTime { environment.context.clock.check() }
        let answer = try environment.changeLog.transaction { () throws(Status) -> Answer in
            guard call.sequence != 0 else {
                try environment.admitChange()
                return try dispatch(call.request, call.envelope, from: &caller).0
            }
            let held = caller.channel
            let channel =
                if let held { held } else { try connections.openMissedChannel(of: &caller) }
            return try channel.withCalls { (calls) throws(Status) -> Answer in
                try executeNumbered(call, epoch: channel.epoch, &calls, from: &caller)
            }
        }
        if case .markPosts(let request) = frame.request {
            return try posts.unreadCount(after: request, from: caller)
        }
        return answer
    }

    private struct Call {
        let request: Request?
        let envelope: Envelope
        let sequence: UInt64
        let hashes: RequestHashes

        /// Whether the items that it executes are recorded.
        var isBatch: Bool {
            if case .batchCastVotes = request { true } else { false }
        }

        /// The hash to record with an outcome of a caller.
        func hash(with outcome: FeedLog.Outcome, of caller: borrowing Caller) -> UInt32 {
            guard case .batchCastVotes(let batch) = request, case .items(let done) = outcome,
                done != ItemMask(firstItems: batch.votes.count)
            else { return hashes.content }
            return caller.hash(ofPartOf: hashes.content)
        }
    }

    /// Executes a call with a sequence unless the channel remembers its outcome.
    private mutating func executeNumbered(
        _ call: Call,
        epoch: UInt64,
        _ calls: inout RecentCalls,
        from caller: inout Caller
    ) throws(Status) -> Answer {
        var decision = calls.decision(
            sequence: call.sequence,
            hash: call.hashes.content,
            epoch: epoch,
            recordsItems: call.isBatch
        )
        if case .reused = decision, call.hashes.version01 != call.hashes.content {
            // Version 0.1 may have recorded it, by its bytes.
            decision = calls.decision(
                sequence: call.sequence,
                hash: call.hashes.version01,
                epoch: epoch
            )
        }
        let partHash = caller.hash(ofPartOf: call.hashes.content)
        var isOfAnother = partHash != call.hashes.content
        if case .reused = decision, isOfAnother, call.isBatch {
            decision = calls.decision(sequence: call.sequence, hash: partHash, epoch: epoch)
            isOfAnother = false
        }
        switch decision {
        case .fenced: throw .channelFenced
        case .reused: throw .sequenceReused(call.sequence)
        case .expired: throw .sequenceExpired(call.sequence, highest: calls.highest)
        case .noRoom:
            throw .noRoomForCalls(limit: environment.context.limits.channels.byteCount)
        case .answer(let outcome):
            environment.counters.count(.repeatedCalls)
            return try answerAgain(call, outcome, isOfAnother: isOfAnother, &calls, from: &caller)
        case .execute:
            try refuseExcess()
            try environment.admitChange()
            let (answer, outcome) = try dispatch(call.request, call.envelope, from: &caller)
            remember(call, outcome, of: caller, &calls)
            return answer
        }
    }

    private mutating func remember(
        _ call: Call,
        _ outcome: FeedLog.Outcome,
        of caller: borrowing Caller,
        _ calls: inout RecentCalls
    ) {
        let hash = call.hash(with: outcome, of: caller)
        environment.changeLog.append(
            calls.record(sequence: call.sequence, hash: hash, outcome)
        )
    }

    /// The answer to a call that an earlier request has executed, with the state of now.
    ///
    /// Of a batch that another caller has sent first nothing more is counted.
    private mutating func answerAgain(
        _ call: Call,
        _ outcome: FeedLog.Outcome,
        isOfAnother: Bool,
        _ calls: inout RecentCalls,
        from caller: inout Caller
    ) throws(Status) -> Answer {
        switch (call.request, outcome) {
        case (.castVote(let vote), .done):
            let (counts, revision) = try votes.countsNow(of: vote.postID, for: caller)
            return .vote(counts, revision: revision)
        case (.batchCastVotes(let request), .items(let done)):
            return try resume(
                call,
                request,
                done: done,
                refusal: isOfAnother ? .batchOfAnother(call.sequence) : nil,
                &calls,
                from: &caller
            )
        case (.createPost, .id(let id)):
            return try postNow(PostID(rawValue: id), for: caller)
        case (.updatePost(let request), .done):
            return try postNow(request.post?.id ?? 0, for: caller)
        case (.importPosts(let request), .id(let first)):
            let count = request.posts.count
            return administration.answer(toImportOf: count, from: first, environment.store.revision)
        case (.markPosts, .done), (.deletePost, .done):
            return .response(.empty, revision: environment.store.revision)
        case (.createFeed(let request), .done):
            return try administration.feedNow(named: request.feed?.name ?? "")
        default:
            // Another kind of call with the same hash.
            throw .sequenceReused(call.sequence)
        }
    }

    /// Counts the votes of a batch that the earlier request has not counted.
    private mutating func resume(
        _ call: Call,
        _ request: BatchCastVotesRequest,
        done: ItemMask,
        refusal: Status?,
        _ calls: inout RecentCalls,
        from caller: inout Caller
    ) throws(Status) -> Answer {
        var refusal = refusal
        do throws(Status) {
            try refuseExcess()
            try environment.admitChange()
        } catch {
            refusal = refusal ?? error
        }
        let (answer, outcome) = try votes.batchCastVotes(
            request,
            from: &caller,
            except: done,
            refusal: refusal,
            &answers
        )
        if outcome != .items(done) { remember(call, outcome, of: caller, &calls) }
        return answer
    }

    private mutating func postNow(
        _ id: PostID,
        for caller: borrowing Caller
    ) throws(Status) -> Answer {
        do throws(Status) {
            return try posts.getPost(GetPostRequest(id: id), from: caller)
        } catch {
            throw .executedOnWhatIsGone(error)
        }
    }
}

/// The hashes by which a channel knows a request again.
struct RequestHashes {
    /// The hash of the content, which is recorded where the request has a sequence.
    let content: UInt32
    /// The hash of the bytes, which version 0.1 recorded; the same where the bytes have one form.
    let version01: UInt32

    /// The hashes of a request; without a second one both are the same.
    init(content: UInt32, version01: UInt32? = nil) {
        self.content = content
        self.version01 = version01 ?? content
    }
}

/// A request over the limits of its caller's identity: which limit, and when to come back.
struct RequestExcess {
    /// Whether it is a vote, or has some; else it is another call.
    let isOfVotes: Bool
    let retryTime: Duration
}

/// The limits of identities, which count requests before they are executed.
///
/// A request with a sequence may be the repeat of one that was executed. So it is refused only once its
/// channel has said that it was not: a repeat is answered as ever, and has taken its token all the same.
extension RequestHandler {
    /// Counts a decoded request for its caller's identity once; returns why it is over the limits, if it is.
    func charge(
        _ frame: borrowing ClientFrame,
        of session: inout Session,
        at now: MonotonicInstant
    ) -> RequestExcess? {
        guard let allowance = session.caller.allowance, session.chargedID != frame.id else {
            return nil
        }
        switch frame.request {
        case .castVote:
            guard allowance.votes.take(upTo: 1, at: now) == 1 else {
                return RequestExcess(isOfVotes: true, retryTime: allowance.votes.retryTime(at: now))
            }
        case .batchCastVotes(let batch):
            guard allowance.votes.takeWhole(batch.votes.count, at: now) else {
                return RequestExcess(isOfVotes: true, retryTime: allowance.votes.retryTime(at: now))
            }
        case .cancel:
            // It has no answer, and lessens the work.
            break
        default:
            guard allowance.calls.take(upTo: 1, at: now) == 1 else {
                return RequestExcess(
                    isOfVotes: false,
                    retryTime: allowance.calls.retryTime(at: now)
                )
            }
        }
        session.chargedID = frame.id
        return nil
    }

    /// Refuses the request that is handled if it is over a limit.
    private func refuseExcess() throws(Status) {
        guard let excess else { return }
        let limits = environment.context.limits.identities
        throw .rateLimited(
            excess.isOfVotes ? "votes" : "calls",
            perSecond: excess.isOfVotes ? limits.votesPerSecond : limits.callsPerSecond,
            retryAfter: excess.retryTime
        )
    }
}

/// The answers to calls with a password, which come when it was hashed.
extension RequestHandler {
    /// Ends a call and encodes its answer; the caller becomes the user if a session has begun.
    ///
    /// Returns the call if another hash is needed before its end.
    mutating func finishSignIn(
        _ signIn: SignIn,
        _ outcome: PasswordJob.Outcome,
        for caller: inout Caller,
        arrival: MonotonicInstant
    ) -> SignIn? {
        answers.calls.begin(at: arrival)
        do throws(Status) {
            switch try accounts.finish(signIn, outcome) {
            case .hash(let rest): return rest
            case .session(let session, let login):
                caller.login = login
                answers.append(session, id: signIn.requestID)
            case .done: appendEmpty(signIn.requestID)
            case .deleted(let user):
                if caller.login.session?.userID == user { caller.login = .none }
                appendEmpty(signIn.requestID)
            }
        } catch {
            answers.refuse(signIn.requestID, signIn.method, error, from: caller)
        }
        answers.calls.add(signIn.method, 1, firstID: signIn.requestID)
        return nil
    }

    private mutating func appendEmpty(_ id: UInt64) {
        let revision = environment.store.revision
        answers.append(ServerFrame(id: id, revision: revision, response: .empty))
    }

    /// Ends a call whose connection has closed: nothing is created.
    func dropSignIn(_ signIn: SignIn, _ outcome: PasswordJob.Outcome) {
        if case .differs = outcome { return }
        environment.context.signInLimits.withdraw(signIn.attempt)
    }
}
