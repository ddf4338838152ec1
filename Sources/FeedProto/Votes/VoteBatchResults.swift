/// For services: the result of each vote of a batch, collected to be encoded.
///
/// A service keeps one of these and fills it for each batch: only failures allocate.
public struct VoteBatchResults: ~Copyable {
    /// A vote that was not counted.
    public struct Failure: Sendable {
        /// The index of the vote in the batch, from 0.
        public var item: Int
        /// Why it was not counted.
        public var status: Status

        /// A vote that was not counted.
        public init(item: Int, status: Status) {
            self.item = item
            self.status = status
        }
    }

    /// Places for the counts after each vote; the first `count` are in use.
    ///
    /// The place of a failure is not read.
    public var votes = [CastVoteResponse](
        repeating: CastVoteResponse(postID: 0, score: 0, upvoteCount: 0, downvoteCount: 0),
        count: VoteBatch.capacity
    )
    /// How many votes the batch has, at most `VoteBatch.capacity`.
    public var count = 0
    /// The votes that were not counted, by rising `item`.
    public var failures: [Failure] = []

    /// Results of no vote.
    public init() {}
}

extension ServerFrame {
    /// The same answer in the form of any other answer.
    public init(_ results: borrowing VoteBatchResults, id: UInt64, revision: UInt64) {
        var list = results.votes.prefix(results.count).map { CastVoteResult(status: nil, vote: $0) }
        for failure in results.failures {
            list[failure.item] = CastVoteResult(status: failure.status, vote: nil)
        }
        self.init(
            id: id,
            revision: revision,
            response: .batchCastVotes(BatchCastVotesResponse(results: list))
        )
    }
}
