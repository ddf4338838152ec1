import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// Copies that follow watches become what the lists are.
@Suite(.timeLimit(.minutes(10)))
struct WatchModelTests {
    private static let lists: [WatchPostsRequest] = [
        WatchPostsRequest(feed: "posts", order: .top, topCount: 5),
        WatchPostsRequest(feed: "posts", order: .top, topCount: 20),
        WatchPostsRequest(feed: "posts", order: .new, topCount: 10),
        WatchPostsRequest(feed: "posts", order: .hot, topCount: 100),
        WatchPostsRequest(feed: "posts", order: .best, topCount: 10),
        WatchPostsRequest(feed: "ballots", order: .top, topCount: 10),
        WatchPostsRequest(feed: "posts", order: .discussed, window: .day, topCount: 10),
        WatchPostsRequest(order: .rising, topCount: 30),
    ]

    /// A watch of each list on an anonymous connection and on one of a device, while a third one changes
    /// posts.
    @Test("T-WATCH-1: after each interval a copy equals its list", arguments: [1, 2, 3, 4])
    func copiesEqualTheirLists(seed: UInt64) async throws {
        let clock = ManualClock()
        try await withService(threads: 2) {
            $0.loopClock = clock
        } _: { port in
            var random = SeededGenerator(seed: seed)
            let writer = try WatchChanges(port: port)
            for _ in 0..<15 { try writer.change(&random) }
            let createdBefore = writer.createdCount["posts", default: 0]
            let anonymous = try WatchingClient(port: port)
            let device = try WatchingClient(port: port)
            try device.call(.hello(HelloRequest(clientID: Array(repeating: 7, count: 16))))
            let watchers = [anonymous, device]
            let ids = try watchers.map { watcher in try Self.lists.map { try watcher.watch($0) } }
            for round in 0..<15 {
                for _ in 0..<8 { try writer.change(&random) }
                let post = UInt64.random(in: 1...writer.lastID, using: &random)
                try device.call(.castVote(CastVoteRequest(postID: post, direction: .up)))
                if random.oneIn(3), writer.isTally(post) {
                    // A mark alone is no change, so the vote follows it.
                    let mark = MarkPostsRequest(mark: .read, postIDs: [post])
                    try device.call(.markPosts(mark))
                    try writer.vote(post, .down)
                }
                for (watcher, ids) in zip(watchers, ids) {
                    try watcher.advance(clock)
                    for (id, list) in zip(ids, Self.lists) {
                        let page = try watcher.page(list)
                        let isEqual = watcher.copies[id]?.list == page
                        #expect(isEqual, "seed \(seed), round \(round), \(list.order)")
                    }
                }
            }
            let news = writer.createdCount["posts", default: 0] - createdBefore
            for (watcher, ids) in zip(watchers, ids) {
                #expect(watcher.copies[ids[0]]?.newPostCount == news)
                for id in ids {
                    #expect(
                        watcher.copies[id]?.events.dropFirst().contains(where: \.isReset) == false
                    )
                }
            }
        }
    }

    @Test("T-WATCH-1: a copy of single posts equals the posts, and loses those that are deleted")
    func copiesEqualTheirPosts() async throws {
        let clock = ManualClock()
        try await withService {
            $0.loopClock = clock
        } _: { port in
            var random = SeededGenerator(seed: 5)
            let writer = try WatchChanges(port: port)
            for _ in 0..<30 { try writer.change(&random) }
            let watcher = try WatchingClient(port: port)
            let posts = Array(1...writer.lastID) + [999_999, 1]
            let id = try watcher.watch(WatchPostsRequest(postIDs: posts))
            for round in 0..<20 {
                for _ in 0..<5 { try writer.change(&random) }
                try watcher.advance(clock)
                let answer = try watcher.call(
                    .batchGetPosts(BatchGetPostsRequest(ids: Array(posts.dropLast())))
                )
                guard case .batchGetPosts(let batch) = answer.response else {
                    Issue.record("A batch is refused.")
                    return
                }
                let copy = try #require(watcher.copies[id])
                let isEqual = copy.posts.values.sorted { $0.id < $1.id } == batch.posts
                #expect(isEqual, "round \(round)")
                // Each post is named once.
                #expect(copy.removed.sorted() == batch.missingIDs.sorted())
                #expect(copy.ranking.isEmpty && copy.newPostCount == 0)
            }
        }
    }
}

/// Random changes of posts over a connection of its own.
final class WatchChanges {
    private let client: WireClient
    private var live: [UInt64] = []
    private var tallies: Set<UInt64> = []
    /// The last id that was given.
    private(set) var lastID: UInt64 = 0
    /// The posts that were created, by feed.
    private(set) var createdCount: [String: Int] = [:]
    /// Creates a feed of ballots and some posts.
    init(port: UInt16) throws {
        client = try WireClient(port: port)
        let feed = Feed(name: "ballots", voteMode: .ballot)
        _ = try client.call(.createFeed(CreateFeedRequest(feed: feed)))
        for number in 0..<20 { try create("first \(number)", in: "posts") }
        try create("ballot", in: "ballots")
    }

    /// Creates a post.
    func create(_ title: String, in feed: String) throws {
        lastID = try client.createPost(title: title, feed: feed)
        live.append(lastID)
        if feed == "posts" { tallies.insert(lastID) }
        createdCount[feed, default: 0] += 1
    }

    /// Whether each vote on a post changes it.
    func isTally(_ post: UInt64) -> Bool { tallies.contains(post) }

    /// Votes on a post; a refusal does no harm.
    func vote(_ post: UInt64, _ direction: VoteDirection) throws {
        _ = try client.call(.castVote(CastVoteRequest(postID: post, direction: direction)))
    }

    /// Makes a change at random.
    func change(_ random: inout SeededGenerator) throws {
        let post = live[Int.random(in: 0..<live.count, using: &random)]
        switch Int.random(in: 0..<12, using: &random) {
        case 0: try create("new \(lastID)", in: random.oneIn(2) ? "posts" : "ballots")
        case 1 where live.count > 10:
            _ = try client.call(.deletePost(DeletePostRequest(id: post)))
            live.removeAll { $0 == post }
        case 2:
            let edited = Post(id: post, title: "edit \(lastID)", commentCount: lastID)
            let mask: [PostField] = [.title, .commentCount]
            _ = try client.call(.updatePost(UpdatePostRequest(post: edited, updateMask: mask)))
        default: try vote(post, random.oneIn(4) ? .down : .up)
        }
    }
}
