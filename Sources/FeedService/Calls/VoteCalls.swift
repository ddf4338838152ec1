internal import FeedCalls
internal import FeedConcurrency
internal import FeedLog
internal import FeedProto
internal import FeedRanking

/// CastVote and BatchCastVotes.
///
/// Most votes are found and cast without a message decoder, in runs and batches. All other votes are
/// decoded, as other calls are. Single votes of both paths are cast by ``castAnyMode(_:from:_:)``.
struct VoteCalls: ~Copyable {
    let environment: CallEnvironment
    var moment = VoteMoment()
    /// The votes that are executed next.
    var run = VoteRun()
    /// How many of them the limits of the caller's identity admit.
    var admittedCount = 0
    /// The voters of the run's votes that a service casts for users; nil for new ones.
    private var runVoters = [VoterID?](repeating: nil, count: VoteRun.capacity)
    /// The batch of votes that is executed now.
    var batch = VoteBatch()
    /// The votes of the batch as the store casts them.
    var batchedVotes = BatchedVotes()
    /// The results of the batch as the encoder takes them.
    private var batchResults = VoteBatchResults()
    /// The post whose counts answer a repeated vote; the memory is reused.
    var page = PostPage()

    init(_ environment: CallEnvironment) {
        self.environment = environment
    }

    /// Counts one vote and answers with the post's counts.
    mutating func castVote(
        _ request: CastVoteRequest,
        from caller: inout Caller,
        _ answers: inout Answers
    ) throws(Status) -> Answer {
        let outcome = try castAnyMode(request, from: &caller, &answers)
        return .vote(CastVoteResponse(request.postID, outcome), revision: outcome.revision)
    }

    /// Counts votes in order; each succeeds or fails on its own.
    ///
    /// An earlier call has counted those that are done, and none of the others may be counted where there
    /// is a refusal; one of the whole batch is thrown. The outcome is all votes that are counted now.
    mutating func batchCastVotes(
        _ request: BatchCastVotesRequest,
        from caller: inout Caller,
        except done: ItemMask = ItemMask(),
        refusal: Status? = nil,
        _ answers: inout Answers
    ) throws(Status) -> (Answer, FeedLog.Outcome) {
        let limit = environment.rules.limits.maximumBatchVoteCount
        try environment.rules.checkBatch(request.votes.count, field: "votes", limit: limit)
        var results: [CastVoteResult] = []
        results.reserveCapacity(request.votes.count)
        var done = done
        for (item, vote) in request.votes.enumerated() {
            do throws(Status) {
                let counts: CastVoteResponse
                if done[item] {
                    counts = try countsNow(of: vote.postID, for: caller).counts
                } else {
                    if let refusal { throw refusal }
                    let outcome = try castAnyMode(vote, from: &caller, &answers)
                    counts = CastVoteResponse(vote.postID, outcome)
                    done[item] = true
                }
                results.append(CastVoteResult(status: nil, vote: counts))
            } catch {
                results.append(CastVoteResult(status: error, vote: nil))
            }
        }
        environment.counters.count(.batchedVotes, request.votes.count)
        let answer = Answer.response(
            .batchCastVotes(BatchCastVotesResponse(results: results)),
            revision: environment.store.revision
        )
        return (answer, .items(done))
    }

    /// The counts of a post and the caller's ballot, for a vote that an earlier call has counted.
    mutating func countsNow(
        of id: PostID,
        for caller: borrowing Caller
    ) throws(Status) -> (counts: CastVoteResponse, revision: UInt64) {
        let row: PostRow
        do throws(RankingError) {
            row = try readPost(id, voter: environment.voter(of: caller))
        } catch {
            throw .executedOnWhatIsGone(Status(error))
        }
        let counts = CastVoteResponse(
            postID: id,
            score: row.score,
            upvoteCount: row.upvoteCount,
            downvoteCount: row.downvoteCount,
            vote: FeedProto.VoteDirection(row.viewerVote)
        )
        return (counts, row.revision)
    }

    private mutating func readPost(_ id: PostID, voter: VoterID?) throws(RankingError) -> PostRow {
        page.removeAll()
        try environment.store.post(id, voter: voter, into: &page)
        return page.rows[0]
    }
}

