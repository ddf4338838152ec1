import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// What a connection gets that goes on far above the limits of its key or host.
@Suite(.timeLimit(.minutes(1)))
struct ConnectionRestTests {
    private typealias Limits = IdentityLimitTests

    /// Has an identity told the longest time to come back: its limit is 10 votes a second.
    private static func exhaust(_ client: WireClient) throws {
        let statuses = try Limits.votes(client, Array(repeating: 0, count: 10 + 20))
        #expect(statuses.last??.retryAfterMilliseconds == 2_001)
    }

    /// Whether a Ping was answered by the time at which others got the answers of two more.
    private static func isRead(_ client: WireClient, _ other: WireClient) throws -> Bool {
        try client.send(.ping(PingRequest()))
        for _ in 0..<2 { _ = try other.call(.ping(PingRequest())) }
        return !client.socket.receiveWithoutWaiting().isEmpty
    }

    @Test("T-LIMIT-6: nothing is read for 100 ms from a connection that goes on above its limit")
    func aConnectionThatGoesOnRests() async throws {
        let clock = ManualClock()
        try await Limits.withLimits(votes: 10, clock: clock) { port in
            let greedy = try WireClient(port: port, from: Limits.greedyHost)
            let quiet = try WireClient(port: port, from: Limits.greedyHost)
            let other = try WireClient(port: port, from: Limits.otherHost)
            _ = try other.createPost(title: "Apple")
            #expect(
                try Limits.votes(greedy, Array(repeating: 0, count: 29)).count { $0 == nil } == 10
            )
            #expect(try Self.isRead(greedy, other), "19 are told to come back within 2 s.")
            _ = try Limits.votes(greedy, [0])
            #expect(try !Self.isRead(greedy, other))
            #expect(try Self.isRead(quiet, other), "Another connection of the host is read from.")
            clock.advance(by: .milliseconds(99))
            #expect(try !Self.isRead(greedy, other))
            clock.advance(by: .milliseconds(1))
            // Its two Pings were not lost.
            for _ in 0..<2 { #expect(try greedy.receive()?.status == nil) }
            #expect(try Self.isRead(greedy, other))
        }
    }

    @Test("T-LIMIT-6: a connection that rests may close, and a service may stop meanwhile")
    func aRestEndsWithItsConnection() async throws {
        let clock = ManualClock()
        try await Limits.withLimits(votes: 10, clock: clock) { port in
            let other = try WireClient(port: port, from: Limits.otherHost)
            _ = try other.createPost(title: "Apple")
            let stays = try WireClient(port: port, from: Limits.greedyHost)
            let gone = try WireClient(port: port, from: Limits.greedyHost)
            _ = try stays.call(.ping(PingRequest()))
            try Self.exhaust(gone)
            gone.socket.reset()
            try Limits.advance(clock, .milliseconds(200), other)
            // The bucket has two tokens by now, and those who wait have them and more.
            _ = try Limits.votes(stays, Array(repeating: 0, count: 10))
            #expect(try !Self.isRead(stays, other))
        }
    }
}
