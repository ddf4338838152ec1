import Dispatch
import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// Pages that are served again as long as nothing on them has changed.
@Suite(.timeLimit(.minutes(10)))
struct KeptPageTests {
    /// A change that a device makes at a post, and who sees it on the first page.
    struct Change: Sendable, CustomTestStringConvertible {
        enum Readers { case all, itself, nobody }

        var testDescription: String
        var readers = Readers.all
        var make: @Sendable (WireClient, UInt64) throws -> Void

        init(
            _ description: String,
            seenBy readers: Readers = .all,
            _ make: @escaping @Sendable (WireClient, UInt64) throws -> Void
        ) {
            testDescription = description
            self.readers = readers
            self.make = make
        }
    }

    /// The device has a ballot on the post before, and has read it.
    static let changes = [
        Change("a ballot") { _ = try $0.vote($1) },
        Change("a ballot on the last post") { _ = try $0.vote($1 - 1, .down) },
        Change("a ballot that is changed") { _ = try $0.vote($1 + 1, .down) },
        Change("a ballot that is taken back") { _ = try $0.vote($1 + 1, .clear) },
        Change("a batch of ballots") { client, id in
            let votes = [CastVoteRequest(postID: id, direction: .up)]
            _ = try client.call(.batchCastVotes(BatchCastVotesRequest(votes: votes)))
        },
        Change("a post that is read", seenBy: .itself) { try mark([$1], .read, $0) },
        Change("a mark that is taken back", seenBy: .itself) { try mark([$1 + 1], .unread, $0) },
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

    private static func mark(_ ids: [UInt64], _ mark: Mark, _ client: WireClient) throws {
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
            var ids: [UInt64] = []
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
        server.beginDraining()
        try await offload { server.wait() }
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
            let answered = Locked([UInt64: UInt64]())
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
                    var ups: Set<UInt64> = []
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
