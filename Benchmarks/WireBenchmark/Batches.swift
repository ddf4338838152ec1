import FeedProto
import FeedTestSupport

/// A batch of 256 votes and its answer.
struct Batches: ~Copyable {
    /// The votes of a batch.
    static let voteCount = VoteBatch.capacity

    /// The body of a frame with the votes.
    let body: [UInt8]
    private var batch = VoteBatch()
    private var results = VoteBatchResults()

    /// Votes on any of 100,000 posts, and what became of them.
    init() throws(FrameError) {
        var random = SeededGenerator(seed: 3)
        var votes: [CastVoteRequest] = []
        results.count = Self.voteCount
        for item in 0..<Self.voteCount {
            let postID = UInt64.random(in: 1...100_000, using: &random)
            votes.append(CastVoteRequest(postID: postID, direction: .up))
            let upvoteCount = UInt64.random(in: 1...500, using: &random)
            results.votes[item] = CastVoteResponse(
                postID: postID,
                score: Int64(upvoteCount),
                upvoteCount: upvoteCount,
                downvoteCount: 0
            )
        }
        let request = Request.batchCastVotes(BatchCastVotesRequest(votes: votes))
        body = Array(
            try ClientFrame(id: Samples.id, request: request).encoded()
                .dropFirst(FrameHeader.byteCount)
        )
    }

    /// Reads the batch past protobuf-c.
    mutating func read() {
        let body = body
        let isPlain = unsafe batch.scan(body.span.bytes, in: 0..<body.count)
        precondition(isPlain, "The sample is a plain batch.")
    }

    /// Writes the answer past protobuf-c.
    func write(_ encoder: inout FrameEncoder) throws(FrameError) {
        encoder.removeAll()
        try encoder.append(results, id: Samples.id, revision: Samples.revision)
    }

    /// The answer as a message.
    var frame: ServerFrame {
        ServerFrame(results, id: Samples.id, revision: Samples.revision)
    }
}
