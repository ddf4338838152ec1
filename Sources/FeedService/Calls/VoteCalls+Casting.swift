internal import FeedProto
internal import FeedRanking

/// How one vote is cast.
///
/// A vote is cast on three levels:
///
/// 1. `castAndAnswer` (`VoteCalls+Runs`) casts a vote of the fast path and encodes its answer or
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
    mutating func castAnyMode(
        _ request: CastVoteRequest,
        from caller: inout Caller,
        _ answers: inout Answers
    ) throws(Status) -> VoteOutcome {
        guard let direction = FeedRanking.VoteDirection(request.direction) else {
            throw .badVote(request.direction)
        }
        let post = PostID(rawValue: request.postID)
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
