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

    @Test("T-LIMIT-6: nothing is read for 100 ms from a connection that does not wait")
    func aConnectionThatGoesOnRests() async throws {
        let clock = ManualClock()
        try await Limits.withLimits(votes: 10, clock: clock) { port in
            let greedy = try WireClient(port: port, from: Limits.greedyHost)
            let quiet = try WireClient(port: port, from: Limits.greedyHost)
            let other = try WireClient(port: port, from: Limits.otherHost)
            _ = try other.createPost(title: "Apple")
            try Self.exhaust(greedy)
            #expect(try Self.isRead(greedy, other))
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

    @Test("T-LIMIT-6: a client that is told 2 s once, and a neighbour that is, are read from")
    func whoWaitsIsReadFrom() async throws {
        let clock = ManualClock()
        try await Limits.withLimits(votes: 10, clock: clock) { port in
            let greedy = try WireClient(port: port, from: Limits.greedyHost)
            let neighbour = try WireClient(port: port, from: Limits.greedyHost)
            let other = try WireClient(port: port, from: Limits.otherHost)
            _ = try other.createPost(title: "Apple")
            try Self.exhaust(greedy)
            #expect(try Self.isRead(greedy, other))
            #expect(try Limits.votes(neighbour, [0]).first??.retryAfterMilliseconds == 2_001)
            #expect(try Self.isRead(neighbour, other))
            clock.advance(by: .seconds(2))
            _ = try Limits.votes(neighbour, Array(repeating: 0, count: 10 + 20))
            #expect(try Self.isRead(neighbour, other), "It has waited in between.")
        }
    }
}
