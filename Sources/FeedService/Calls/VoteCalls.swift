internal import FeedLog
internal import FeedProto
internal import FeedRanking

/// CastVote and BatchCastVotes.
///
/// Most votes are found and cast without a message decoder (`VoteCalls+Runs`,
/// `VoteCalls+Batches`). All other votes are decoded, as other calls are, and are cast here. Single
/// votes of both paths are cast by ``castAnyMode(_:from:_:)``.
struct VoteCalls: ~Copyable {
    /// The shared parts of all calls of the loop.
    let environment: CallEnvironment
    /// The moment of the votes.
    var moment = VoteMoment()
    /// The votes that are executed next.
    var run = VoteRun()
    /// How many of them the limits of the caller's identity admit.
    var admittedCount = 0
    /// The voters of the run's votes that a service casts for users; nil for new ones.
    var runVoters = [VoterID?](repeating: nil, count: VoteRun.capacity)
    /// The batch of votes that is executed now.
    var batch = VoteBatch()
    /// The votes of the batch as the store casts them.
    var batchedVotes = BatchedVotes()
    /// The results of the batch as the encoder takes them.
    var batchResults = VoteBatchResults()
    /// The post whose counts answer a repeated vote; the memory is reused.
    var page = PostPage()

    /// The calls of a loop.
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
    /// - Parameters:
    ///   - request: The votes.
    ///   - caller: The voter.
    ///   - done: The votes that an earlier call has counted, which are not counted again.
    ///   - refusal: Why none of the others may be counted; nil where they may.
    ///   - answers: The answers of the loop iteration.
    /// - Returns: The answer, and all votes that are counted now.
    /// - Throws: A refusal of the whole batch, of which no vote is counted.
    mutating func batchCastVotes(
        _ request: BatchCastVotesRequest,
        from caller: inout Caller,
        except done: ItemMask = ItemMask(),
        refusal: Status? = nil,
        _ answers: inout Answers
    ) throws(Status) -> (answer: Answer, done: ItemMask) {
        try environment.checkBatch(
            request.votes.count,
            field: "votes",
            limit: environment.context.limits.maximumBatchVoteCount
        )
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
        environment.counters.countBatchedVotes(request.votes.count)
        let answer = Answer.response(
            .batchCastVotes(BatchCastVotesResponse(results: results)),
            revision: environment.store.revision
        )
        return (answer, done)
    }

    /// The counts of a post and the caller's ballot, for a vote that an earlier call has counted.
    mutating func countsNow(
        of id: UInt64,
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

    /// The row of a post.
    mutating func readPost(_ id: UInt64, voter: VoterID?) throws(RankingError) -> PostRow {
        page.removeAll()
        try environment.store.post(PostID(rawValue: id), voter: voter, into: &page)
        return page.rows[0]
    }
}
