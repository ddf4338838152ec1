import FeedClient
import FeedClientObservation
import FeedClientTesting
import FeedProto
import InMemoryTracing
import Metrics
import MetricsTestKit
import Testing
import Tracing

/// What a program sees of its calls.
///
/// The systems of spans and metrics are set up once a process.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ObservedFeedClientTests {
    private static let tracer = InMemoryTracer()
    private static let metrics = TestMetrics()
    private static let setUp: Void = {
        InstrumentationSystem.bootstrap(tracer)
        MetricsSystem.bootstrap(metrics)
    }()

    @Test func eachCallIsASpanAndIsCountedAndTimed() async throws {
        Self.setUp
        Self.tracer.clearAll()
        let service = InMemoryFeedService()
        let client = ObservedFeedClient(try service.connect())
        let post = try await client.createPost(PostDraft(title: "Apple"))
        try await client.vote(on: post.id, .up)
        try await client.vote(on: post.id, .up)
        await #expect(throws: FeedClientError.self) { try await client.vote(on: 999, .up) }
        service.fail { _ in .cannotConnect(reason: "test") }
        await #expect(throws: FeedClientError.self) { try await client.feeds() }
        let spans = Self.tracer.finishedSpans
        #expect(
            spans.map(\.operationName) == [
                "feed.CreatePost", "feed.CastVote", "feed.CastVote", "feed.CastVote",
                "feed.ListFeeds",
            ]
        )
        #expect(spans.map { $0.status?.code == .error } == [false, false, false, true, true])
        #expect(spans.map(\.errors.count) == [0, 0, 0, 1, 1])
        #expect(spans.allSatisfy { $0.kind == .client })
        func count(_ method: String, _ outcome: String) throws -> Int64 {
            let dimensions = [("method", method), ("outcome", outcome)]
            return try Self.metrics.expectCounter("feed_client_calls", dimensions).totalValue
        }
        #expect(try count("CastVote", "ok") == 2)
        #expect(try count("CastVote", "POST_NOT_FOUND") == 1)
        #expect(try count("ListFeeds", "cannot_connect") == 1)
        let timer = try Self.metrics.expectTimer(
            "feed_client_call_duration",
            [("method", "CastVote")]
        )
        #expect(timer.values.count == 3)
    }

    @Test func itIsAClientLikeTheOneBehindIt() async throws {
        Self.setUp
        let service = InMemoryFeedService()
        let client = ObservedFeedClient(try service.connect())
        #expect(client.service?.serverName == "feed-service in memory")
        let user = client.acting(for: .ofService(7))
        let post = try await user.createPost(PostDraft(title: "Apple"))
        #expect(post.author?.id == .ofService(7))
        await client.close()
        await #expect(throws: FeedClientError.closed) { try await user.feeds() }
    }
}
