internal import FeedConcurrency
internal import FeedLog
internal import FeedProto
internal import FeedRanking

/// The fast path of a batch of votes: the batch is read without a message decoder, its posts are
/// requested before the first vote is cast, and its answer is written without a message.
///
/// An unusual batch takes the path of all calls through `RequestHandler.handle`, which gives the
/// same answers.
extension VoteCalls {
    /// Executes a frame's body where it is a batch without anything unusual.
    ///
    /// - Returns: Whether the batch was executed and answered; else nothing has happened.
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
        environment.counters.countBatchedVotes(batch.count)
        return true
    }

    /// Whether the batch may be cast without a check of its revision.
    private mutating func isUsualBatch(
        _ session: borrowing Session,
        _ waited: Duration?
    ) -> Bool {
        guard batch.count <= environment.context.limits.maximumBatchVoteCount,
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
            entries[item].post = PostID(rawValue: votes[item].postID)
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

    /// Casts the votes in one transaction, a numbered batch once.
    ///
    /// - Returns: Whether the votes were cast; a numbered batch may need the path of all calls.
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

    /// Casts the votes and fills `batchResults`, in one pass over the votes.
    ///
    /// - Returns: The votes that were counted.
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

    /// Copies the counts after each vote to `batchResults`, up to the first refused vote.
    ///
    /// - Returns: The item of the refused vote; the number of votes where there is none.
    private mutating func collectCounts(from first: Int) -> Int {
        let entries = batchedVotes.entries
        let count = batchedVotes.count
        var votes = batchResults.votes.mutableSpan
        for item in first..<count {
            let vote = entries[item]
            guard vote.refusal == nil else { return item }
            votes[item] = CastVoteResponse(
                postID: vote.post.rawValue,
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
    /// order now.
    ///
    /// - Returns: Whether the vote is counted.
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
