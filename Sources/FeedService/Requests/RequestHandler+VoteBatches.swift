internal import FeedLog
internal import FeedProto
internal import FeedRanking

/// The short way of a batch of votes: it is read without a message decoder, its posts are asked for
/// before the first vote is cast, and its answer is written without a message.
///
/// A batch with anything unusual takes the way of all calls, through `handle`, which does the same
/// and more. So the two ways differ in speed only.
extension RequestHandler {
    /// Executes a frame's body where it is a batch without anything unusual.
    ///
    /// - Returns: Whether the batch was executed and answered; else nothing has happened.
    mutating func castBatch(
        _ body: RawSpan,
        of session: inout ServerConnection.Session,
        waited: Duration?
    ) -> Bool {
        guard batch.scan(body, in: 0..<body.byteCount), isUsualBatch(session, waited),
            gatherVotes(voter: session.caller.voter),
            castGathered(body, from: &session.caller)
        else { return false }
        session.state.answered(batch.id)
        let revision = store.revision
        do throws(FrameError) {
            try encoder.append(batchResults, id: batch.id, revision: revision)
        } catch {
            appendTooLarge(id: batch.id, error)
        }
        counters.countRequest(.batchCastVotes)
        return true
    }

    /// Whether the batch may be cast without a look at the state it is meant for.
    private func isUsualBatch(
        _ session: borrowing ServerConnection.Session,
        _ waited: Duration?
    ) -> Bool {
        guard batch.count <= context.limits.maximumBatchVoteCount, batch.minimumRevision == 0,
            session.state.executes(batch.id), faultyVotes == nil,
            context.refusalOfChanges == nil
        else { return false }
        guard let waited else { return true }
        return waited <= context.timeout(milliseconds: batch.timeoutMilliseconds)
    }

    /// Hands the votes to `batchedVotes`; false where one clears a ballot and the voter is not
    /// known.
    private mutating func gatherVotes(voter: VoterID?) -> Bool {
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

    /// Casts the votes in one transaction, a numbered batch once.
    ///
    /// - Returns: Whether they were cast; a numbered batch may need the way of all calls.
    private mutating func castGathered(_ body: RawSpan, from caller: inout Caller) -> Bool {
        guard batch.sequence != 0 else {
            changeLog.lock()
            defer { changeLog.unlock() }
            castAndCollect(from: &caller)
            return true
        }
        guard let channel = caller.channel else { return false }
        let hash = batch.requestHash(in: body)
        changeLog.lock()
        defer { changeLog.unlock() }
        return channel.record.withCalls { calls in
            let sequence = batch.sequence
            let decision = calls.decision(
                sequence: sequence,
                hash: hash,
                epoch: channel.epoch,
                recordsItems: true
            )
            guard case .execute = decision else { return false }
            let done = castAndCollect(from: &caller)
            changeLog.append(calls.record(sequence: sequence, hash: hash, .items(done)))
            return true
        }
    }

    /// Casts the votes and fills `batchResults`.
    ///
    /// - Returns: The votes that were counted.
    @discardableResult
    private mutating func castAndCollect(from caller: inout Caller) -> ItemMask {
        store.castVotes(&batchedVotes, voter: caller.voter, sink: changeLog)
        collectCounts()
        for post in batchedVotes.refreshDue { refreshLater(stripeOf: post) }
        batchResults.failures.removeAll(keepingCapacity: true)
        var done = ItemMask(firstItems: batchedVotes.count)
        if batchedVotes.refusedCount > 0 { collectRefusals(from: &caller, &done) }
        return done
    }

    /// Hands the counts after each vote to `batchResults`.
    private mutating func collectCounts() {
        let entries = batchedVotes.entries
        let count = batchedVotes.count
        batchResults.count = count
        var votes = batchResults.votes.mutableSpan
        for item in 0..<count {
            let vote = entries[item]
            votes[item] = CastVoteResponse(
                postID: vote.post.rawValue,
                score: Int64(bitPattern: vote.upvoteCount &- vote.downvoteCount),
                upvoteCount: vote.upvoteCount,
                downvoteCount: vote.downvoteCount,
                vote: FeedProto.VoteDirection(vote.standingVote)
            )
        }
    }

    /// Words the refusals of votes, and casts the ballots of a caller who becomes a voter with
    /// them.
    ///
    /// All votes on a post of a ballot feed were refused alike, so they are cast in their order
    /// now.
    private mutating func collectRefusals(from caller: inout Caller, _ done: inout ItemMask) {
        for item in 0..<batchedVotes.count {
            guard let refusal = batchedVotes.entries[item].refusal else { continue }
            do throws(Status) {
                switch refusal {
                case .postNotFound: throw .postNotFound(batch.votes[item].postID)
                case .clearOnTally: throw .badVote(.clear)
                case .voterRequired:
                    let vote = batch.votes[item]
                    let outcome = try self.vote(vote, from: &caller)
                    batchResults.votes[item] = CastVoteResponse(vote.postID, outcome)
                }
            } catch {
                batchResults.failures.append(
                    VoteBatchResults.Failure(item: item, status: error)
                )
                done[item] = false
            }
        }
    }
}