/// The fast path of a batch of votes: the batch is read without a message decoder, its posts are
/// requested before the first vote is cast, and its answer is written without a message.
///
/// An unusual batch takes the path of all calls through `RequestHandler.handle`, which gives the
/// same answers.
extension VoteCalls {
    /// Executes a frame's body if it is a batch without anything unusual; false where no vote was cast.
    ///
    /// The acting user may be set then, which the path of all calls sets again, and votes be charged.
    mutating func castBatch(
        _ body: RawSpan,
        of session: inout Session,
        _ answers: inout Answers,
        _ limits: IterationLimits
    ) -> Bool {
        guard batch.scan(body, in: 0..<body.byteCount), isUsualBatch(session, limits.waited) else {
            return false
        }
        session.caller.act(forUser: batch.actingUserID)
        if batch.actingUserID != 0 {
            session.caller.voter = environment.voter(of: session.caller)
        }
        guard takeVotes(voter: session.caller.voter), charge(&session, at: limits.now),
            castInTransaction(body, from: &session.caller, &answers)
        else { return false }
        session.life.answered(batch.id)
        let revision = environment.store.revision
        session.caller.noteChange(revision)
        answers.append(batchResults, id: batch.id, revision: revision)
        answers.countCalls(.batchCastVotes, firstID: batch.id)
        environment.counters.count(.batchedVotes, batch.count)
        return true
    }

    /// Whether the batch may be cast without a check of its revision.
    private mutating func isUsualBatch(
        _ session: borrowing Session,
        _ waited: Duration?
    ) -> Bool {
        guard batch.count <= environment.context.limits.calls.maximumBatchVoteCount,
            batch.minimumRevision == 0,
            session.life.executes(batch.id), session.caller.takesFastPath,
            environment.takesChanges,
            CallEnvironment.mayActFast(
                for: batch.actingUserID,
                isService: session.caller.isService
            )
        else { return false }
        guard let waited else { return true }
        return waited <= environment.context.timeout(milliseconds: batch.timeoutMilliseconds)
    }

    /// Copies the votes to `batchedVotes`; false where one clears a ballot and the voter is not
    /// known.
    private mutating func takeVotes(voter: VoterID?) -> Bool {
        let votes = batch.votes
        let count = batch.count
        batchedVotes.count = count
        var entries = batchedVotes.entries.mutableSpan
        for item in 0..<count {
            guard let direction = FeedRanking.VoteDirection(votes[item].direction) else {
                return false
            }
            if voter == nil, case .clear = direction { return false }
            entries[item].post = votes[item].postID
            entries[item].direction = direction
        }
        return true
    }

    /// Counts the votes for the limits of the caller's identity; false where it has none left.
    private func charge(_ session: inout Session, at now: MonotonicInstant) -> Bool {
        guard let allowance = session.caller.allowance else { return true }
        guard allowance.votes.takeWhole(batch.count, at: now) else { return false }
        session.chargedID = batch.id
        return true
    }

    /// Casts the votes in one transaction, a numbered batch once; false where the path of all calls has to.
    private mutating func castInTransaction(
        _ body: RawSpan,
        from caller: inout Caller,
        _ answers: inout Answers
    ) -> Bool {
        guard batch.sequence != 0 else {
            environment.changeLog.transaction { _ = castAndCollect(from: &caller, &answers) }
            return true
        }
        guard let channel = caller.channel else { return false }
        let hash = batch.requestHash(in: body)
        return environment.changeLog.transaction {
            channel.withCalls { calls in
                let sequence = batch.sequence
                let decision = calls.decision(
                    sequence: sequence,
                    hash: hash,
                    epoch: channel.epoch,
                    recordsItems: true
                )
                guard case .execute = decision else { return false }
                let done = castAndCollect(from: &caller, &answers)
                let isWhole = done == ItemMask(firstItems: batch.count)
                environment.changeLog.append(
                    calls.record(
                        sequence: sequence,
                        hash: isWhole ? hash : caller.hash(ofPartOf: hash),
                        .items(done)
                    )
                )
                return true
            }
        }
    }

    /// Casts the votes and fills `batchResults`, in one pass; returns the votes that were counted.
    @discardableResult
    private mutating func castAndCollect(
        from caller: inout Caller,
        _ answers: inout Answers
    ) -> ItemMask {
        environment.store.castVotes(
            &batchedVotes,
            voter: caller.voter,
            at: moment.weight,
            sink: environment.changeLog
        )
        for post in batchedVotes.refreshDue { answers.refreshLater(stripeOf: post) }
        batchResults.count = batchedVotes.count
        batchResults.failures.removeAll(keepingCapacity: true)
        var done = ItemMask(firstItems: batchedVotes.count)
        var item = collectCounts(from: 0)
        while item < batchedVotes.count {
            if !collectRefusal(of: item, from: &caller, &answers) { done[item] = false }
            item = collectCounts(from: item + 1)
        }
        return done
    }

