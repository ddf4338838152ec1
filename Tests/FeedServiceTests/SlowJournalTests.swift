import FeedJournal
import FeedProto
import FeedService
import FeedState
import FeedTestSupport
import Testing

/// A disk that stands still for a while (T-DISK-5).
@Suite(.serialized, .timeLimit(.minutes(10)))
struct SlowJournalTests {
    @Test("no answer shows a change before it is durable: to no voter, reader or refused caller")
    func holdsAnswers() async throws {
        try await withGatedService { port, gate in
            let voter = try WireClient(port: port)
            let reader = try WireClient(port: port)
            let id = try voter.createPost(title: "a")
            let vote = Request.castVote(CastVoteRequest(postID: id, direction: .up))
            gate.close()
            try voter.send(vote)
            try gate.awaitHeldAnswer(port)
            #expect(voter.socket.receiveWithoutWaiting().isEmpty)
            // Once the commit of the second vote waits, all that came with it is executed, too.
            let requests = [
                Request.getPost(GetPostRequest(id: id)), .getPost(GetPostRequest(id: 99)), vote,
            ]
            try reader.socket.send(
                try requests.flatMap {
                    try ClientFrame(id: reader.nextID(), request: $0).encoded()
                }
            )
            gate.letOneThrough()
            gate.awaitCommit()
            #expect(try voter.receive()?.status == nil)
            try JournalGate.awaitIterations(port)
            #expect(reader.socket.receiveWithoutWaiting().isEmpty)
            gate.open()
            let answers = try (0..<3).map { _ in try reader.receive() }
            guard case .post(let post) = answers[0]?.response,
                case .castVote(let counts) = answers[2]?.response
            else {
                Issue.record("\(answers)")
                return
            }
            #expect(post.upvoteCount == 1)
            #expect(answers[1]?.status?.reason == .postNotFound)
            #expect(counts.upvoteCount == 2)
        }
    }

    @Test("answers of many sizes that waited come in order, those of a connection that left aside")
    func sendsWhatWaitedInOrder() async throws {
        try await withGatedService { port, gate in
            let voter = try WireClient(port: port)
            let large = try OverloadTests.createLargePost(voter)
            let small = try voter.createPost(title: "small")
            gate.close()
            try voter.send(.castVote(CastVoteRequest(postID: small, direction: .up)))
            gate.awaitCommit()
            let readers = try (0..<3).map { _ in try WireClient(port: port) }
            let count: UInt64 = 40
            for number in 1...count {
                let id = number.isMultiple(of: 3) ? small : large
                for reader in readers { try reader.send(.getPost(GetPostRequest(id: id))) }
            }
            readers[1].socket.reset()
            gate.open()
            for reader in [readers[0], readers[2]] {
                for number in 1...count {
                    let answer = try reader.receive()
                    #expect(answer?.id == number)
                    guard case .post(let post) = answer?.response else {
                        Issue.record("\(String(describing: answer))")
                        return
                    }
                    #expect(post.id == (number.isMultiple(of: 3) ? small : large))
                }
            }
            #expect(try voter.receive()?.status == nil)
            #expect(try voter.vote(small).upvoteCount == 2)
            #expect(try OverloadTests.stats(voter).bufferedByteCount == 0)
        }
    }

    @Test("an import for which the imports under way leave no room is refused unexecuted")
    func boundsImportsUnderWay() async throws {
        let directory = try TemporaryDirectory()
        try await withService {
            var state = StateOptions(path: directory.path, logCount: $0.threadCount)
            state.journal.space.ballastByteCount = 1 << 20
            // Records of 764 KiB: all imports together may log 350 KiB.
            state.journal.segmentByteCount = 1 << 20
            $0.state = state
        } _: { port in
            let client = try WireClient(port: port)
            let posts = [Post](
                repeating: Post(title: "import", text: String(repeating: "x", count: 10_000)),
                count: 40
            )
            let refusal = try client.call(.importPosts(ImportPostsRequest(posts: posts))).status
            #expect(refusal?.reason == .overloaded)
            #expect(refusal?.isNotExecuted == true)
            #expect(refusal?.retryAfterMilliseconds == 1000)
            // Refused imports take no room: imports that fit together are taken one by one.
            for number in 0..<10 {
                let request = ImportPostsRequest(posts: Array(posts.prefix(20)))
                let answer = try client.call(.importPosts(request))
                guard case .importPosts(let response) = answer.response else {
                    Issue.record("\(answer)")
                    return
                }
                #expect(response.ids.first == UInt64(20 * number + 1))
            }
            #expect(try OverloadTests.stats(client).postCount == 200)
        }
    }

    @Test(
        "T-DISK-5: the changes that wait for a slow disk are bounded, others are refused unexecuted"
    )
    func boundsWhatWaits() async throws {
        try await withGatedService { port, gate in
            let client = try WireClient(port: port)
            let id = try client.createPost(title: "a")
            gate.close()
            try client.send(.castVote(CastVoteRequest(postID: id, direction: .up)))
            gate.awaitCommit()
            // More than may wait by far: of 60 MB the kernel keeps some, and 24 MiB are taken.
            let text = String(repeating: "x", count: 10_000)
            let posts = [Post](repeating: Post(title: "import", text: text), count: 100)
            let frameCount = 60
            let importer = try WireClient(port: port)
            for _ in 0..<frameCount {
                try importer.send(.importPosts(ImportPostsRequest(posts: posts)))
            }
            gate.open()
            var taken: [UInt64] = []
            var refused = 0
            for _ in 0..<frameCount {
                let answer = try importer.receive()
                switch answer?.response {
                case .importPosts(let response): taken += response.ids
                default:
                    refused += 1
                    #expect(answer?.status?.reason == .overloaded)
                    #expect(answer?.status?.isNotExecuted == true)
                }
            }
            #expect(taken.count / 100 >= 24)
            #expect(refused >= 10)
            // At most one import more than the limit, which is looked at before each.
            #expect(gate.largestByteCount > 20 << 20)
            #expect(gate.largestByteCount < (24 << 20) + (2 << 20))
            // Then it serves as before, with the posts of its answers and no others.
            #expect(try client.receive()?.status == nil)
            let stats = try OverloadTests.stats(client)
            #expect(stats.postCount == UInt64(taken.count) + 1)
            #expect(try client.vote(id).upvoteCount == 2)
        }
    }
}
