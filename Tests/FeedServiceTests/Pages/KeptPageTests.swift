import Dispatch
import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// First pages that are served again as long as nothing on them has changed.
@Suite(.timeLimit(.minutes(10)))
struct KeptPageTests {
    /// A change, and what the first page shows of it.
    struct Change: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var feed = "posts"
        /// Whether the page changes with it.
        var shows = true
        var make: @Sendable (WireClient, UInt64) throws -> Void
    }

    static let changes = [
        Change(testDescription: "a vote") { _ = try $0.vote($1) },
        Change(testDescription: "a vote for the last post") { _ = try $0.vote($1 - 2, .down) },
        Change(testDescription: "a batch of votes") { client, id in
            let votes = [CastVoteRequest(postID: id, direction: .up)]
            _ = try client.call(.batchCastVotes(BatchCastVotesRequest(votes: votes)))
        },
        Change(testDescription: "a new post") { client, _ in
            _ = try client.createPost(title: "new")
        },
        Change(testDescription: "an edit") { client, id in
            let post = Post(id: id, title: "another")
            let update = UpdatePostRequest(post: post, updateMask: [.title])
            _ = try client.call(.updatePost(update))
        },
        Change(testDescription: "a deleted post") { client, id in
            _ = try client.call(.deletePost(DeletePostRequest(id: id)))
        },
        Change(testDescription: "an import") { client, _ in
            let posts = [Post(title: "imported", upvoteCount: 9)]
            _ = try client.call(.importPosts(ImportPostsRequest(feed: "posts", posts: posts)))
        },
        Change(testDescription: "a post of another feed", shows: false) { client, _ in
            let post = Post(text: "elsewhere")
            let answer = try client.call(
                .createPost(CreatePostRequest(feed: "tweets", post: post))
            )
            #expect(answer.status == nil)
        },
    ]

    @Test(arguments: changes, [Order.top, .new, .hot, .old, .best, .discussed])
    func showsEachChange(_ change: Change, _ order: Order) async throws {
        var configuration = OperatorAddressTests.configuration(.loopback(port: 0))
        configuration.threadCount = 1
        let server = try OperatorAddressTests.start(configuration)
        let port = try #require(server.addresses.first?.port)
        let admin = try #require(server.adminAddress?.port)
        try await offload {
            let client = try WireClient(port: port)
            var last: UInt64 = 0
            for title in ["a", "b", "c"] { last = try client.createPost(title: title) }
            let request = ListPostsRequest(feed: change.feed, order: order, pageSize: 5)
            let first = try client.list(request)
            #expect(try client.list(request) == first)
            let served = "feed_kept_pages_served_total"
            #expect(try OperatorAddressTests.value(served, admin) == 1)
            try change.make(client, last)
            let after = try client.list(request)
            #expect((after.posts != first.posts) == change.shows)
            // A page that is not kept has the same posts.
            let apart = ListPostsRequest(
                feed: change.feed,
                order: order,
                pageSize: 5,
                includesDismissed: true
            )
            #expect(try client.list(apart).posts == after.posts)
            #expect(try client.list(request) == after)
            #expect(try OperatorAddressTests.value(served, admin) ?? 0 >= 2)
            let bytes = try OperatorAddressTests.value("feed_kept_page_bytes", admin) ?? 0
            #expect(bytes > 40 && bytes < 1_000)
        }
        server.beginDraining()
        try await offload { server.wait() }
    }

    @Test("a reader with an identity gets a page of its own")
    func viewersHaveTheirOwn() async throws {
        try await withService(threads: 1) { port in
            let anonymous = try WireClient(port: port)
            let viewer = try WireClient(port: port)
            _ = try viewer.hello(clientID: [UInt8](repeating: 7, count: 16))
            let id = try anonymous.createPost(title: "a")
            let request = ListPostsRequest(feed: "posts", order: .top)
            _ = try anonymous.list(request)
            let mark = MarkPostsRequest(feed: "posts", mark: .read, postIDs: [id])
            _ = try viewer.call(.markPosts(mark))
            #expect(try viewer.list(request).posts.first?.viewer?.isRead == true)
            #expect(try anonymous.list(request).posts.first?.viewer == nil)
        }
    }

    private static let readerCount = 3
    private static let roundCount = 500
    /// So many that most are served as they are kept.
    private static let pagesAVote = 8

    /// Each thread votes, and then reads pages that must show each vote that any of them knows to be
    /// answered.
    @Test(arguments: [Order.top, .new, .hot])
    func showsEachVoteThatWasAnswered(_ order: Order) async throws {
        try await withService(threads: 2) { port in
            let maker = try WireClient(port: port)
            let ids = try (0..<200).map { try maker.createPost(title: "\($0)") }
            let answered = Locked([UInt64: UInt64]())
            let failures = Locked<[String]>([])
            let request = ListPostsRequest(feed: "posts", order: order, pageSize: 10)
            DispatchQueue.concurrentPerform(iterations: Self.readerCount) { number in
                do {
                    let client = try WireClient(port: port)
                    var random = SeededGenerator(seed: UInt64(number))
                    for _ in 0..<Self.roundCount {
                        let choices = random.oneIn(2) ? 8 : ids.count
                        let id = ids[Int.random(in: 0..<choices, using: &random)]
                        let count = try client.vote(id).upvoteCount
                        answered.withLock { $0[id] = max($0[id] ?? 0, count) }
                        for _ in 0..<Self.pagesAVote {
                            let known = answered.withLock { $0 }
                            let missed = Self.missed(by: try client.list(request), known, order)
                            if !missed.isEmpty { failures.withLock { $0 += missed } }
                        }
                    }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
            #expect(failures.withLock { $0.prefix(5) } == [])
        }
    }

    /// What of the votes that were answered before a page was asked for it does not show.
    private static func missed(
        by page: ListPostsResponse,
        _ known: [UInt64: UInt64],
        _ order: Order
    ) -> [String] {
        var missed = page.posts.filter { $0.upvoteCount < known[$0.id] ?? 0 }
            .map { "\($0.id) has \($0.upvoteCount) of \(known[$0.id] ?? 0)" }
        guard order == .top, let last = page.posts.last else { return missed }
        let shown = Set(page.posts.map(\.id))
        // Votes move posts up alone, so one that had more than the last post is before it.
        for (id, count) in known where count > last.upvoteCount && !shown.contains(id) {
            missed.append("\(id) is missing with \(count)")
        }
        return missed
    }
}