    /// Copies the counts after each vote to `batchResults`; returns the first refused vote, or the end.
    private mutating func collectCounts(from first: Int) -> Int {
        let entries = batchedVotes.entries
        let count = batchedVotes.count
        var votes = batchResults.votes.mutableSpan
        for item in first..<count {
            let vote = entries[item]
            guard vote.refusal == nil else { return item }
            votes[item] = CastVoteResponse(
                postID: vote.post,
                score: Int64(bitPattern: vote.upvoteCount &- vote.downvoteCount),
                upvoteCount: vote.upvoteCount,
                downvoteCount: vote.downvoteCount,
                vote: FeedProto.VoteDirection(vote.standingVote)
            )
        }
        return count
    }

    /// Adds the failure of a refused vote, or casts a ballot whose caller becomes a voter with it.
    ///
    /// The store has refused all votes on a post of a ballot feed alike, so they are cast in their
    /// order now. Returns whether the vote is counted.
    private mutating func collectRefusal(
        of item: Int,
        from caller: inout Caller,
        _ answers: inout Answers
    ) -> Bool {
        let vote = batch.votes[item]
        do throws(Status) {
            switch batchedVotes.entries[item].refusal {
            case .postNotFound: throw .postNotFound(vote.postID)
            case .clearOnTally: throw .badVote(.clear)
            case .voterRequired, .userRequired:
                let outcome = try castAnyMode(vote, from: &caller, &answers)
                batchResults.votes[item] = CastVoteResponse(vote.postID, outcome)
            case nil: preconditionFailure("The vote is not refused.")
            }
            return true
        } catch {
            batchResults.failures.append(VoteBatchResults.Failure(item: item, status: error))
            return false
        }
    }
}

/// How one vote is cast.
///
/// A vote is cast on three levels:
///
/// 1. `castAndAnswer` casts a vote of the fast path and encodes its answer or
///    refusal. Other paths encode answers in their own ways, and begin with the second level.
/// 2. ``castAnyMode(_:from:_:)`` checks the direction. It takes votes of tallies and of ballots; only
///    ballots need a voter.
/// 3. `castOnStore` changes the store, and notes a refresh that is due.
///
/// The functions are mutating, though they change only the caller and the answers: the compiler copies
/// a noncopyable value, of 736 bytes here, for a call that borrows what its caller may change.
extension VoteCalls {
    /// Counts one vote of any kind; a caller's first ballot makes it a voter.
    @inline(__always)
    private mutating func castAnyMode(
        _ request: CastVoteRequest,
        from caller: inout Caller,
        _ answers: inout Answers
    ) throws(Status) -> VoteOutcome {
        guard let direction = FeedRanking.VoteDirection(request.direction) else {
            throw .badVote(request.direction)
        }
        let post = request.postID
        if case .clear = direction { return try clearBallot(post, &caller, &answers) }
        let refusal: RankingError
        do throws(RankingError) {
            return try castOnStore(post, direction, by: caller.voter, &answers)
        } catch {
            refusal = error
        }
        return try castFirstBallot(post, direction, from: &caller, after: refusal, &answers)
    }

    /// Casts the first ballot of a user or a device, which the store has refused without a voter.
    ///
    /// Only ballots need a voter, so the voter is looked up only then.
    ///
    /// - Throws: The refusal, if it is another one.
    @inline(never)
    private mutating func castFirstBallot(
        _ post: PostID,
        _ direction: FeedRanking.VoteDirection,
        from caller: inout Caller,
        after refusal: RankingError,
        _ answers: inout Answers
    ) throws(Status) -> VoteOutcome {
        switch (refusal, caller.voterKey) {
        case (.voterRequired, _), (.userRequired, .user): break
        default: throw Status(refusal)
        }
        let voter = try environment.becomeVoter(&caller)
        do throws(RankingError) {
            return try castOnStore(post, direction, by: voter, &answers)
        } catch {
            throw Status(error)
        }
    }

    /// Clears a ballot; a caller that never voted has none, and needs no voter number, unless only
    /// users vote.
    @inline(never)
    private mutating func clearBallot(
        _ post: PostID,
        _ caller: inout Caller,
        _ answers: inout Answers
    ) throws(Status) -> VoteOutcome {
        let outcome: VoteOutcome
        do throws(RankingError) {
            outcome = try castOnStore(post, .clear, by: environment.voter(of: caller), &answers)
        } catch {
            return try castFirstBallot(post, .clear, from: &caller, after: error, &answers)
        }
        // Nothing has changed for a caller without identity. The refusal says why.
        guard caller.voterKey != nil else { throw .identityRequired }
        return outcome
    }

