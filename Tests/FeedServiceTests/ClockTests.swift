import FeedProto
import FeedService
import FeedTestSupport
import Foundation
import Testing

/// A clock that somebody sets (row 67).
@Suite(.timeLimit(.minutes(1)))
struct ClockTests {
    /// A watch that has looked at two clocks, and what it is shown next.
    private struct Clocks {
        let watch = ClockWatch()
        var wall: Int64 = 1_700_000_000_000
        var monotonic: Int64 = 500

        init() { _ = look() }

        /// Lets time pass, and sets the wall clock by so much; whether something has changed.
        mutating func look(after passed: Int64 = 0, setBy jump: Int64 = 0) -> Bool {
            monotonic += passed
            wall += passed + jump
            return look()
        }

        private func look() -> Bool {
            watch.observe(wallMilliseconds: wall, monotonicMilliseconds: monotonic)
        }
    }

    /// Lets the clocks go on, and expects that something changes, or that nothing does.
    private func look(
        _ clocks: inout Clocks,
        after passed: Int64,
        setBy jump: Int64 = 0,
        changes: Bool
    ) {
        let hasChanged = clocks.look(after: passed, setBy: jump)
        #expect(hasChanged == changes)
    }

    private static let limit = ClockWatch.limitMilliseconds

    @Test("67: a jump of more than five minutes counts until it is taken back", arguments: [-1, 1])
    func noticesAJump(sign: Int64) {
        var clocks = Clocks()
        look(&clocks, after: 1000, changes: false)
        #expect(clocks.watch.jumpMilliseconds == 0)
        look(&clocks, after: 1000, setBy: sign * (Self.limit + 1), changes: true)
        #expect(clocks.watch.jumpMilliseconds == sign * (Self.limit + 1))
        look(&clocks, after: 3_600_000, changes: false)
        #expect(clocks.watch.jumpMilliseconds == sign * (Self.limit + 1))
        look(&clocks, after: 1000, setBy: -sign * Self.limit, changes: true)
        #expect(clocks.watch.jumpMilliseconds == 0)
    }

    @Test("corrections are followed, however many", arguments: [-1, 1])
    func followsCorrections(sign: Int64) {
        var clocks = Clocks()
        for _ in 0..<10 {
            look(&clocks, after: 1000, setBy: sign * Self.limit, changes: false)
        }
        #expect(clocks.watch.jumpMilliseconds == 0)
    }

    @Test("time that passes unseen is no jump")
    func takesALongPause() {
        var clocks = Clocks()
        look(&clocks, after: 86_400_000, changes: false)
        #expect(clocks.watch.jumpMilliseconds == 0)
    }

    @Test("67: while the clock is wrong changes are refused, reads are not", arguments: [-1, 1])
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
            // The service looks every second.
            let deadline = ContinuousClock.now + .seconds(30)
            var answer = try client.call(vote)
            while answer.status == nil, ContinuousClock.now < deadline {
                ups += 1
                answer = try client.call(vote)
            }
            #expect(answer.status?.reason == .clockJumped)
            #expect(answer.status?.isNotExecuted == true)
            let create = Request.createPost(CreatePostRequest(post: Post(title: "wrong")))
            #expect(try client.call(create).status?.reason == .clockJumped)
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
