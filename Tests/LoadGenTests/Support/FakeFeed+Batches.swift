import FeedProto

extension FakeFeed {
    /// Counts the votes of a batch in order, each right or wrong as a vote alone.
    ///
    /// `known` are the posts of the votes that counted in an earlier send, 0 for one that did not, and
    /// nil for a batch that was not sent before; `ids` gets the same of this send.
    func cast(
        _ batch: BatchCastVotesRequest,
        _ id: UInt64,
        known: [UInt64]?,
        _ state: inout State,
        _ ids: inout [UInt64]
    ) -> Action {
        var results: [CastVoteResult] = []
        var end: Action?
        ids = known ?? batch.votes.map { _ in 0 }
        for (item, vote) in batch.votes.enumerated() {
            if ids[item] > 0 {
                results.append(result(of: voteAnswer(id, state.posts[ids[item]], state)))
                continue
            }
            var counted: [UInt64] = []
            let action = cast(vote, id, &state, &counted)
            if let post = counted.first { ids[item] = post }
            switch action {
            case .answer where state.voteCount == faults.emptyResultAt:
                results.append(CastVoteResult(status: nil, vote: nil))
            case .answer(let frame): results.append(result(of: frame))
            default: end = end ?? action
            }
        }
        // What befalls one vote befalls the whole answer.
        return end
            ?? .answer(
                ServerFrame(
                    id: id,
                    revision: state.voteCount,
                    response: .batchCastVotes(BatchCastVotesResponse(results: results))
                )
            )
    }

    private func result(of frame: ServerFrame) -> CastVoteResult {
        guard case .castVote(let vote) = frame.response else {
            return CastVoteResult(status: frame.status, vote: nil)
        }
        return CastVoteResult(status: nil, vote: vote)
    }
}
