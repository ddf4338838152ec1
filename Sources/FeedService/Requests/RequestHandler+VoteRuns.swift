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
        let isUsual = faultyVotes == nil && !context.isOverloaded
        for number in 0..<votes.count where encoder.byteCount < room {
            let entry = votes.entries[number]
            execute(entry.frame, of: &session, waited: waited, isUsual: isUsual)
            offset = entry.endOffset
            limit -= 1
            if session.state.isClosing { return }
        }
    }

    private mutating func execute(
        _ frame: VoteFrame,
        of session: inout ServerConnection.Session,
        waited: Duration?,
        isUsual: Bool
    ) {
        guard isNext(frame.id, of: &session) else { return }
        let isCast =
            isUsual && isInTime(frame, waited) && castAtOnce(frame, voter: session.caller.voter)
        if !isCast { _ = handle(ClientFrame(frame), from: &session.caller, waited: waited) }
        session.state.answered(frame.id)
    }

    /// Whether a vote may be cast without a look at the state it is meant for.
    private func isInTime(_ frame: VoteFrame, _ waited: Duration?) -> Bool {
        guard frame.sequence == 0, frame.minimumRevision == 0 else { return false }
        guard let waited else { return true }
        return waited <= context.timeout(milliseconds: frame.timeoutMilliseconds)
    }

    /// Casts a vote and encodes the answer; where it cannot be cast, nothing has happened.
    private mutating func castAtOnce(_ frame: VoteFrame, voter: VoterID?) -> Bool {
        guard let direction = FeedRanking.VoteDirection(frame.vote.direction) else { return false }
        if case .clear = direction { return false }
        let post = PostID(rawValue: frame.vote.postID)
        guard let outcome = try? store.castVote(post, direction, voter: voter) else { return false }
        if outcome.settlingIsDue { settleLater(stripeOf: post) }
        append(
            CastVoteResponse(frame.vote.postID, outcome),
            id: frame.id,
            revision: outcome.revision
        )
        counters.countRequest(.castVote)
        return true
    }
}
