import Dispatch
import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// Pages that are served again as long as nothing on them has changed.
@Suite(.timeLimit(.minutes(10))) struct KeptPageTests {
    /// A change that a device makes at a post, and who sees it on the first page.
    struct Change: Sendable, CustomTestStringConvertible {
        enum Readers { case all, itself, nobody }

        var testDescription: String
        var readers = Readers.all
        var make: @Sendable (WireClient, PostID) throws -> Void

        init(
            _ description: String,
            seenBy readers: Readers = .all,
            _ make: @escaping @Sendable (WireClient, PostID) throws -> Void
        ) {
            testDescription = description
            self.readers = readers
            self.make = make
        }
    }

    /// The device has a ballot on the post before, and has read it.
    static let changes = [
        Change("a ballot") { _ = try $0.vote($1) },
        Change("a ballot on the last post") { _ = try $0.vote($1.advanced(by: -1), .down) },
        Change("a ballot that is changed") { _ = try $0.vote($1.advanced(by: 1), .down) },
        Change("a ballot that is taken back") { _ = try $0.vote($1.advanced(by: 1), .clear) },
        Change("a batch of ballots") { client, id in
            let votes = [CastVoteRequest(postID: id, direction: .up)]
            _ = try client.call(.batchCastVotes(BatchCastVotesRequest(votes: votes)))
        },
        Change("a post that is read", seenBy: .itself) { try mark([$1], .read, $0) },
        Change("a mark that is taken back", seenBy: .itself) {
            try mark([$1.advanced(by: 1)], .unread, $0)
        },
        Change("a post that is dismissed", seenBy: .itself) { try mark([$1], .dismissed, $0) },
        Change("a new post") { client, _ in
            _ = try client.createPost(title: "new", feed: "polls")
        },
        Change("an edit") { (client, id) throws in
            let post = Post(id: id, title: "another")
            let update = UpdatePostRequest(post: post, updateMask: [.title])
            #expect(try client.call(.updatePost(update)).status == nil)
        },
        Change("a deleted post") { (client, id) throws in
            #expect(try client.call(.deletePost(DeletePostRequest(id: id))).status == nil)
        },
        Change("an import") { (client, _) throws in
            // Within each window.
            let known = try client.list(ListPostsRequest(feed: "polls")).posts
            let time = try #require(known.first).createTimeMilliseconds
            let posts = [Post(title: "imported", createTimeMilliseconds: time)]
            let request = ImportPostsRequest(feed: "polls", posts: posts)
            #expect(try client.call(.importPosts(request)).status == nil)
        },
        Change("a post of another feed", seenBy: .nobody) { client, _ in
            _ = try client.createPost(title: "elsewhere", feed: "posts")
        },
    ]

    private static func mark(_ ids: [PostID], _ mark: Mark, _ client: WireClient) throws {
        let request = MarkPostsRequest(feed: "polls", mark: mark, postIDs: ids)
        #expect(try client.call(.markPosts(request)).status == nil)
    }

    /// An order, and the posts of all time or of a window.
    struct List: Sendable, CustomTestStringConvertible {
        let order: Order
        var window = Window.unspecified

        var testDescription: String { "\(order) \(window)" }
    }

    static let lists =
        [.top, .new, .hot, .old, .best, .discussed, .rising].map { List(order: $0) }
        + [List(order: .top, window: .week), List(order: .controversial, window: .hour)]

    @Test(arguments: changes, lists)
    func showsEachChange(_ change: Change, _ list: List) async throws {
        var configuration = OperatorAddressTests.configuration(.loopback(port: 0))
        configuration.threadCount = 1
        let server = try OperatorAddressTests.start(configuration)
        let port = try #require(server.addresses.first?.port)
        let admin = try #require(server.adminAddress?.port)
        let served = "feed_kept_pages_served_total"
        try await offload {
            let readers = try (0..<3).map { _ in try WireClient(port: port) }
            for (number, reader) in readers.enumerated().dropFirst() {
                _ = try reader.hello(clientID: [UInt8](repeating: UInt8(number), count: 16))
            }
            let device = readers[1]
            let feed = Feed(name: "polls", voteMode: .ballot, voters: .devices)
            _ = try device.call(.createFeed(CreateFeedRequest(feed: feed)))
            var ids: [PostID] = []
            for title in ["a", "b", "c"] {
                ids.append(try device.createPost(title: title, feed: "polls"))
            }
            _ = try device.vote(ids[2])
            try Self.mark([ids[2]], .read, device)
            let (order, window) = (list.order, list.window)
            let request = ListPostsRequest(feed: "polls", order: order, window: window, pageSize: 5)
            let before = try readers.map { try $0.list(request) }
            for (reader, page) in zip(readers, before) { #expect(try reader.list(request) == page) }
            #expect(try OperatorAddressTests.value(served, admin) == 5)

            try change.make(device, ids[1])
            // A page from a rank is not kept.
            let apart = ListPostsRequest(
                feed: "polls",
                order: order,
                window: window,
                pageSize: 5,
                start: .rank(1)
            )
            for (number, reader) in readers.enumerated() {
                let after = try reader.list(request)
                let isSeen =
                    change.readers == .all || (change.readers == .itself && reader === device)
                #expect((after.posts != before[number].posts) == isSeen, "reader \(number)")
                #expect(try reader.list(apart).posts == after.posts, "reader \(number)")
                #expect(try reader.list(request).posts == after.posts, "reader \(number)")
            }
            #expect(try OperatorAddressTests.value(served, admin) ?? 0 >= 8)
            let bytes = try OperatorAddressTests.value("feed_kept_page_bytes", admin) ?? 0
            #expect(bytes > 40 && bytes < 1_000)
        }
        try await server.drain()
    }

    private static let readerCount = 3
    private static let roundCount = 500
    /// So many that most are served as they are kept.
    private static let pagesAVote = 8

    /// Each thread votes, and then reads pages that must show each vote that any of them knows to be
    /// answered.
    @Test(arguments: lists.filter { ![.old, .discussed].contains($0.order) })
    func showsEachVoteThatWasAnswered(_ list: List) async throws {
        let (order, window) = (list.order, list.window)
        try await withService(threads: 2) { port in
            let maker = try WireClient(port: port)
            let ids = try (0..<200).map { try maker.createPost(title: "\($0)") }
            let answered = Locked([PostID: UInt64]())
            let failures = Locked<[String]>([])
            let request = ListPostsRequest(
                feed: "posts",
                order: order,
                window: window,
                pageSize: 10
            )
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

    /// A device votes over one connection and reads over two: on each page its ballot is the count.
    @Test func showsBallotsWithTheirCounts() async throws {
        try await withService(threads: 2) { port in
            let clients = try (0..<2).map { _ in try WireClient(port: port) }
            for (channel, client) in clients.enumerated() {
                _ = try client.hello(
                    clientID: [UInt8](repeating: 7, count: 16),
                    channel: UInt32(channel)
                )
            }
            let feed = Feed(name: "polls", voteMode: .ballot, voters: .devices)
            _ = try clients[0].call(.createFeed(CreateFeedRequest(feed: feed)))
            let ids = try (0..<8).map { try clients[0].createPost(title: "\($0)", feed: "polls") }
            let request = ListPostsRequest(feed: "polls", order: .new, pageSize: 10)
            let failures = Locked<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 2) { number in
                do {
                    var random = SeededGenerator(seed: 5)
                    var ups: Set<PostID> = []
                    for _ in 0..<4 * Self.roundCount {
                        let id = ids[Int.random(in: 0..<ids.count, using: &random)]
                        if number == 0 {
                            let isUp = ups.remove(id) == nil
                            if isUp { ups.insert(id) }
                            _ = try clients[0].vote(id, isUp ? .up : .clear)
                        }
                        for post in try clients[number].list(request).posts {
                            let isUp = post.viewer?.vote == .up
                            let isRight =
                                post.upvoteCount == (isUp ? 1 : 0)
                                && (number == 1 || isUp == ups.contains(post.id))
                            guard !isRight else { continue }
                            failures.withLock { $0.append("\(number): \(post)") }
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
        _ known: [PostID: UInt64],
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

/// Which pages are kept beside each other.
@Suite(.timeLimit(.minutes(10))) struct KeptPagePlaceTests {
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
        try await server.drain()
    }

    /// Lists that have a page in common but for their order, window, feed or size.
    @Test func tellsPagesApart() async throws {
        try await withClient(threads: 1) { client in
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

@Suite(.timeLimit(.minutes(10))) struct PageTokenTests {
    /// The token of a filtered list of one device is cut so that its scope reads as the end of a title
    /// and the scope of another list of another device.
    @Test("T-CALL-10: a token's title ends where it ended")
    func refusesATokenThatIsCutElsewhere() async throws {
        try await withClient { client in
            for _ in 0..<3 {
                let request = CreatePostRequest(post: Post(title: "post"))
                try client.send(
                    ClientFrame(
                        id: client.nextID(),
                        request: .createPost(request),
                        actingUserID: .ofService(0)
                    )
                )
                #expect(try client.receive()?.status == nil)
            }
            // The scope: order, feed, 1, device, 0x11, author, flags. Its last 26 bytes are those of the
            // front page in TOP, of the device of the rest.
            let front = [UInt8](repeating: 0xFF, count: 8)
            let device: [UInt8] = [1] + front + [1] + [UInt8](repeating: 5, count: 6)
            let author: [UInt8] = [0x80, 0, 0, 0, 0, 0, 0, 0]
            _ = try client.hello(clientID: device)
            let filtered = ListPostsRequest(order: .new, pageSize: 1, authorID: .ofService(0))
            let token = try client.list(filtered).nextPageToken
            #expect(token.count >= 42)
            let cut: [UInt8] = Array(token[..<(token.count - 8)]) + [2] + front + [1]
            let checksum = Array(token[(token.count - 8)...])
            let other: [UInt8] = Array(device[10...]) + [0x11] + author + [0]
            #expect(other.count == 16)
            _ = try client.hello(clientID: other)
            let request = ListPostsRequest(order: .top, pageToken: cut + checksum)
            let answer = try client.call(.listPosts(request))
            #expect(answer.status?.reason == .pageTokenMismatch)
        }
    }
}
