import FeedJournal
import FeedProto
import FeedService
import FeedState
import FeedTestSupport
import Foundation
import Testing

/// A clock that is set (T-CLOCK-1, T-CLOCK-2).
@Suite(.timeLimit(.minutes(10))) struct ClockTests {
    /// A watch that has checked two clocks, and the times that it sees next.
    private struct Clocks {
        static let start: Int64 = 1_700_000_000_000
        private let clocks: Locked<(wall: Int64, monotonic: Int64)>
        let watch: ClockWatch

        init() {
            let clocks = Locked((wall: Self.start, monotonic: Int64(500)))
            self.clocks = clocks
            watch = ClockWatch(
                timeOfDay: { clocks.withLock { $0.wall } },
                monotonic: { clocks.withLock { $0.monotonic } }
            )
        }

        /// Lets time pass, and sets the wall clock by so much; the time that the watch gives.
        @discardableResult
        func look(after passed: Int64, setBy jump: Int64 = 0) -> Int64 {
            clocks.withLock {
                $0.monotonic += passed
                $0.wall += passed + jump
            }
            return watch.now()
        }
    }

    private static let limit = ClockWatch.limitMilliseconds

    @Test(
        "T-CLOCK-1: a jump of more than five minutes counts until it is taken back",
        arguments: [-1, 1]
    )
    func noticesAJump(sign: Int64) {
        let clocks = Clocks()
        clocks.look(after: 1000)
        #expect(clocks.watch.jumpMilliseconds == 0)
        #expect(clocks.watch.takeNews() == nil)
        let jump = sign * (Self.limit + 1)
        // The right time, for changes that were admitted before.
        #expect(clocks.look(after: 1000, setBy: jump) == Clocks.start + 2000)
        #expect(clocks.watch.jumpMilliseconds == jump)
        #expect(clocks.watch.takeNews() == .jumped(by: jump))
        #expect(clocks.look(after: 3_600_000) == Clocks.start + 3_602_000)
        #expect(clocks.watch.jumpMilliseconds == jump)
        #expect(clocks.watch.takeNews() == nil)
        clocks.look(after: 1000, setBy: -sign * Self.limit)
        #expect(clocks.watch.jumpMilliseconds == 0)
        #expect(clocks.watch.takeNews() == .agrees)
    }

    @Test("corrections are followed, however many", arguments: [-1, 1])
    func followsCorrections(sign: Int64) {
        let clocks = Clocks()
        for count in 1...10 as ClosedRange<Int64> {
            let time = clocks.look(after: 1000, setBy: sign * Self.limit)
            #expect(time == Clocks.start + count * (1000 + sign * Self.limit))
        }
        #expect(clocks.watch.jumpMilliseconds == 0)
        #expect(clocks.watch.takeNews() == .corrected(by: 10 * sign * Self.limit))
        #expect(clocks.watch.takeNews() == nil)
        clocks.look(after: 1000, setBy: sign * 999)
        #expect(clocks.watch.takeNews() == nil, "Small corrections are nothing to tell.")
    }

    @Test("time that passes unseen is no jump")
    func takesALongPause() {
        let clocks = Clocks()
        clocks.look(after: 86_400_000)
        #expect(clocks.watch.jumpMilliseconds == 0)
    }

    @Test(
        "T-CLOCK-1: while the clock is wrong changes are refused, reads are not",
        arguments: [-1, 1]
    )
    func refusesChanges(sign: Int64) async throws {
        let offset = Locked<Int64>(0)
        try await withClient {
            $0.timeOfDay = { Int64(Date.now.timeIntervalSince1970 * 1000) + offset.withLock { $0 } }
        } _: { client in
            let id = try client.createPost(title: "before")
            let vote = Request.castVote(CastVoteRequest(postID: id, direction: .up))
            var ups: UInt64 = 0
            offset.withLock { $0 = sign * 3_600_000 }
            // The very first change that would take a time is refused.
            let create = Request.createPost(CreatePostRequest(post: Post(title: "wrong")))
            #expect(try client.call(create).status?.reason == .clockJumped)
            let update = Request.updatePost(
                UpdatePostRequest(post: Post(id: id, text: "wrong"), updateMask: [.text])
            )
            #expect(try client.call(update).status?.reason == .clockJumped)
            let deadline = ContinuousClock.now + .seconds(30)
            var answer = try client.call(vote)
            while answer.status == nil, ContinuousClock.now < deadline {
                ups += 1
                answer = try client.call(vote)
            }
            #expect(answer.status?.reason == .clockJumped)
            #expect(answer.status?.isNotExecuted == true)
            let post = try client.post(id)
            #expect(post.upvoteCount == ups)
            offset.withLock { $0 = 0 }
            while answer.status != nil, ContinuousClock.now < deadline {
                answer = try client.call(vote)
            }
            _ = try client.createPost(title: "after")
            let page = try client.list(ListPostsRequest(feed: "posts", order: .old))
            #expect(page.posts.map(\.title) == ["before", "after"])
        }
    }
}

