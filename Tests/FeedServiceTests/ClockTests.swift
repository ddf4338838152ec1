import FeedProto
import FeedService
import FeedTestSupport
import Foundation
import Testing

/// A clock that is set (T-CLOCK-1, T-CLOCK-2).
@Suite(.timeLimit(.minutes(10)))
struct ClockTests {
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
        try await withService {
            $0.timeOfDay = { Int64(Date.now.timeIntervalSince1970 * 1000) + offset.withLock { $0 } }
        } _: { port in
            let client = try WireClient(port: port)
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
            guard case .post(let post) = try client.call(.getPost(GetPostRequest(id: id))).response
            else {
                Issue.record("no post")
                return
            }
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