    /// Changes the counts of a post in the store.
    @inline(__always)
    private mutating func castOnStore(
        _ post: PostID,
        _ direction: FeedRanking.VoteDirection,
        by voter: VoterID?,
        _ answers: inout Answers
    ) throws(RankingError) -> VoteOutcome {
        let outcome = try environment.store.castVote(
            post,
            direction,
            voter: voter,
            at: moment.weight,
            sink: environment.changeLog
        )
        if outcome.refreshIsDue { answers.refreshLater(stripeOf: post) }
        return outcome
    }
}

/// The fast path of votes, which are most of the requests: votes are found without a message
/// decoder, and cast together in one transaction.
///
/// An unusual vote takes the path of all calls through `RequestHandler.handle`, which gives the
/// same answers.
extension VoteCalls {
    /// Finds the votes at the front of the received bytes, up to the first other frame.
    ///
    /// - Returns: The number of votes. The memory of their posts and ballots is requested where there are
    ///   two or more; one that is alone is cast at once.
    mutating func findRun(
        in bytes: RawSpan,
        at offset: Int,
        limit: Int,
        from caller: borrowing Caller,
        _ scanner: borrowing FrameScanner
    ) -> Int {
        run.find(in: bytes, at: offset, limit: limit, scanner)
        if run.count > 1 { requestPosts() }
        findVoters(from: caller)
        return run.count
    }

    /// Requests the memory of all posts and voters of the run, before the first is needed.
    @inline(__always)
    private func requestPosts() {
        for number in 0..<run.count {
            let frame = run.entries[number].frame
            environment.store.prefetch(frame.vote.postID)
            if frame.actingUserID != 0 {
                environment.store.prefetchVoter(user: frame.actingUserID.rawValue)
            }
        }
    }

    /// Notes the known voters of the run, and requests the memory of their ballots.
    @inline(__always)
    private mutating func findVoters(from caller: borrowing Caller) {
        let own = caller.ownVoter
        for number in 0..<run.count {
            let frame = run.entries[number].frame
            var voter = own
            if frame.actingUserID != 0 {
                voter = environment.store.voter(ifKnown: .user(frame.actingUserID.rawValue))
                runVoters[number] = voter
            }
            guard let voter, run.count > 1 else { continue }
            environment.store.prefetchBallot(of: voter, on: frame.vote.postID)
        }
    }

    /// Casts admitted votes of the run in one transaction, up to the first unusual vote.
    ///
    /// Numbered votes are cast under their channel's lock, which is taken once for all of them.
    ///
    /// The number is that of the first vote that is not executed, and is moved behind the votes.
    mutating func castRun(
        from number: inout Int,
        of session: inout Session,
        _ answers: inout Answers,
        _ limits: IterationLimits
    ) {
        let first = number
        // Asked once, because the compiler copies the caller to ask it.
        let isService = session.caller.isService
        environment.changeLog.transaction {
            if run.entries[number].frame.sequence != 0 {
                guard let channel = session.caller.channel else { return }
                channel.withCalls { calls in
                    while answers.byteCount < limits.answerByteCount,
                        isUsual(number, session.life, limits.waited),
                        mayAct(number, isService: isService),
                        castOnce(
                            number,
                            &calls,
                            epoch: channel.epoch,
                            from: &session.caller,
                            &answers
                        )
                    {
                        session.life.answered(run.entries[number].frame.id)
                        number += 1
                    }
                }
            } else {
                while answers.byteCount < limits.answerByteCount,
                    isUsual(number, session.life, limits.waited),
                    mayAct(number, isService: isService),
                    run.entries[number].frame.sequence == 0
                {
                    _ = castAndAnswer(number, from: &session.caller, &answers)
                    session.life.answered(run.entries[number].frame.id)
                    number += 1
                }
            }
        }
        guard number > first else { return }
        answers.countCalls(.castVote, number - first, firstID: run.entries[first].frame.id)
    }