/// Posts whose times lie ahead of the clock, and services that find them at their start.
@Suite(.timeLimit(.minutes(10))) struct CorrectTimesTests {
    private static let now: Int64 = 1_700_000_000_000
    private static let year: Int64 = 365 * 86_400_000

    private static func correct(
        _ client: WireClient,
        _ request: CorrectTimesRequest
    ) throws -> CorrectTimesResponse {
        let answer = try client.call(.correctTimes(request))
        guard case .correctTimes(let response) = answer.response else {
            throw answer.status ?? Status(code: .unknown, reason: .internal, message: "\(answer)")
        }
        return response
    }

    private static func post(_ client: WireClient, _ id: PostID) throws -> Post {
        let answer = try client.call(.getPost(GetPostRequest(id: id)))
        guard case .post(let post) = answer.response else {
            throw answer.status ?? Status(code: .unknown, reason: .internal, message: "\(answer)")
        }
        return post
    }

    private static func create(_ client: WireClient, _ title: String) throws -> Post {
        try post(client, client.createPost(title: title))
    }

    /// Runs a service on a directory with a clock that stands still.
    private static func withService(
        in directory: String,
        at time: Int64,
        limits: ServiceLimits = ServiceLimits(),
        _ body: @escaping @Sendable (WireClient) throws -> Void
    ) async throws {
        try await FeedServiceTests.withService {
            var state = StateOptions(path: directory, logCount: $0.threadCount)
            state.journal.space.ballastByteCount = 1 << 20
            $0.state = state
            $0.timeOfDay = { time }
            $0.limits = limits
        } _: { port in
            try body(WireClient(port: port))
        }
    }

    @Test("T-CLOCK-5: an imported time does not become the time of new posts after a restart")
    func importedTimesAreNoClock() async throws {
        let directory = try TemporaryDirectory()
        try await Self.withService(in: directory.path, at: Self.now) { (client) throws in
            let post = Post(title: "ahead", createTimeMilliseconds: Self.now + 290_000)
            let request = Request.importPosts(ImportPostsRequest(posts: [post]))
            #expect(try client.call(request).status == nil)
        }
        try await Self.withService(in: directory.path, at: Self.now + 1_000) { (client) throws in
            #expect(try Self.create(client, "new").createTimeMilliseconds == Self.now + 1_000)
            // Within what an import may bring: nothing to correct.
            #expect(try Self.correct(client, CorrectTimesRequest()).posts.isEmpty)
        }
    }

    @Test(
        "T-CLOCK-3: after a start in the future and back, times are right, wrong ones are corrected"
    )
    func aStartInTheFutureAndBack() async throws {
        let directory = try TemporaryDirectory()
        let future = Self.now + 10 * Self.year
        try await Self.withService(in: directory.path, at: Self.now) { (client) throws in
            _ = try Self.create(client, "before")
        }
        try await Self.withService(in: directory.path, at: future) { (client) throws in
            #expect(try Self.create(client, "wrong").createTimeMilliseconds == future)
            let edit = UpdatePostRequest(post: Post(id: 1, text: "edited"), updateMask: [.text])
            #expect(try client.call(.updatePost(edit)).status == nil)
        }
        try await Self.withService(in: directory.path, at: Self.now + 5_000) { (client) throws in
            #expect(try Self.create(client, "right").createTimeMilliseconds == Self.now + 5_000)
            let found = try Self.correct(client, CorrectTimesRequest())
            #expect(found.posts.map(\.id) == [1, 2])
            #expect(found.posts.map(\.title) == ["before", "wrong"])
            #expect(found.posts.map(\.feed) == ["posts", "posts"])
            #expect(found.posts.map(\.createTimeMilliseconds) == [Self.now, future])
            #expect(found.posts.map(\.updateTimeMilliseconds) == [future, future])
            #expect(found.serverTimeMilliseconds == Self.now + 5_000)
            #expect(found.nextAfterID == 0)
            let old = Self.now + 1_000
            let request = CorrectTimesRequest(appliesCorrection: true, timeMilliseconds: old)
            #expect(try Self.correct(client, request) == found)
            #expect(
                try Self.correct(client, request).posts.isEmpty,
                "To repeat it changes nothing."
            )
        }
        // A restart finds the correction.
        try await Self.withService(in: directory.path, at: Self.now + 6_000) { (client) throws in
            let posts = try client.list(ListPostsRequest(feed: "posts", order: .new)).posts
            #expect(posts.map(\.title) == ["right", "wrong", "before"])
            #expect(posts.map(\.createTimeMilliseconds)[1...] == [Self.now + 1_000, Self.now])
            #expect(
                posts.map(\.updateTimeMilliseconds)[1...] == [Self.now + 1_000, Self.now + 1_000]
            )
            #expect(try Self.create(client, "new").createTimeMilliseconds == Self.now + 6_000)
            #expect(try Self.correct(client, CorrectTimesRequest()).posts.isEmpty)
        }
    }

    @Test func aCallLooksAtAPartOfTheIDs() async throws {
        let directory = try TemporaryDirectory()
        let ahead = Self.now + Self.year
        try await Self.withService(in: directory.path, at: ahead) { (client) throws in
            for number in 0..<20 { _ = try Self.create(client, "\(number)") }
        }
        var limits = ServiceLimits()
        limits.correctedIDCount = 7
        try await Self.withService(
            in: directory.path,
            at: Self.now,
            limits: limits
        ) { (client) throws in
            var sizes: [Int] = []
            var request = CorrectTimesRequest(appliesCorrection: true, limit: 4)
            repeat {
                let part = try Self.correct(client, request)
                sizes.append(part.posts.count)
                request.afterID = part.nextAfterID
            } while request.afterID > 0
            #expect(sizes == [4, 4, 4, 4, 4])
            request.limit = 0
            #expect(try Self.correct(client, request).nextAfterID == 7)
            #expect(try Self.post(client, 20).createTimeMilliseconds == Self.now)
        }
    }

    @Test func refusesAWrongTimeAndAWrongClock() async throws {
        let offset = Locked<Int64>(0)
        try await FeedServiceTests.withClient {
            $0.timeOfDay = { Int64(Date.now.timeIntervalSince1970 * 1000) + offset.withLock { $0 } }
        } _: { client in
            for time in [-1, Int64(Date.now.timeIntervalSince1970 * 1000) + 400_000] {
                let request = CorrectTimesRequest(timeMilliseconds: time)
                let status = try client.call(.correctTimes(request)).status
                #expect(status?.reason == .badTime)
                #expect(status?.violations.first?.field == "time_ms")
            }
            // Where the clock is wrong, posts that are right would lie ahead of it.
            offset.withLock { $0 = -Self.year }
            for applies in [false, true] {
                let request = CorrectTimesRequest(appliesCorrection: applies)
                let status = try client.call(.correctTimes(request)).status
                #expect(status?.reason == .clockJumped)
                #expect(status?.isNotExecuted == true)
            }
        }
    }
}

