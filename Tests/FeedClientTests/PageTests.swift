import FeedClient
import FeedProto
import Testing

/// Pages and the sequence of posts over them.
@Suite(.timeLimit(.minutes(10)))
struct PageTests {
    @Test func leadsForthAndBack() async throws {
        try await withClient { client in
            try await Self.fill(client, 25)
            let first = try await client.listPosts(in: "posts", order: .old)
            #expect(first.posts.count == 20)
            #expect(first.previous == nil)
            #expect(first.firstRank == 1)
            #expect(first.totalSize == 25)
            let next = try #require(first.next)
            let second = try await client.listPosts(in: "posts", order: .old, from: .token(next))
            #expect(second.posts.count == 5)
            #expect(second.next == nil)
            #expect(second.firstRank == 21)
            let previous = try #require(second.previous)
            let back = try await client.listPosts(
                in: "posts",
                order: .old,
                from: .token(previous)
            )
            #expect(back.posts == first.posts)
        }
    }

    @Test func startsAroundAPostOrAtARank() async throws {
        try await withClient { client in
            let ids = try await Self.fill(client, 25)
            let around = try await client.listPosts(order: .old, from: .around(ids[22]))
            #expect(around.posts.contains { $0.id == ids[22] })
            let ranked = try await client.listPosts(order: .old, pageSize: 3, from: .rank(5))
            #expect(ranked.posts.map(\.id) == Array(ids[4..<7]))
        }
    }

    @Test(arguments: [0, 1, 7, 100])
    func walksEveryPostOnce(pageSize: Int) async throws {
        try await withClient { client in
            let ids = try await Self.fill(client, 23)
            var walked: [UInt64] = []
            for try await post in client.posts(order: .old, pageSize: pageSize) {
                walked.append(post.id)
            }
            #expect(walked == ids)
        }
    }

    @Test func walksAnEmptyFeed() async throws {
        try await withClient { client in
            for try await post in client.posts(in: "tweets") {
                Issue.record("An empty feed has \(post)")
            }
        }
    }

    @Test func aWalkGoesOnBehindAnEmptyPage() async throws {
        let script: ScriptedService.Script = { frame in
            guard case .listPosts(let request) = frame.request else { return [.reset] }
            let isFirst = request.pageToken.isEmpty
            let page = ListPostsResponse(
                posts: isFirst ? [] : [Post(id: 7)],
                nextPageToken: isFirst ? [1] : []
            )
            return [.answer(ServerFrame(id: frame.id, revision: 1, response: .listPosts(page)))]
        }
        try await withScript(script) { client, _ in
            var posts = client.posts().makeAsyncIterator()
            let first = try await posts.next()
            #expect(first?.id == 7)
            let end = try await posts.next()
            #expect(end == nil)
        }
    }

    @Test func aWalkEndsWithTheServicesRefusal() async throws {
        try await withClient { client in
            let error = await failure {
                var posts = client.posts(in: "nowhere").makeAsyncIterator()
                return try await posts.next()
            }
            guard case .refused(let status) = error else {
                Issue.record("A feed that is not there was read: \(String(describing: error))")
                return
            }
            #expect(status.reason == .feedNotFound)
        }
    }

    @discardableResult
    private static func fill(_ client: FeedClient, _ count: Int) async throws -> [UInt64] {
        var ids: [UInt64] = []
        for number in 0..<count {
            ids.append(try await client.createPost(Post(title: "post \(number)")).id)
        }
        return ids
    }
}
