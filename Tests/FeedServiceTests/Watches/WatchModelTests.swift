import FeedConcurrency
import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// Copies that follow watches become what the lists are.
@Suite(.timeLimit(.minutes(10))) struct WatchModelTests {
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
                let post = PostID(rawValue: .random(in: 1...writer.lastID, using: &random))
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

    /// Lists of one viewer, and of an author's posts.
    private static let filtered: [WatchPostsRequest] = [
        WatchPostsRequest(
            feed: "posts",
            order: .top,
            topCount: 5,
            unreadOnly: true,
            excludesDismissed: true
        ),
        WatchPostsRequest(order: .new, topCount: 10, excludesDismissed: true),
        WatchPostsRequest(feed: "posts", order: .hot, topCount: 20, unreadOnly: true),
        WatchPostsRequest(feed: "posts", order: .top, topCount: 5, authorID: author),
        WatchPostsRequest(order: .old, topCount: 20, authorID: author, unreadOnly: true),
    ]
    private static let author = UserID.ofService(7)

    /// Another connection of the device marks posts; no change of a post follows.
    @Test("T-WATCH-1: a copy of a list with a filter equals the list", arguments: [1, 2, 3])
    func copiesEqualTheirFilteredLists(seed: UInt64) async throws {
        let clock = ManualClock()
        try await withService(threads: 2) {
            $0.loopClock = clock
        } _: { port in
            var random = SeededGenerator(seed: seed)
            let writer = try WatchChanges(port: port)
            let hello = HelloRequest(clientID: Array(repeating: 7, count: 16))
            let phone = try WireClient(port: port)
            _ = try phone.call(.hello(hello))
            for number in 0..<10 {
                let post = CreatePostRequest(feed: "posts", post: Post(title: "own \(number)"))
                var frame = ClientFrame(id: phone.nextID(), request: .createPost(post))
                frame.actingUserID = Self.author
                try phone.send(frame)
                _ = try phone.receive()
            }
            let watcher = try WatchingClient(port: port)
            // The first watches begin before the viewer has any mark.
            try watcher.call(.hello(hello))
            let ids = try Self.filtered.map { try watcher.watch($0) }
            for round in 0..<30 {
                if random.oneIn(2) { try writer.change(&random) }
                var mark = MarkPostsRequest(mark: Self.marks.randomElement(using: &random) ?? .read)
                let posts = (0..<3).map { _ in
                    PostID(rawValue: .random(in: 1...31, using: &random))
                }
                if random.oneIn(6) { mark.throughPostID = posts[0] } else { mark.postIDs = posts }
                // A mark through a post that is gone is refused.
                _ = try phone.call(.markPosts(mark))
                try watcher.advance(clock)
                for (id, list) in zip(ids, Self.filtered) {
                    let page = try watcher.page(list).map(\.id)
                    let copy = try #require(watcher.copies[id])
                    #expect(copy.list.map(\.id) == page, "seed \(seed), round \(round), \(list)")
                }
            }
            for id in ids { #expect(watcher.copies[id]?.end == nil) }
        }
    }

    private static let marks: [Mark] = [.read, .unread, .dismissed, .restored]

    @Test func aWatchOfUnreadPostsNeedsAViewer() async throws {
        try await withWatching { watcher, _ in
            let request = WatchPostsRequest(feed: "posts", topCount: 5, unreadOnly: true)
            let id = try watcher.watch(request)
            #expect(watcher.copies[id]?.end?.reason == .identityRequired)
            // Without a viewer nothing is dismissed.
            let shown = try watcher.watch(
                WatchPostsRequest(feed: "posts", topCount: 5, excludesDismissed: true)
            )
            #expect(watcher.copies[shown]?.end == nil)
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
            let posts = (1...writer.lastID).map(PostID.init(rawValue:)) + [999_999, 1]
            let id = try watcher.watch(WatchPostsRequest(postIDs: posts))
            for round in 0..<20 {
                for _ in 0..<5 { try writer.change(&random) }
                try watcher.advance(clock)
                let answer = try watcher.call(
                    .batchGetPosts(BatchGetPostsRequest(ids: Array(posts.dropLast())))
                )
                guard case .batchGetPosts(let batch) = answer.response
                else { throw Unexpected("A batch is refused.") }
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
    private var live: [PostID] = []
    private var tallies: Set<PostID> = []
    private(set) var lastID: UInt64 = 0
    private(set) var createdCount: [String: Int] = [:]
    /// Creates a feed of ballots and some posts.
    init(port: UInt16) throws {
        client = try WireClient(port: port)
        let feed = Feed(name: "ballots", voteMode: .ballot)
        _ = try client.call(.createFeed(CreateFeedRequest(feed: feed)))
        for number in 0..<20 { try create("first \(number)", in: "posts") }
        try create("ballot", in: "ballots")
    }

    func create(_ title: String, in feed: String) throws {
        let id = try client.createPost(title: title, feed: feed)
        lastID = id.rawValue
        live.append(id)
        if feed == "posts" { tallies.insert(id) }
        createdCount[feed, default: 0] += 1
    }

    /// Whether each vote on a post changes it.
    func isTally(_ post: PostID) -> Bool { tallies.contains(post) }

    /// Votes on a post; a refusal does no harm.
    func vote(_ post: PostID, _ direction: VoteDirection) throws {
        _ = try client.call(.castVote(CastVoteRequest(postID: post, direction: direction)))
    }

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

@Suite struct WatchScheduleTests {
    private static func instant(_ milliseconds: Int) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: UInt64(milliseconds) * 1_000_000)
    }

    @Test(arguments: 1...5)
    func membersAreTakenOnceAndNotBeforeTheyAreDue(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var now = 12_345
        var schedule = WatchSchedule<Int>(at: Self.instant(now))
        var due: [Int: Int] = [:]
        for member in 0..<500 {
            let instant = now + Int.random(in: -20...1_000, using: &random)
            due[member] = instant
            schedule.add(member, in: schedule.tick(forDue: Self.instant(instant)))
            now += Int.random(in: 0...30, using: &random)
            if random.oneIn(20) { now += 3_000 }
            for (taken, _) in schedule.takeDue(at: Self.instant(now)) {
                #expect(due.removeValue(forKey: taken) ?? .max <= now)
            }
            // A member is late by a tick at most, and by two more where it was due before it came. No tick
            // has a crowd here.
            #expect(due.values.allSatisfy { $0 + 30 > now })
        }
        #expect(Set(schedule.takeDue(at: Self.instant(now + 2_000)).map(\.member)) == Set(due.keys))
    }

    /// 600 members that came together, each due again 250 ms after it was taken: after twenty rounds
    /// no 10 ms have more than twice what they would have if all were alike, and few are late.
    @Test func membersThatCameTogetherSpread() {
        let count = 600
        let interval = 250
        var schedule = WatchSchedule<Int>(at: Self.instant(0))
        for member in 0..<count {
            schedule.add(member, in: schedule.tick(forDue: Self.instant(interval)))
        }
        var due = Array(repeating: interval, count: count)
        var mostInTick = 0
        var takenCount = 0
        var lateCount = 0
        for now in stride(from: 0, through: 21 * (interval + 20), by: 10) {
            let taken = schedule.takeDue(at: Self.instant(now))
            var lateInTick = 0
            for (member, _) in taken {
                #expect((0...20).contains(now - due[member]))
                if now > due[member] { lateInTick += 1 }
                due[member] = now + interval
                schedule.add(member, in: schedule.tick(forDue: Self.instant(due[member])))
            }
            guard now > 20 * (interval + 20) else { continue }
            mostInTick = max(mostInTick, taken.count)
            takenCount += taken.count
            lateCount += lateInTick
        }
        #expect((1...2 * count * 10 / interval).contains(mostInTick))
        #expect(lateCount * 4 < takenCount)
    }

    /// So few as are served together anyway are not late.
    @Test func aFewMembersAreNotLate() {
        var schedule = WatchSchedule<Int>(at: Self.instant(0))
        let tick = WatchTick.number(from: Self.instant(250))
        for member in 0..<8 {
            #expect(schedule.tick(forDue: Self.instant(250)) == tick)
            schedule.add(member, in: tick)
        }
        #expect(schedule.tick(forDue: Self.instant(250)) == tick + 1)
    }

    @Test func aMemberBeyondTheRingIsTakenEarly() {
        var schedule = WatchSchedule<Int>(at: Self.instant(0))
        let tick = schedule.tick(forDue: Self.instant(60_000))
        #expect(tick < WatchTick.number(from: Self.instant(60_000)))
        schedule.add(1, in: tick)
        #expect(schedule.takeDue(at: Self.instant(60_000)).map(\.tick) == [tick])
        #expect(schedule.takeDue(at: Self.instant(90_000)).isEmpty)
    }
}

/// A client that applies the events of its watches to copies of what it watches.
final class WatchingClient {
    struct Copy {
        var posts: [PostID: Post] = [:]
        /// The ids of the watched list, in order.
        var ranking: [PostID] = []
        /// The posts that were created in the list since the watch began.
        var newPostCount = 0
        var removed: [PostID] = []
        var frames: [ServerFrame] = []

        var events: [WatchPostsEvent] {
            frames.compactMap { frame in
                if case .watchPosts(let event) = frame.response { event } else { nil }
            }
        }

        /// Why the watch ended; nil while it lasts.
        var end: Status? { frames.last?.status }

        var list: [Post] { ranking.compactMap { posts[$0] } }

        mutating func apply(_ event: WatchPostsEvent) {
            if event.isReset { self = Copy(frames: frames) }
            for post in event.changed {
                guard post.feed.isEmpty else {
                    posts[post.id] = post
                    continue
                }
                // Only numbers: the client has the rest.
                posts[post.id]?.score = post.score
                posts[post.id]?.upvoteCount = post.upvoteCount
                posts[post.id]?.downvoteCount = post.downvoteCount
                posts[post.id]?.revision = post.revision
                posts[post.id]?.viewer = post.viewer
            }
            for id in event.removedIDs { posts[id] = nil }
            removed += event.removedIDs
            if !event.ranking.isEmpty { ranking = event.ranking }
            ranking.removeAll { event.removedIDs.contains($0) }
            newPostCount += Int(event.newPostCount)
        }
    }

    let client: WireClient
    var copies: [UInt64: Copy] = [:]
    var goAway: GoAway?

    init(port: UInt16, from source: UInt32? = nil, receiveBufferByteCount: Int32? = nil) throws {
        client = try WireClient(
            port: port,
            from: source,
            receiveBufferByteCount: receiveBufferByteCount
        )
    }

    /// Begins a watch and waits for its first frame.
    func watch(
        _ request: WatchPostsRequest,
        minimumRevision: UInt64 = 0,
        actingUserID: UserID = 0
    ) throws -> UInt64 {
        let id = client.nextID()
        try client.send(
            ClientFrame(
                id: id,
                request: .watchPosts(request),
                minimumRevision: minimumRevision,
                actingUserID: actingUserID
            )
        )
        copies[id] = Copy()
        while copies[id]?.frames.isEmpty == true { try receive() }
        return id
    }

    /// Makes a call and waits for its answer; events that come before it are applied.
    @discardableResult
    func call(_ request: Request) throws -> ServerFrame {
        let id = try client.send(request)
        while true { if let frame = try receive(), frame.id == id { return frame } }
    }

    /// Receives one frame, and applies it if it is an event; the frame is nil at the end of file.
    @discardableResult
    func receive() throws -> ServerFrame? {
        guard let frame = try client.receive() else { return nil }
        if case .goAway(let said) = frame.response { goAway = said }
        guard copies[frame.id] != nil else { return frame }
        copies[frame.id]?.frames.append(frame)
        if case .watchPosts(let event) = frame.response { copies[frame.id]?.apply(event) }
        return frame
    }

    /// Waits until the service has sent all events that were due.
    ///
    /// Events that are due when a call arrives leave in the loop iteration after it at the latest.
    func settle() throws { for _ in 0..<4 { try call(.ping(PingRequest())) } }

    /// Moves the clock and waits for the events that are due then.
    func advance(_ clock: ManualClock, by duration: Duration = .milliseconds(260)) throws {
        clock.advance(by: duration)
        try settle()
    }

    /// The first page of a list, as the caller sees it.
    func page(_ request: WatchPostsRequest) throws -> [Post] {
        let list = ListPostsRequest(
            feed: request.feed,
            order: request.order,
            window: request.window,
            pageSize: Int32(request.topCount),
            authorID: request.authorID,
            unreadOnly: request.unreadOnly,
            includesDismissed: !request.excludesDismissed
        )
        guard case .listPosts(let page) = try call(.listPosts(list)).response else { return [] }
        return page.posts
    }

    func watchCount() throws -> UInt64? {
        guard case .serverStats(let stats) = try call(.getServerStats).response else { return nil }
        return stats.watchCount
    }
}

/// Runs a service whose loops' clock the body moves, and a client of it.
func withWatching(
    _ body: @escaping @Sendable (WatchingClient, ManualClock) throws -> Void
) async throws {
    let clock = ManualClock()
    try await withService {
        $0.loopClock = clock
    } _: { port in
        try body(WatchingClient(port: port), clock)
    }
}