/// The times that `restore --at` takes are those of ISO 8601, and nothing else is read as one.
struct ZonedTimeTests {
    @Test(arguments: [
        ("2026-11-26T11:54:00Z", 1_795_694_040.0),
        ("2026-11-26T11:54:00.25Z", 1_795_694_040.25),
        ("2026-11-26T13:54:00+02:00", 1_795_694_040.0),
        ("2026-11-26T17:24:00+0530", 1_795_694_040.0),
        ("2026-11-26T06:54:00-05:00", 1_795_694_040.0),
        ("2024-02-29T00:00:00Z", 1_709_164_800.0),
    ])
    func timesAreRead(_ text: String, _ seconds: Double) {
        #expect(ZonedTime.date(text)?.timeIntervalSince1970 == seconds)
    }

    @Test(arguments: [
        "2026-11-26T11:54:00Zjunk", "2026-11-26T11:54:00Z+02:00", "2026-11-26T20:54:00+09:99",
        "2026-11-26T13:54:00+02:xx", "2026-11-26T13:54:00+2", "2026-11-26T13:54:00+02:00 11:59",
        "2026-11-26T13:54:00+24:00", "2026-02-30T00:00:00Z", "2026-11-31T00:00:00Z",
        "2025-02-29T00:00:00Z", "2026-11-26T24:00:00Z", "2026-11-26T11:60:00Z",
        "2026-11-26T11:54:60Z", "292277026596-12-04T15:30:07Z", "2026-11-26T11:54:00",
        " 2026-11-26T11:54:00Z", "yesterday", "", "2026-１１-26T11:54:00Z",
        "2026-11-26T11:54:00+０２:00", "2026-11-26T11:54:00.２5Z",
    ])
    func otherTextsAreNone(_ text: String) {
        #expect(ZonedTime.date(text) == nil)
    }
}
