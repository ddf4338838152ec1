import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// Many connections of one host that ask for much and read nothing: what `scripts/soak.sh attack`
/// does with 10,000 of them.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct UnreadAnswerTests {
    private static let attacker: UInt32 = 0x7f00_0001
    private static let healthy: UInt32 = 0x7f00_0002

    private static func attackers(
        _ count: Int,
        _ port: UInt16,
        asking requests: [Request]
    ) throws -> [WireClient] {
        try (0..<count).map { _ in
            let client = try WireClient(port: port, from: attacker, receiveBufferByteCount: 2 << 10)
            for request in requests { try client.send(request) }
            return client
        }
    }

    private static func createPosts(_ count: Int, _ client: WireClient) throws -> [UInt64] {
        try (0..<count).map { _ in
            let post = Post(title: "large", text: String(repeating: "x", count: 10_000))
            let answer = try client.call(.createPost(CreatePostRequest(post: post)))
            guard case .post(let created) = answer.response else { throw answer.status ?? noPost }
            return created.id
        }
    }

    private static let noPost = Status(code: .unknown, reason: .internal, message: "No post.")

    @Test("pages that 400 connections do not take stay within the budget and cost no vote")
    func boundsPagesThatNobodyTakes() async throws {
        let budget = BufferBudget(limitByteCount: 8 << 20)
        try await withService {
            $0.budget = budget
        } _: { port in
            let healthy = try WireClient(port: port, from: Self.healthy)
            // 600 KB a page.
            let posts = try Self.createPosts(60, healthy)
            let page = Request.listPosts(ListPostsRequest(order: .old, pageSize: 100))
            let attackers = try Self.attackers(400, port, asking: [page, page, page])
            var most: UInt64 = 0
            for number in 1...400 {
                #expect(try healthy.vote(posts[0]).score == Int64(number))
                guard number.isMultiple(of: 20) else { continue }
                most = max(most, try OverloadTests.stats(healthy).bufferedByteCount)
                // A host that holds less than its share is read for, too.
                let read = try healthy.call(.getPost(GetPostRequest(id: posts[1])))
                #expect(read.status == nil)
            }
            #expect(most > 1 << 20)
            #expect(most <= 6 << 20)
            #expect(budget.peakByteCount <= 6 << 20)
            withExtendedLifetime(attackers) {}
        }
    }

    @Test("connections that take nothing are closed for the sake of others, and counted")
    func closesThoseThatTakeNothing() async throws {
        let clock = ManualClock()
        let budget = BufferBudget(limitByteCount: 1 << 20)
        try await withService {
            $0.loopClock = clock
            $0.budget = budget
        } _: { port in
            let healthy = try WireClient(port: port, from: Self.healthy)
            let post = try Self.createPosts(1, healthy)[0]
            let read = Request.getPost(GetPostRequest(id: post))
            // 60 KB each, of which the kernel takes 32.
            let attackers = try Self.attackers(
                40,
                port,
                asking: [read, read, read, read, read, read]
            )
            while budget.connectionByteCount <= 384 << 10 {}
            // The bytes that the kernels pass on by themselves are progress, which ends: then
            // connections are closed.
            repeat {
                clock.advance(by: .milliseconds(500))
                #expect(try healthy.call(.ping(PingRequest())).status == nil)
            } while budget.connectionByteCount > 384 << 10
            #expect(try OverloadTests.stats(healthy).overBudgetCloseCount > 0)
            #expect(try healthy.vote(post).score == 1)
            #expect(try healthy.call(read).status == nil)
            withExtendedLifetime(attackers) {}
        }
    }
}
