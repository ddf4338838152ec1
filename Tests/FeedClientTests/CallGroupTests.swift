import FeedClient
import FeedProto
import FeedTestSupport
import Testing

/// Many calls that one task waits for.
@Suite(.timeLimit(.minutes(10)))
struct CallGroupTests {
    private static func posts(_ count: Int) -> [Post] {
        (0..<count).map { Post(title: "Post \($0)") }
    }

    @Test func createsPostsInOrderAndNamesTheFailedCalls() async throws {
        try await withClient { client in
            var posts = Self.posts(600)
            posts[7].title = String(repeating: "x", count: 256)
            let results = await client.createPosts(posts, in: "")
            #expect(results.count == 600)
            let ids = results.compactMap { try? $0.get().id }
            #expect(ids.count == 599)
            #expect(ids == ids.sorted())
            for (post, result) in zip(posts, results) {
                switch result {
                case .success(let created): #expect(created.title == post.title)
                case .failure(let error):
                    #expect(post.title == posts[7].title)
                    #expect(error.effect == CallEffect.none)
                }
            }
        }
    }

    @Test func makesNoCallForNoPosts() async throws {
        try await withScript(silence) { client, _ in
            #expect(await client.createPosts([], in: "").isEmpty)
        }
    }

    @Test func cancelsAllCallsOfItsTask() async throws {
        let createIDs = Locked<[UInt64]>([])
        // A vote is answered after all posts, so that a call that was not cancelled ends too.
        let script: ScriptedService.Script = { frame in
            guard case .createPost = frame.request else {
                let late = createIDs.withLock { $0 }
                    .map { ServerFrame(id: $0, revision: 1, response: .post(Post(id: 7))) }
                return late.map { .answer($0) } + [voteAnswer(frame)]
            }
            createIDs.withLock { $0.append(frame.id) }
            return []
        }
        try await withScript(script) { client, service in
            // The time limit ends the wait for a value of a stream, and not the one for a task.
            let (ends, log) = AsyncStream<[Result<Post, FeedClientError>]>.makeStream()
            let task = Task { log.yield(await client.createPosts(Self.posts(3), in: "")) }
            var frames = service.received.makeAsyncIterator()
            // Hello, and the three calls.
            for _ in 0..<4 { _ = await frames.next() }
            task.cancel()
            _ = try await client.vote(on: 7, .up)
            let failed = FeedClientError.cancelled(effect: .unknown)
            var results = ends.makeAsyncIterator()
            #expect(await results.next() == Array(repeating: .failure(failed), count: 3))
        }
    }

    @Test func endsCallsOfAClosedClient() async throws {
        let service = try await ScriptedService.start(silence)
        let client = try await FeedClient.connect(to: service.address)
        await client.close()
        let results = await client.createPosts(Self.posts(2), in: "")
        #expect(results == [.failure(.closed), .failure(.closed)])
        await service.stop()
    }
}
