import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// Which pages are kept beside each other.
@Suite(.timeLimit(.minutes(10)))
struct KeptPagePlaceTests {
    /// A further page is kept for each place at which it begins, and for all callers.
    @Test func keepsFurtherPages() async throws {
        var configuration = OperatorAddressTests.configuration(.loopback(port: 0))
        configuration.threadCount = 1
        let server = try OperatorAddressTests.start(configuration)
        let port = try #require(server.addresses.first?.port)
        let admin = try #require(server.adminAddress?.port)
        try await offload {
            let (client, device) = (try WireClient(port: port), try WireClient(port: port))
            _ = try device.hello(clientID: [UInt8](repeating: 1, count: 16))
            let ids = try (0..<9).map { try client.createPost(title: "\($0)") }
            for id in ids.dropLast(3) { _ = try client.vote(id) }
            /// The posts of three pages, of which each leads to the next.
            func walk(_ client: WireClient) throws -> [[Post]] {
                var request = ListPostsRequest(feed: "posts", order: .top, pageSize: 3)
                return try (0..<3).map { _ in
                    let page = try client.list(request)
                    request.pageToken = page.nextPageToken
                    return page.posts
                }
            }
            let served = "feed_kept_pages_served_total"
            let before = try walk(client)
            #expect(Set(before.joined().map(\.id)) == Set(ids))
            #expect(try OperatorAddressTests.value(served, admin) == 0)
            #expect(try walk(client) == before)
            #expect(try walk(device).map { $0.map(\.id) } == before.map { $0.map(\.id) })
            #expect(try OperatorAddressTests.value(served, admin) == 6)
            let last = try #require(before[2].last)
            _ = try client.vote(last.id)
            for reader in [client, device] {
                let after = try walk(reader).joined().first { $0.id == last.id }
                #expect(after?.upvoteCount == 1)
            }
        }
        server.beginDraining()
        try await offload { server.wait() }
    }

    /// Lists that have a page in common but for their order, window, feed or size.
    @Test func tellsPagesApart() async throws {
        try await withService(threads: 1) { port in
            let client = try WireClient(port: port)
            _ = try client.hello(clientID: [UInt8](repeating: 1, count: 16))
            let old = Post(title: "old", createTimeMilliseconds: 1)
            _ = try client.call(.importPosts(ImportPostsRequest(feed: "posts", posts: [old])))
            let feed = Feed(name: "polls", voteMode: .ballot, voters: .devices)
            _ = try client.call(.createFeed(CreateFeedRequest(feed: feed)))
            let ids = try ["posts", "polls", "posts"].map {
                try client.createPost(title: "new", feed: $0)
            }
            _ = try client.vote(ids[0])
            var requests: [ListPostsRequest] = []
            for list in KeptPageTests.lists {
                let request = ListPostsRequest(order: list.order, window: list.window)
                for (feed, size) in [("", 1), ("", 5), ("posts", 1), ("posts", 2)] {
                    requests.append(request)
                    requests[requests.count - 1].feed = feed
                    requests[requests.count - 1].pageSize = Int32(size)
                }
            }
            for request in requests { _ = try client.list(request) }
            for request in requests {
                var apart = request
                apart.start = .rank(1)
                let (kept, read) = (try client.list(request), try client.list(apart))
                #expect(kept.posts == read.posts, "\(request)")
                #expect(kept.totalSize == read.totalSize, "\(request)")
            }
        }
    }
}
