import FeedProto
import FeedService
import FeedTestSupport
import Testing

/// A batch of votes that is sent again counts those that were not counted before.
@Suite(.timeLimit(.minutes(10)))
struct NumberedBatchTests {
    typealias Support = ExactlyOnceTests

    static func results(_ answer: ServerFrame) throws -> [CastVoteResult] {
        guard case .batchCastVotes(let response) = answer.response else {
            throw try #require(answer.status)
        }
        return response.results
    }

    @Test func countsEachVoteOnce() async throws {
        try await withService { port in
            let client = try Support.connect(port)
            let id = try client.createPost(title: "a")
            let votes = Array(repeating: CastVoteRequest(postID: id, direction: .up), count: 256)
            let batch = Request.batchCastVotes(BatchCastVotesRequest(votes: votes))
            let first = try Self.results(client.call(batch, sequence: 1))
            #expect(first.map { $0.vote?.upvoteCount } == (1...256).map { UInt64($0) })
            let again = try Self.results(client.call(batch, sequence: 1))
            #expect(again.map { $0.vote?.upvoteCount } == Array(repeating: 256, count: 256))
        }
    }

    @Test func countsWhatWasRefusedBefore() async throws {
        try await withService { port in
            let client = try Support.connect(port)
            let first = try client.createPost(title: "a")
            let missing = first + 1
            let votes = [first, missing, first, missing].map {
                CastVoteRequest(postID: $0, direction: .up)
            }
            let batch = Request.batchCastVotes(BatchCastVotesRequest(votes: votes))
            let before = try Self.results(client.call(batch, sequence: 1))
            #expect(before.map { $0.status?.reason } == [nil, .postNotFound, nil, .postNotFound])
            #expect(try client.createPost(title: "b") == missing)
            for _ in 0..<3 {
                let after = try Self.results(client.call(batch, sequence: 1))
                #expect(after.map { $0.vote?.postID } == [first, missing, first, missing])
                #expect(after[0].vote?.upvoteCount == 2)
            }
            #expect(try client.vote(first).upvoteCount == 3)
            #expect(try client.vote(missing).upvoteCount == 3)
        }
    }

    @Test func saysWhichPostIsGoneSince() async throws {
        try await withService { port in
            let client = try Support.connect(port)
            let id = try client.createPost(title: "a")
            let votes = [CastVoteRequest(postID: id, direction: .up)]
            let batch = Request.batchCastVotes(BatchCastVotesRequest(votes: votes))
            #expect(try Self.results(client.call(batch, sequence: 1))[0].status == nil)
            #expect(try client.call(.deletePost(DeletePostRequest(id: id))).status == nil)
            let status = try #require(
                try Self.results(client.call(batch, sequence: 1))[0].status
            )
            #expect(status.reason == .postNotFound)
            #expect(!status.isNotExecuted)
        }
    }
}