    /// Whether there is another vote that may be cast without a check of its revision.
    @inline(__always)
    private func isUsual(
        _ number: Int,
        _ life: SessionLife,
        _ waited: Duration?
    ) -> Bool {
        guard number < admittedCount else { return false }
        let frame = run.entries[number].frame
        guard frame.minimumRevision == 0, life.executes(frame.id) else { return false }
        guard let waited else { return true }
        return waited <= environment.context.timeout(milliseconds: frame.timeoutMilliseconds)
    }

    /// Whether the caller may cast the vote for the user whom it names.
    @inline(__always)
    private func mayAct(_ number: Int, isService: Bool) -> Bool {
        CallEnvironment.mayActFast(
            for: run.entries[number].frame.actingUserID,
            isService: isService
        )
    }

    /// Casts a numbered vote and records its outcome.
    ///
    /// - Returns: Whether the vote is executed; false where the path of all calls must decide, and
    ///   then nothing has happened.
    @inline(__always)
    private mutating func castOnce(
        _ number: Int,
        _ calls: inout RecentCalls,
        epoch: UInt64,
        from caller: inout Caller,
        _ answers: inout Answers
    ) -> Bool {
        let frame = run.entries[number].frame
        guard frame.sequence != 0 else { return false }
        let hash = frame.requestHash
        let decision = calls.decision(sequence: frame.sequence, hash: hash, epoch: epoch)
        guard case .execute = decision else { return false }
        if castAndAnswer(number, from: &caller, &answers) {
            environment.changeLog.append(
                calls.record(sequence: frame.sequence, hash: hash, .done)
            )
        }
        return true
    }

    /// Casts a vote of the run and encodes the answer.
    ///
    /// - Returns: Whether the vote is counted; a refused vote is answered, too.
    @inline(__always)
    private mutating func castAndAnswer(
        _ number: Int,
        from caller: inout Caller,
        _ answers: inout Answers
    ) -> Bool {
        let frame = run.entries[number].frame
        caller.act(forUser: frame.actingUserID)
        if frame.actingUserID != 0 { caller.voter = runVoters[number] }
        do throws(Status) {
            let outcome = try castAnyMode(frame.vote, from: &caller, &answers)
            caller.noteChange(outcome.revision)
            answers.append(
                CastVoteResponse(frame.vote.postID, outcome),
                id: frame.id,
                revision: outcome.revision
            )
            return true
        } catch {
            answers.refuse(frame.id, .castVote, error, from: caller)
            return false
        }
    }
}

/// The moment of the votes that a loop casts, which gives them their weight in RISING.
///
/// It is renewed in the first loop iteration after each millisecond, so that a vote neither reads a
/// clock nor computes a power.
struct VoteMoment {
    private static let nanoseconds: UInt64 = 1_000_000

    /// The weight of a vote now.
    private(set) var weight = VoteWeight(milliseconds: 0)
    private var end: UInt64 = 0

    /// Begins a new moment if the last one is over.
    @inline(__always)
    mutating func renew(at now: MonotonicInstant, _ store: FeedStore) {
        guard now.nanoseconds >= end else { return }
        end = now.nanoseconds &+ Self.nanoseconds
        weight = store.voteWeight()
    }
}

/// The first votes of reads that are served next, one read after another.
///
/// The memory of all of them is requested before the first is served, so that the waits for it overlap.
/// Further ones than 64 are forgotten: a connection that is closing announces its reads, and serves none.
struct AnnouncedVotes {
    private struct Vote {
        let post: PostID
        let user: UInt64
        /// The voter of the connection, where the vote names no user.
        let ownVoter: VoterID?
    }

    private static let capacity = 64

    private var votes: [Vote] = []

    var isEmpty: Bool { votes.isEmpty }

    /// Adds a vote; `ownVoter` is the voter of its connection.
    mutating func append(_ frame: VoteFrame, from ownVoter: VoterID?) {
        guard votes.count < Self.capacity else { return }
        votes.append(
            Vote(
                post: frame.vote.postID,
                user: frame.actingUserID.rawValue,
                ownVoter: ownVoter
            )
        )
    }

    /// Requests the memory of the posts and of the ballots of known voters, and forgets the votes;
    /// O(votes).
    mutating func prefetch(from store: FeedStore) {
        for vote in votes {
            store.prefetch(vote.post)
            if vote.user != 0 { store.prefetchVoter(user: vote.user) }
        }
        for vote in votes {
            let voter = vote.user == 0 ? vote.ownVoter : store.voter(ifKnown: .user(vote.user))
            if let voter { store.prefetchBallot(of: voter, on: vote.post) }
        }
        votes.removeAll(keepingCapacity: true)
    }
}
