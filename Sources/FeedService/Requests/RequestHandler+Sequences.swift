internal import FeedLog
internal import FeedProto
internal import FeedRanking

/// Executes a call with a sequence once, however often a client sends it.
///
/// The lookup in the channel, the change and the recording of its outcome are one transaction under
/// the channel's lock. Neither another call nor the journal sees one of them without the others.
extension RequestHandler {
    /// Executes a request, or answers with the outcome of its earlier execution.
    mutating func executeOnce(
        _ frame: borrowing ClientFrame,
        _ method: Method,
        _ hashes: RequestHashes,
        from caller: inout Caller
    ) throws(Status) -> Answer {
        guard method.takesSequence else {
            if let signIn = try beginSignIn(frame, from: caller) { return .afterHash(signIn) }
            if try watches.accept(frame, from: caller) { return .events }
            return try dispatch(frame.request, from: &caller)
        }
        let call = Call(
            request: frame.request,
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
                return try dispatch(call.request, from: &caller)
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

    /// A call with its sequence.
    private struct Call {
        let request: Request?
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
            throw .noRoomForCalls(limit: environment.context.limits.maximumChannelByteCount)
        case .answer(let outcome):
            environment.counters.count(.repeatedCalls)
            return try answerAgain(call, outcome, isOfAnother: isOfAnother, &calls, from: &caller)
        case .execute:
            try refuseExcess()
            try environment.admitChange()
            let (answer, outcome) = try dispatchNumbered(call, from: &caller)
            remember(call, outcome, of: caller, &calls)
            return answer
        }
    }

    /// Passes a call with a sequence to its family; returns the outcome to record, too.
    private mutating func dispatchNumbered(
        _ call: Call,
        from caller: inout Caller
    ) throws(Status) -> (Answer, FeedLog.Outcome) {
        switch call.request {
        case .batchCastVotes(let request):
            let (answer, done) = try votes.batchCastVotes(request, from: &caller, &answers)
            return (answer, .items(done))
        case .createPost(let request):
            let post = try posts.createPost(request, from: caller, &answers)
            return (.postsInPage(.one, revision: post.revision), .id(post.id.rawValue))
        case .importPosts(let request):
            let (answer, first) = try administration.importPosts(request, &answers)
            return (answer, .id(first))
        default:
            return (try dispatch(call.request, from: &caller), .done)
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
            return try postNow(id, for: caller)
        case (.updatePost(let request), .done):
            return try postNow(request.post?.id ?? 0, for: caller)
        case (.importPosts(let request), .id(let first)):
            let ids = Array(first..<first + UInt64(request.posts.count))
            return .response(
                .importPosts(ImportPostsResponse(ids: ids)),
                revision: environment.store.revision
            )
        case (.markPosts, .done), (.deletePost, .done):
            return .response(.empty, revision: environment.store.revision)
        case (.createFeed(let request), .done):
            return try environment.feedNow(named: request.feed?.name ?? "")
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
        let (answer, doneNow) = try votes.batchCastVotes(
            request,
            from: &caller,
            except: done,
            refusal: refusal,
            &answers
        )
        if doneNow != done { remember(call, .items(doneNow), of: caller, &calls) }
        return answer
    }

    private mutating func postNow(
        _ id: UInt64,
        for caller: borrowing Caller
    ) throws(Status) -> Answer {
        do throws(Status) {
            return try posts.getPost(GetPostRequest(id: id), from: caller)
        } catch {
            throw .executedOnWhatIsGone(error)
        }
    }
}
