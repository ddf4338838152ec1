internal import FeedProto
internal import FeedRanking

extension CallEnvironment {
    /// Requests the memory of the post that the vote at the front of the bytes is about, and of the
    /// ballot of a known voter.
    func prefetchFirstVote(of bytes: RawSpan, from ownVoter: VoterID?) {
        let scanner = FrameScanner(maximumFrameByteCount: context.limits.maximumFrameByteCount)
        guard let frame = VoteRun.firstVote(in: bytes, scanner) else { return }
        let post = PostID(rawValue: frame.vote.postID)
        store.prefetch(post)
        var voter = ownVoter
        if frame.actingUserID != 0 {
            voter = store.voter(ifKnown: .user(frame.actingUserID))
        }
        if let voter { store.prefetchBallot(of: voter, on: post) }
    }
}
