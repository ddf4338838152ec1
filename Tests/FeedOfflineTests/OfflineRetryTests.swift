import FeedClient
import FeedOffline
import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// Syncs whose connection is lost.
@Suite(.timeLimit(.minutes(10)))
struct OfflineRetryTests {
    /// The waits of a sync, each of which lasts until the test ends it.
    private struct Waits {
        let begun: AsyncStream<Duration>
        let end: AsyncStream<Void>.Continuation
        let wait: @Sendable (Duration) async -> Void

        init() {
            let (begun, begin) = AsyncStream<Duration>.makeStream()
            let (ended, end) = AsyncStream<Void>.makeStream()
            self.begun = begun
            self.end = end
            wait = { duration in
                begin.yield(duration)
                for await _ in ended { return }
            }
        }
    }

    /// A service with a post, and a feed with a vote on it, in whose next sync the service is killed before
    /// the vote leaves.
    private static func run(
        _ body: (TestService, UInt64, OfflineFeed, Waits) async throws -> Void
    ) async throws {
        try await TestService.run { service in
            let id = try await service.withClient { try await $0.createPost(Post(title: "old")).id }
            let process = try #require(service.process)
            let hook = HookedOutbox.Hook { process.signal(SIGKILL) }
            let waits = Waits()
            var configuration = service.configuration()
            configuration.client.retry.baseDelay = .seconds(100)
            configuration.client.retry.maximumDelay = .seconds(150)
            let feed = try await OfflineFeed.open(
                configuration,
                wrapping: { HookedOutbox(file: $0, hook: hook) },
                waiting: waits.wait
            )
            try await feed.vote(on: id, .up)
            try await body(service, id, feed, waits)
            await feed.close()
        }
    }

    @Test func aSyncGoesOnOnceTheServiceIsBack() async throws {
        try await Self.run { service, id, feed, waits in
            let sync = Task { try await feed.sync() }
            var begun = waits.begun.makeAsyncIterator()
            let duration = try #require(await begun.next())
            #expect(duration > .zero && duration <= .seconds(100), "\(duration)")
            await service.end(signal: 9)
            try await service.start()
            waits.end.yield()
            #expect(try await sync.value.sentCount == 1)
            #expect(try await feed.post(id)?.score == 1)
            #expect(try await service.withClient { try await $0.getPost(id).score } == 1)
        }
    }

    @Test func aSyncEndsAfterThreeTries() async throws {
        try await Self.run { _, _, feed, waits in
            let sync = Task { try await feed.sync() }
            var begun = waits.begun.makeAsyncIterator()
            for limit in [Duration.seconds(100), .seconds(150)] {
                let duration = try #require(await begun.next())
                #expect(duration > .zero && duration <= limit, "\(duration)")
                waits.end.yield()
            }
            await #expect {
                try await sync.value
            } throws: { error in
                if case OfflineError.service(.cannotConnect) = error { true } else { false }
            }
            // Sent, or not if the loss was noticed before: it is kept in both cases.
            let states = try await feed.outbox().map(\.state)
            #expect(states == [.sent] || states == [.waiting], "\(states)")
            // Where nobody answers from the start, a sync does not try again.
            await #expect(throws: OfflineError.self) { try await feed.sync() }
        }
    }
}
