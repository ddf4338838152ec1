import FeedProto
import FeedService
import FeedTestSupport
import Foundation
import Testing

/// Connections that say Hello and get no channel: the answer has the reason.
@Suite(.timeLimit(.minutes(10)))
struct MissingChannelTests {
    typealias Support = ExactlyOnceTests

    /// Two connections hold the two channels that there may be; a third one says Hello.
    @Test func aHelloWithoutAChannelIntroducesTheDevice() async throws {
        try await withService { configuration in
            // Of three quarters the host takes 256 bytes, and each of two channels as many.
            configuration.limits.maximumChannelByteCount = 1200
        } _: { port in
            let client = try Support.connect(port)
            let other = try Support.connect(port, channel: 1)
            let feed = Feed(name: "ballots", voteMode: .ballot)
            #expect(try client.call(.createFeed(CreateFeedRequest(feed: feed))).status == nil)
            let id = try client.createPost(title: "a", feed: "ballots")
            let third = try WireClient(port: port)
            let hello = try Support.helloed(third, channel: 2)
            #expect(!hello.capabilities.contains(.exactlyOnce))
            #expect(hello.channelStatus?.reason == .tooManyChannels)
            #expect(!hello.isClientKnown)
            let refused = try #require(try third.call(Support.vote(id), sequence: 1).status)
            #expect(refused.reason == .tooManyChannels)
            #expect(refused.isNotExecuted)
            #expect(refused.retryAfterMilliseconds > 0)
            // Its ballots count, and existing channels are served.
            #expect(try third.vote(id).upvoteCount == 1)
            let again = try Support.helloed(client)
            #expect(again.isClientKnown && again.channelStatus == nil)
            guard case .serverStats(let stats) = try client.call(.getServerStats).response else {
                return
            }
            #expect(stats.channelCount == 2 && stats.refusedChannelCount == 2)
            #expect(stats.channelByteCount <= 1200)
            // With room for it, the same connection has its channel without another Hello.
            _ = try other.hello()
            #expect(try third.call(Support.vote(id), sequence: 1).status == nil)
            #expect(try Support.helloed(third, channel: 2).lastSequence == 1)
        }
    }

    @Test func aChannelThatAnotherTookMeanwhileIsFenced() async throws {
        try await withService { configuration in
            configuration.limits.maximumChannelByteCount = 1200
        } _: { port in
            let client = try Support.connect(port)
            let other = try Support.connect(port, channel: 1)
            let id = try client.createPost(title: "a")
            let early = try WireClient(port: port)
            #expect(try Support.helloed(early, channel: 2).channelStatus != nil)
            _ = try other.hello()
            let late = try Support.connect(port, channel: 2)
            #expect(try late.call(Support.vote(id), sequence: 1).status == nil)
            try SequenceRuleTests.refusal(
                early.call(Support.vote(id), sequence: 2),
                .channelFenced,
                notExecuted: true
            )
        }
    }

    /// The cause is the real one, and the channel is there once changes are taken.
    @Test func aHelloWhileChangesAreRefusedSaysWhy() async throws {
        let offset = Locked<Int64>(0)
        try await withService {
            $0.timeOfDay = { Int64(Date.now.timeIntervalSince1970 * 1000) + offset.withLock { $0 } }
        } _: { port in
            let known = try Support.connect(port)
            let id = try known.createPost(title: "a")
            offset.withLock { $0 = 3_600_000 }
            let isRefused = { () throws -> Bool in
                try known.call(Support.vote(id)).status?.reason == .clockJumped
            }
            while try !isRefused() {}
            let client = try WireClient(port: port)
            let hello = try Support.helloed(client, channel: 3)
            #expect(hello.channelStatus?.reason == .clockJumped)
            #expect(hello.channelStatus?.retryAfterMilliseconds ?? 0 > 0)
            try SequenceRuleTests.refusal(
                client.call(Support.vote(id), sequence: 1),
                .clockJumped,
                notExecuted: true,
                code: .unavailable
            )
            // A channel that is known needs no change.
            #expect(try Support.helloed(known).channelStatus == nil)
            offset.withLock { $0 = 0 }
            while try isRefused() {}
            let first = try Support.upvotes(client.call(Support.vote(id), sequence: 1))
            #expect(try Support.upvotes(client.call(Support.vote(id), sequence: 1)) == first)
            #expect(try Support.helloed(client, channel: 3).lastSequence == 1)
        }
    }
}
