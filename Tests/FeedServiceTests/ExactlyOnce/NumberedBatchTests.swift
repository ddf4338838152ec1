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

    /// The batch of two posts, of which the second is yet to come.
    private static func batch(_ first: UInt64) -> Request {
        let votes = [first, first + 1].map { CastVoteRequest(postID: $0, direction: .up) }
        return .batchCastVotes(BatchCastVotesRequest(votes: votes))
    }

    @Test(
        "T-SEQ-8: what is left of a device's batch is counted for the device only",
        arguments: [0, 1]
    )
    func countsNothingForAnotherCaller(minimumRevision: UInt64) async throws {
        try await withAccounts { port in
            let client = try Support.connect(port)
            func send(_ request: Request) throws -> ServerFrame {
                // A revision keeps the batch from the fast path.
                try client.send(
                    ClientFrame(
                        id: client.nextID(),
                        request: request,
                        sequence: 1,
                        minimumRevision: minimumRevision
                    )
                )
                return try #require(try client.receive())
            }
            let first = try client.createPost(title: "a")
            let batch = Self.batch(first)
            let before = try Self.results(send(batch))
            #expect(before.map { $0.status?.reason } == [nil, .postNotFound])
            #expect(try client.createPost(title: "b") == first + 1)
            let token = try client.signUp("ann@example.org").session.token
            for _ in 0..<2 {
                let after = try Self.results(send(batch))
                #expect(after[0].vote?.upvoteCount == 1)
                #expect(after[1].status?.reason == .sequenceReused)
                #expect(after[1].status?.isNotExecuted == true)
            }
            #expect(try client.call(.signOut(SignOutRequest())).status == nil)
            let own = try Self.results(send(batch))
            #expect(own.map { $0.vote?.upvoteCount } == [1, 1])
            // Whole now, so that it is a repeat for anybody.
            _ = try client.call(
                .hello(HelloRequest(clientID: Support.clientID, sessionToken: token))
            )
            #expect(try Self.results(send(batch)).map { $0.vote?.upvoteCount } == [1, 1])
        }
    }

    @Test("T-SEQ-8: what is left of a user's batch is counted for that user only")
    func countsNothingForAnotherUser() async throws {
        try await withAccounts { port in
            let client = try Support.connect(port)
            let first = try client.createPost(title: "a")
            let batch = Self.batch(first)
            let ann = try client.signUp("ann@example.org").session
            #expect(try Self.results(client.call(batch, sequence: 1))[1].status != nil)
            #expect(try client.createPost(title: "b") == first + 1)
            let ben = try client.signUp("ben@example.org").session
            #expect(ben.user != ann.user)
            #expect(try client.call(batch, sequence: 1).status?.reason == .sequenceReused)
            _ = try client.call(.hello(HelloRequest(clientID: Support.clientID)))
            #expect(try client.call(batch, sequence: 1).status?.reason == .sequenceReused)
            #expect(try client.vote(first + 1).upvoteCount == 1)
            _ = try client.signIn("ann@example.org")
            let own = try Self.results(client.call(batch, sequence: 1))
            #expect(own.map { $0.vote?.upvoteCount } == [1, 2])
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
