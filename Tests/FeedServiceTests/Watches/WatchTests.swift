import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// How watches begin, go on and end.
@Suite(.timeLimit(.minutes(10)))
struct WatchTests {
    private static func fill(_ client: WatchingClient, _ count: Int = 10) throws {
        for number in 0..<count { _ = try client.client.createPost(title: "post \(number)") }
    }

    @Test(
        "T-WATCH-2: a vote is sent as numbers, an edit as a whole post, and nothing without a change"
    )
    func eventsHaveWhatChanged() async throws {
        let clock = ManualClock()
        try await withService {
            $0.loopClock = clock
        } _: { port in
            let client = try WatchingClient(port: port)
            try Self.fill(client)
            let id = try client.watch(WatchPostsRequest(feed: "posts", order: .old, topCount: 5))
            let first = try #require(client.copies[id]?.events.first)
            #expect(first.isReset && first.changed.count == 5 && first.ranking == [1, 2, 3, 4, 5])
            #expect(client.copies[id]?.frames.first?.hasMore == true)
            try client.advance(clock)
            #expect(client.copies[id]?.frames.count == 1)
            for _ in 0..<3 { _ = try client.client.vote(2) }
            _ = try client.client.vote(9)
            try client.advance(clock)
            let vote = try #require(client.copies[id]?.events.last)
            #expect(vote.changed.count == 1 && vote.ranking.isEmpty && !vote.isReset)
            #expect(vote.changed.first?.title == "" && vote.changed.first?.score == 3)
            let edited = Post(id: 3, title: "edited")
            try client.call(.updatePost(UpdatePostRequest(post: edited, updateMask: [.title])))
            try client.advance(clock)
            let edit = try #require(client.copies[id]?.events.last)
            #expect(edit.changed.map(\.title) == ["edited"] && edit.changed.first?.feed == "posts")
            #expect(client.copies[id]?.frames.count == 3)
        }
    }

    @Test("T-WATCH-2: events keep the interval, which is at least 50 ms")
    func eventsKeepTheInterval() async throws {
        let clock = ManualClock()
        try await withService {
            $0.loopClock = clock
        } _: { port in
            let client = try WatchingClient(port: port)
            try Self.fill(client, 1)
            let intervals: [UInt32: UInt64] = try [
                0: client.watch(WatchPostsRequest(topCount: 1)),
                1: client.watch(WatchPostsRequest(topCount: 1, minimumIntervalMilliseconds: 1)),
                1000: client.watch(
                    WatchPostsRequest(topCount: 1, minimumIntervalMilliseconds: 1000)
                ),
                3000: client.watch(
                    WatchPostsRequest(postIDs: [1], minimumIntervalMilliseconds: 3000)
                ),
            ]
            var counts: [UInt32: Int] = [:]
            for _ in 0..<600 {
                _ = try client.client.vote(1)
                try client.advance(clock, by: .milliseconds(10))
            }
            for (interval, id) in intervals { counts[interval] = client.copies[id]?.events.count }
            // Six seconds, and the first events. An event may be late by a tick.
            #expect((24...25).contains(counts[0] ?? 0))
            #expect((101...121).contains(counts[1] ?? 0))
            #expect((6...7).contains(counts[1000] ?? 0))
            #expect((2...3).contains(counts[3000] ?? 0))
        }
    }

    @Test("T-WATCH-3: Cancel ends a watch with CANCELLED, and has no answer of its own")
    func cancelEndsAWatch() async throws {
        let clock = ManualClock()
        try await withService {
            $0.loopClock = clock
        } _: { port in
            let client = try WatchingClient(port: port)
            try Self.fill(client)
            let (one, other) = (
                try client.watch(WatchPostsRequest(topCount: 5)),
                try client.watch(WatchPostsRequest(topCount: 5))
            )
            try client.client.send(.cancel(CancelRequest(id: one)))
            try client.client.send(.cancel(CancelRequest(id: 999)))
            try client.settle()
            #expect(client.copies[one]?.end?.code == .cancelled)
            #expect(client.copies[one]?.end?.reason == .cancelled)
            #expect(client.copies[one]?.frames.last?.hasMore == false)
            _ = try client.client.vote(1)
            try client.advance(clock)
            #expect(client.copies[one]?.frames.count == 2)
            #expect(client.copies[other]?.frames.count == 2 && client.copies[other]?.end == nil)
            #expect(try client.watchCount() == 1)
        }
    }

