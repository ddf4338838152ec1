import FeedProto
import FeedService
import FeedTestSupport
import Testing

/// How many items a batch may hold.
@Suite(.timeLimit(.minutes(10)))
struct BatchTests {
    /// A batch of this many items, which may be too many.
    struct Batch: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var request: Request
        var reason: Reason?
    }

    static let batches =
        [0, 1, 256, 257].map { count in
            Batch(
                testDescription: "T-CALL-2: \(count) votes",
                request: .batchCastVotes(
                    BatchCastVotesRequest(
                        votes: Array(
                            repeating: CastVoteRequest(postID: 1, direction: .up),
                            count: count
                        )
                    )
                ),
                reason: count == 0 ? .badField : count > 256 ? .batchTooLarge : nil
            )
        }
        + [0, 1, 100, 101].map { count in
            Batch(
                testDescription: "T-CALL-2: \(count) ids",
                request: .batchGetPosts(
                    BatchGetPostsRequest(ids: [UInt64](repeating: 1, count: count))
                ),
                reason: count == 0 ? .badField : count > 100 ? .batchTooLarge : nil
            )
        }

    // No constant: the leak checker does not know an address in an enum that keeps its case in the
    // same word.
    static var imports: [Batch] {
        [0, 1, 256, 257].map { count in
            Batch(
                testDescription: "T-CALL-2: \(count) imported posts",
                request: .importPosts(
                    ImportPostsRequest(posts: [Post](repeating: Post(), count: count))
                ),
                reason: count == 0 ? .badField : count > 256 ? .batchTooLarge : nil
            )
        }
    }

    @Test(arguments: batches + imports)
    func boundsBatches(_ batch: Batch) async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            let answer = try client.call(batch.request)
            #expect(answer.status?.reason == batch.reason)
        }
    }
}
