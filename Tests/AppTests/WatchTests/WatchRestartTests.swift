import FeedClient
import FeedProto
import FeedTestSupport
import Testing

/// What an app that watches sees while the service is killed and started again.
@Suite(.timeLimit(.minutes(10))) struct WatchRestartTests {
    @Test("no change is lost where the service is killed", arguments: TestEnvironment.seeds(1...4))
    func noChangeIsLost(seed: UInt64) async throws {
        try await AppService.run { service in
            var random = SeededGenerator(seed: seed)
            let reader = try await service.launch()
            let writer = try await service.launch {
                $0.clientID = ClientID()
                $0.timeout = .seconds(60)
            }
            var ids: [PostID] = []
            for number in 0..<12 {
                ids.append(try await writer.createPost(PostDraft(title: "post \(number)")).id)
            }
            // The first post stays among the first: a vote on it is the end of each round.
            for _ in 0..<40 { try await writer.vote(on: ids[0], .up) }
            let singles = reader.watch(PostWatch(.posts(ids)), interval: .milliseconds(50))
            let top = reader.watch(
                PostWatch(.top(10), in: "posts", order: .top),
                interval: .milliseconds(50)
            )
            var singlesIterator = singles.makeAsyncIterator()
            var topIterator = top.makeAsyncIterator()
            _ = try await singlesIterator.next()
            _ = try await topIterator.next()

            for round in 0..<4 {
                let votes = (0..<30).map { _ in
                    (ids.randomElement(using: &random) ?? ids[0], !random.oneIn(3))
                }
                let deletes = round == 2
                let changes = Task { [last = ids[11]] in
                    for (id, isUp) in votes {
                        // A post that was deleted takes no votes.
                        _ = try? await writer.vote(on: id, isUp ? .up : .down)
                    }
                    if deletes { try await writer.deletePost(last) }
                    _ = try await writer.createPost(PostDraft(title: "round \(round)"))
                }
                // The service ends somewhere among the changes and events.
                for _ in 0..<Int.random(in: 0...20, using: &random) { try await reader.ping() }
                await service.kill()
                try await service.start()
                try await changes.value
                let marker = try await writer.vote(on: ids[0], .up).upvoteCount

                let shown = try await Self.posts(&singlesIterator, with: ids[0], marker)
                let posts = try await reader.getPosts(ids).posts
                #expect(shown == posts, "seed \(seed), round \(round)")
                let list = try await Self.posts(&topIterator, with: ids[0], marker)
                let page = try await reader.listPosts(in: "posts", order: .top, pageSize: 10)
                #expect(list == page.posts, "seed \(seed), round \(round)")
            }
            await reader.close()
            await writer.close()
        }
    }

    /// What a watch shows once it has the last vote of a round, in the order of now.
    private static func posts(
        _ iterator: inout WatchSequence.AsyncIterator,
        with id: PostID,
        _ upvoteCount: UInt64
    ) async throws -> [Post] {
        while var posts = try await iterator.next() {
            posts.refresh()
            if posts.rows.first(where: { $0.id == id })?.upvoteCount == upvoteCount {
                return posts.rows
            }
        }
        throw FeedClientError.closed
    }
}
