internal import FeedLog
internal import FeedProto
internal import FeedRanking

/// The short way of votes, which are most of what arrives: they are found without a message
/// decoder, and cast without the steps that other calls need.
///
/// Whatever is unusual about a vote takes the way of all calls, through `handle`, which does the
/// same and more; so the two ways cannot come to differ in anything but speed.
extension RequestHandler {
    /// Executes the votes at the front of what was received, up to the first other frame.
    ///
    /// - Parameters:
    ///   - bytes: What was received.
    ///   - offset: Where its first frame begins that was not executed; moved behind the votes.
    ///   - limit: How many frames may still be executed in this turn; lowered by the votes.
    ///   - session: The connection's state.
    ///   - room: The bytes of answers that the connection takes before it is served no further.
    ///   - waited: How long the first request has waited for its turn; nil is not at all.
    mutating func serveVotes(
        _ bytes: RawSpan,
        at offset: inout Int,
        limit: inout Int,
        of session: inout ServerConnection.Session,
        room: Int,
        waited: Duration?
    ) {
        votes.find(in: bytes, at: offset, limit: limit, scanner)
        // All posts are asked for before the first is needed.
        for number in 0..<votes.count {
            store.prefetch(PostID(rawValue: votes.entries[number].frame.vote.postID))
        }
        let isUsual = faultyVotes == nil && context.refusalOfChanges == nil
        var number = 0
        while number < votes.count, encoder.byteCount < room, !session.state.isClosing {
            if isUsual { castVotes(from: &number, of: &session, room: room, waited: waited) }
            guard number < votes.count, encoder.byteCount < room else { break }
            execute(votes.entries[number].frame, of: &session, waited: waited)
            number += 1
        }
        guard number > 0 else { return }
        offset = votes.entries[number - 1].endOffset
        limit -= number
    }

    /// Asks for the memory of the post that the first vote of some bytes is about.
    mutating func anticipate(_ bytes: RawSpan) {
        votes.find(in: bytes, at: 0, limit: 1, scanner)
        guard votes.count > 0 else { return }
        store.prefetch(PostID(rawValue: votes.entries[0].frame.vote.postID))
    }

    /// Executes a vote in the way of all calls.
    private mutating func execute(
        _ frame: VoteFrame,
        of session: inout ServerConnection.Session,
        waited: Duration?
    ) {
        guard isNext(frame.id, of: &session) else { return }
        _ = handle(
            ClientFrame(frame),
            requestHash: frame.vote.requestHash,
            from: &session.caller,
            waited: waited
        )
        session.state.answered(frame.id)
    }

    /// Casts votes in one transaction, up to the first unusual one, which it leaves.
    ///
    /// Numbered votes are cast under their channel's lock, which is taken once for all of them.
    private mutating func castVotes(
        from number: inout Int,
        of session: inout ServerConnection.Session,
        room: Int,
        waited: Duration?
    ) {
        changeLog.lock()
        defer { changeLog.unlock() }
        if votes.entries[number].frame.sequence != 0 {
            guard let channel = session.caller.channel else { return }
            channel.record.withCalls { calls in
                while isUsual(number, session, room, waited),
                    castOnce(votes.entries[number].frame, &calls, channel.epoch, session.caller)
                {
                    session.state.answered(votes.entries[number].frame.id)
                    number += 1
                }
            }
        } else {
            while isUsual(number, session, room, waited),
                votes.entries[number].frame.sequence == 0,
                cast(votes.entries[number].frame, voter: session.caller.voter)
            {
                session.state.answered(votes.entries[number].frame.id)
                number += 1
            }
        }
    }

    /// Whether there is another vote that may be cast without a look at the state it is meant for.
    @inline(__always)
    private func isUsual(
        _ number: Int,
        _ session: borrowing ServerConnection.Session,
        _ room: Int,
        _ waited: Duration?
    ) -> Bool {
        guard number < votes.count, encoder.byteCount < room else { return false }
        let frame = votes.entries[number].frame
        guard frame.minimumRevision == 0, session.state.executes(frame.id) else { return false }
        guard let waited else { return true }
        return waited <= context.timeout(milliseconds: frame.timeoutMilliseconds)
    }

    /// Casts a numbered vote that was not cast before; else nothing has happened.
    @inline(__always)
    private mutating func castOnce(
        _ frame: VoteFrame,
        _ calls: inout RecentCalls,
        _ epoch: UInt64,
        _ caller: borrowing Caller
    ) -> Bool {
        guard frame.sequence != 0 else { return false }
        let hash = frame.vote.requestHash
        let decision = calls.decision(sequence: frame.sequence, hash: hash, epoch: epoch)
        guard case .execute = decision, cast(frame, voter: caller.voter) else { return false }
        changeLog.append(calls.record(sequence: frame.sequence, hash: hash, .done))
        return true
    }

    /// Casts a vote and encodes the answer; where it cannot be cast, nothing has happened.
    @inline(__always)
    private mutating func cast(_ frame: VoteFrame, voter: VoterID?) -> Bool {
        guard let direction = FeedRanking.VoteDirection(frame.vote.direction) else { return false }
        if case .clear = direction { return false }
        let post = PostID(rawValue: frame.vote.postID)
        guard let outcome = try? store.castVote(post, direction, voter: voter, sink: changeLog)
        else {
            return false
        }
        if outcome.refreshIsDue { refreshLater(stripeOf: post) }
        append(
            CastVoteResponse(frame.vote.postID, outcome),
            id: frame.id,
            revision: outcome.revision
        )
        counters.countRequest(.castVote)
        return true
    }
}
