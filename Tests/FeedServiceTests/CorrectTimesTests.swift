import FeedJournal
import FeedProto
import FeedService
import FeedState
import FeedTestSupport
import Foundation
import Testing

/// Posts whose times lie ahead of the clock, and services that find them at their start.
@Suite(.timeLimit(.minutes(10)))
struct CorrectTimesTests {
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

    private static func post(_ client: WireClient, _ id: UInt64) throws -> Post {
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
        try await FeedServiceTests.withService {
            $0.timeOfDay = { Int64(Date.now.timeIntervalSince1970 * 1000) + offset.withLock { $0 } }
        } _: { port in
            let client = try WireClient(port: port)
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
