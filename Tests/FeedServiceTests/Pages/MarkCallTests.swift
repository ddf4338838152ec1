import FeedProto
import FeedService
import FeedTestSupport
import Testing

/// MarkPosts, and what lists and posts show of marks.
@Suite(.timeLimit(.minutes(10)))
struct MarkCallTests {
    private static let device = [UInt8](1...16)

    private static func mark(
        _ client: WireClient,
        _ request: MarkPostsRequest,
        sequence: UInt64 = 0
    ) throws -> UInt64 {
        let answer = try client.call(.markPosts(request), sequence: sequence)
        guard case .markPosts(let response) = answer.response else {
            throw MarkRefusal(status: answer.status)
        }
        return response.unreadCount
    }

    private struct MarkRefusal: Error {
        var status: Status?
    }

    @Test("T-MARK-1: read and dismissed posts are shown, counted and left out")
    func marksPosts() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            _ = try client.hello(clientID: Self.device)
            for number in 0..<10 { _ = try client.createPost(title: "post \(number)") }
            let read = MarkPostsRequest(feed: "posts", mark: .read, postIDs: [1, 2, 3])
            #expect(try Self.mark(client, read) == 7)
            let dismissed = MarkPostsRequest(mark: .dismissed, postIDs: [3, 4])
            #expect(try Self.mark(client, dismissed) == 6)
            func ids(_ request: ListPostsRequest) throws -> [UInt64] {
                try client.list(request).posts.map(\.id)
            }
            #expect(try ids(ListPostsRequest(order: .old)) == [1, 2] + Array(5...10))
            #expect(try ids(ListPostsRequest(order: .old, unreadOnly: true)) == Array(5...10))
            let all = ListPostsRequest(order: .old, includesDismissed: true)
            let viewers = try client.list(all).posts.map(\.viewer)
            #expect(viewers[2] == Viewer(isRead: true, isDismissed: true))
            #expect(viewers[3] == Viewer(isRead: false, isDismissed: true))
            #expect(viewers[4] == Viewer())
            guard case .post(let post) = try client.call(.getPost(GetPostRequest(id: 3))).response
            else { return #expect(Bool(false)) }
            #expect(post.viewer == Viewer(isRead: true, isDismissed: true))
            // Nobody else sees them.
            let other = try WireClient(port: port)
            #expect(try other.list(ListPostsRequest(order: .old)).posts.count == 10)
            #expect(try other.list(ListPostsRequest(order: .old)).posts[0].viewer == nil)
        }
    }

    @Test("T-MARK-2: all posts up to one are dismissed, and restored")
    func marksThroughAPost() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            _ = try client.hello(clientID: Self.device)
            for number in 0..<10 { _ = try client.createPost(title: "post \(number)") }
            var request = MarkPostsRequest(feed: "posts", mark: .dismissed, throughPostID: 8)
            #expect(try Self.mark(client, request) == 2)
            let list = ListPostsRequest(order: .old)
            #expect(try client.list(list).posts.map(\.id) == [9, 10])
            request.mark = .restored
            request.throughPostID = 4
            #expect(try Self.mark(client, request) == 6)
            #expect(try client.list(list).posts.map(\.id) == [1, 2, 3, 4, 9, 10])
            guard case .listFeeds(let feeds) = try client.call(.listFeeds).response else {
                return #expect(Bool(false))
            }
            #expect(feeds.feeds.map(\.unreadCount) == [6, 0])
            #expect(feeds.feeds.map(\.postCount) == [10, 0])
        }
    }

    @Test("T-MARK-3: marks need an identity, one of two fields, and posts that exist")
    func refusesMarks() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            _ = try client.createPost(title: "post")
            func reason(_ request: MarkPostsRequest) throws -> Reason? {
                try client.call(.markPosts(request)).status?.reason
            }
            let one = MarkPostsRequest(mark: .read, postIDs: [1])
            #expect(try reason(one) == .identityRequired)
            let unread = ListPostsRequest(unreadOnly: true)
            let refusal = try client.call(.listPosts(unread)).status
            #expect(refusal?.reason == .identityRequired)
            #expect(refusal?.message.hasPrefix("unread_only needs a viewer: ") == true)
            _ = try client.hello(clientID: Self.device)
            #expect(try reason(one) == nil)
            #expect(try reason(MarkPostsRequest(mark: .read)) == .badField)
            let both = MarkPostsRequest(mark: .read, postIDs: [1], throughPostID: 1)
            #expect(try reason(both) == .badField)
            let many = MarkPostsRequest(mark: .read, postIDs: Array(1...101))
            #expect(try reason(many) == .batchTooLarge)
            #expect(try reason(MarkPostsRequest(mark: .unspecified, postIDs: [1])) == .badField)
            let missing = MarkPostsRequest(mark: .read, throughPostID: 99)
            #expect(try reason(missing) == .postNotFound)
            let feed = MarkPostsRequest(feed: "none", mark: .read, postIDs: [1])
            #expect(try reason(feed) == .feedNotFound)
            let foreign = MarkPostsRequest(feed: "tweets", mark: .read, throughPostID: 1)
            #expect(try reason(foreign) == .postNotFound)
        }
    }

    @Test("T-MARK-4: a repeated MarkPosts is executed once, and answered with the count of now")
    func repeatsAreExecutedOnce() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            _ = try client.hello(clientID: Self.device)
            for number in 0..<5 { _ = try client.createPost(title: "post \(number)") }
            let read = MarkPostsRequest(mark: .read, postIDs: [1, 2])
            #expect(try Self.mark(client, read, sequence: 1) == 3)
            let unread = MarkPostsRequest(mark: .unread, postIDs: [1])
            #expect(try Self.mark(client, unread, sequence: 2) == 4)
            #expect(try Self.mark(client, read, sequence: 1) == 4)
            let page = try client.list(ListPostsRequest(order: .old))
            #expect(page.posts[0].viewer == Viewer())
        }
    }
}