    @Test("T-WATCH-3: watches begin and go on however often the last one has ended")
    func watchesBeginAgain() async throws {
        let clock = ManualClock()
        try await withService {
            $0.loopClock = clock
        } _: { port in
            let client = try WatchingClient(port: port)
            try Self.fill(client, 1)
            for round in 1...20 {
                let id = try client.watch(WatchPostsRequest(topCount: 1))
                _ = try client.client.vote(1)
                if round % 2 == 0 { try client.advance(clock) }
                // The cancel meets an event that is due, or none.
                clock.advance(by: .milliseconds(250))
                try client.client.send(.cancel(CancelRequest(id: id)))
                try client.advance(clock, by: .milliseconds(10))
                #expect(client.copies[id]?.end?.code == .cancelled)
                if round % 2 == 0 { #expect(client.copies[id]?.posts[1]?.score == Int64(round)) }
            }
        }
    }

    @Test("T-WATCH-4: a connection and the service have limits of watches, which ends give back")
    func watchesAreLimited() async throws {
        let lines = LoggedLines()
        try await withService(logger: lines.logger) {
            $0.limits.maximumWatchCount = 20
        } _: { port in
            let client = try WatchingClient(port: port)
            try Self.fill(client, 1)
            let watch = WatchPostsRequest(postIDs: [1])
            var ids: [UInt64] = []
            for _ in 0..<16 { ids.append(try client.watch(watch)) }
            let refused = try client.watch(watch)
            #expect(client.copies[refused]?.end?.reason == .tooManyWatches)
            #expect(client.copies[refused]?.end?.code == .resourceExhausted)
            let line = "warning: refused watch_posts from 127.0.0.1: TOO_MANY_WATCHES"
            #expect(lines.all.contains(line))
            let other = try WatchingClient(port: port)
            for _ in 0..<4 { #expect(try other.copies[other.watch(watch)]?.end == nil) }
            #expect(try other.copies[other.watch(watch)]?.end?.reason == .tooManyWatches)
            try client.client.send(.cancel(CancelRequest(id: ids[0])))
            try client.settle()
            #expect(try other.copies[other.watch(watch)]?.end == nil)
            #expect(try other.watchCount() == 20)
            other.client.socket.close()
            // The service has noticed the end of the other connection when its watches are gone.
            var askedCount = 0
            while try client.watchCount() != 15, askedCount < 100_000 { askedCount += 1 }
            #expect(askedCount < 100_000)
        }
    }

    @Test(
        "T-WATCH-4: what no watch can be is refused",
        arguments: [
            WatchPostsRequest(), WatchPostsRequest(topCount: 101),
            WatchPostsRequest(topCount: 1, postIDs: [1]),
            WatchPostsRequest(postIDs: Array(1...201)),
            WatchPostsRequest(order: .new, window: .day, topCount: 1),
        ]
    )
    func badWatchesAreRefused(request: WatchPostsRequest) async throws {
        try await withService { port in
            let client = try WatchingClient(port: port)
            let id = try client.watch(request)
            #expect(client.copies[id]?.end?.code == .invalidArgument)
            #expect(try client.watchCount() == 0)
            let unknown = try client.watch(WatchPostsRequest(feed: "none", topCount: 1))
            #expect(client.copies[unknown]?.end?.reason == .feedNotFound)
        }
    }

    @Test(
        "T-WATCH-5: a watch resumes with what has changed, and begins anew where that is not known"
    )
    func watchesResume() async throws {
        let clock = ManualClock()
        try await withService {
            $0.loopClock = clock
        } _: { port in
            let client = try WatchingClient(port: port)
            try Self.fill(client)
            let list = WatchPostsRequest(feed: "posts", order: .old, topCount: 10)
            let single = WatchPostsRequest(postIDs: [3, 4])
            let first = try client.watch(list)
            let revision = try #require(client.copies[first]?.frames.last?.revision)
            _ = try client.client.vote(4)
            _ = try client.client.vote(7)
            var resumed = list
            resumed.sinceRevision = revision
            let id = try client.watch(resumed)
            let event = try #require(client.copies[id]?.events.first)
            #expect(!event.isReset && event.changed.map(\.id) == [4, 7])
            #expect(event.changed.allSatisfy { $0.feed == "posts" } && event.ranking.count == 10)
            var posts = single
            posts.sinceRevision = revision
            let other = try client.watch(posts)
            let numbers = try #require(client.copies[other]?.events.first)
            #expect(!numbers.isReset && numbers.changed.map(\.id) == [4])
            #expect(numbers.changed.first?.feed == "")
            resumed.sinceRevision = 1_000_000
            let anew = try client.watch(resumed)
            #expect(client.copies[anew]?.events.first?.isReset == true)
            #expect(client.copies[anew]?.list.count == 10)
            // The watch goes on from there.
            _ = try client.client.vote(5)
            try client.advance(clock)
            #expect(client.copies[id]?.events.last?.changed.map(\.id) == [5])
        }
    }

    @Test("T-WATCH-6: watches of a session end with it, and those of others go on")
    func watchesEndWithTheirSession() async throws {
        let clock = ManualClock()
        try await withService {
            $0.loopClock = clock
        } _: { port in
            let client = try WatchingClient(port: port)
            try Self.fill(client, 1)
            let before = try client.watch(WatchPostsRequest(postIDs: [1]))
            let signUp = SignUpRequest(email: "a@example.org", password: "secret-1")
            #expect(try client.call(.signUp(signUp)).status == nil)
            let id = try client.watch(WatchPostsRequest(postIDs: [1]))
            #expect(client.copies[id]?.posts[1]?.viewer != nil)
            #expect(client.copies[before]?.posts[1]?.viewer == nil)
            try client.call(.signOut(SignOutRequest()))
            _ = try client.client.vote(1)
            try client.advance(clock)
            #expect(client.copies[id]?.end?.reason == .sessionExpired)
            #expect(client.copies[before]?.end == nil)
            #expect(client.copies[before]?.posts[1]?.score == 1)
        }
    }

    @Test("T-WATCH-6: a service sees the ballots of the user that it watches for")
    func servicesWatchForUsers() async throws {
        let clock = ManualClock()
        try await withService {
            $0.loopClock = clock
        } _: { port in
            let client = try WatchingClient(port: port)
            let feed = Feed(name: "ballots", voteMode: .ballot)
            try client.call(.createFeed(CreateFeedRequest(feed: feed)))
            _ = try client.client.createPost(title: "a", feed: "ballots")
            let (user, other): (UInt64, UInt64) = (1 << 63 | 1, 1 << 63 | 2)
            let request = WatchPostsRequest(feed: "ballots", order: .top, topCount: 1)
            let ids = try [user, other].map { try client.watch(request, actingUserID: $0) }
            let vote = CastVoteRequest(postID: 1, direction: .up)
            let frame = ClientFrame(
                id: client.client.nextID(),
                request: .castVote(vote),
                actingUserID: user
            )
            try client.client.send(frame)
            while try client.receive()?.id != frame.id {}
            try client.advance(clock)
            #expect(client.copies[ids[0]]?.posts[1]?.viewer?.vote == .up)
            #expect(client.copies[ids[1]]?.posts[1]?.viewer?.vote == .unspecified)
            #expect(client.copies[ids[1]]?.posts[1]?.score == 1)
        }
    }
}
