internal import FeedLog
internal import FeedProto
internal import FeedRanking

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
            environment.store.prefetch(PostID(rawValue: frame.vote.postID))
            if frame.actingUserID != 0 {
                environment.store.prefetchVoter(user: frame.actingUserID)
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
                voter = environment.store.voter(ifKnown: .user(frame.actingUserID))
                runVoters[number] = voter
            }
            guard let voter, run.count > 1 else { continue }
            environment.store.prefetchBallot(
                of: voter,
                on: PostID(rawValue: frame.vote.postID)
            )
        }
    }

    /// Casts admitted votes of the run in one transaction, up to the first unusual vote.
    ///
    /// Numbered votes are cast under their channel's lock, which is taken once for all of them.
    ///
    /// - Parameters:
    ///   - number: The first vote that is not executed; moved behind the votes.
    ///   - session: The connection's state.
    ///   - answers: The answers of the loop iteration.
    ///   - limits: The limits of the loop iteration.
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
            answers.refuse(frame.id, .castVote, error)
            environment.log.refused(.castVote, error.reason.rawValue, from: caller.host)
            return false
        }
    }
}
