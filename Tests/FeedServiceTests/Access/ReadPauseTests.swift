import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// What a connection gets that sends far more than its key or host may, and does not wait.
@Suite(.timeLimit(.minutes(10)))
struct ReadPauseTests {
    private typealias Limits = IdentityLimitTests

    /// A client whose identity has used up its limit and was told the longest time, and others.
    private struct Clients {
        let greedy: WireClient
        /// Of the same host.
        let neighbour: WireClient
        /// Of another host.
        let other: WireClient
        /// What is over the limit of 10 a second.
        let limited: Request
        /// What has no limit.
        let free: Request

        init(_ port: UInt16, limited: Request, free: Request) throws {
            greedy = try WireClient(port: port, from: Limits.greedyHost)
            neighbour = try WireClient(port: port, from: Limits.greedyHost)
            other = try WireClient(port: port, from: Limits.otherHost)
            self.limited = limited
            self.free = free
            _ = try other.createPost(title: "Apple")
            #expect(try send(10 + 20, from: greedy) == 2_001)
        }

        /// Sends requests at once that are limited; returns what the last one is told.
        func send(_ count: Int, from client: WireClient) throws -> UInt32? {
            let frames = (0..<count).map { _ in
                ClientFrame(id: client.nextID(), request: limited)
            }
            try client.socket.send(frames.flatMap { try $0.encoded() })
            return try frames.map { _ in try client.receive() }.last??.status?
                .retryAfterMilliseconds
        }

        /// Whether a request of a client was answered by the time at which another host got two answers.
        func isRead(_ client: WireClient) throws -> Bool {
            try client.send(free)
            for _ in 0..<2 { #expect(try other.call(free).status == nil) }
            return !client.socket.receiveWithoutWaiting().isEmpty
        }
    }

    /// Runs `body` with the limit on votes, or on other calls, on a clock that stands still.
    private static func withClients(
        limitsVotes: Bool = true,
        _ body: @escaping @Sendable (Clients, ManualClock) throws -> Void
    ) async throws {
        let clock = ManualClock()
        let limits = limitsVotes ? (votes: 10, calls: 0) : (votes: 0, calls: 10)
        try await Limits.withLimits(votes: limits.votes, calls: limits.calls, clock: clock) {
            port in
            let vote = Request.castVote(CastVoteRequest(postID: 1, direction: .up))
            let ping = Request.ping(PingRequest())
            let clients = try Clients(
                port,
                limited: limitsVotes ? vote : ping,
                free: limitsVotes ? ping : vote
            )
            try body(clients, clock)
        }
    }

    @Test(
        "T-LIMIT-6: nothing is read for 10 ms from a connection that does not wait",
        arguments: [true, false]
    )
    func readsNothingFromWhoDoesNotWait(limitsVotes: Bool) async throws {
        try await Self.withClients(limitsVotes: limitsVotes) { (clients, clock) throws in
            let greedy = clients.greedy
            #expect(try clients.isRead(greedy), "It was told 2 s once.")
            // More than a loop iteration serves: what was read before is answered in the pause.
            #expect(try clients.send(100, from: greedy) == 2_001)
            #expect(try !clients.isRead(greedy))
            let neighbour = clients.neighbour
            #expect(try clients.isRead(neighbour))
            clock.advance(by: .milliseconds(9))
            #expect(try !clients.isRead(greedy))
            clock.advance(by: .milliseconds(1))
            // What it has sent in the pause was not lost.
            for _ in 0..<2 { #expect(try greedy.receive()?.status == nil) }
            #expect(try clients.isRead(greedy))
        }
    }

    @Test("T-LIMIT-6: who is told 2 s once, or has waited, is read from")
    func readsFromWhoWaits() async throws {
        try await Self.withClients { (clients, clock) throws in
            let neighbour = clients.neighbour
            #expect(try clients.send(1, from: neighbour) == 2_001)
            #expect(try clients.isRead(neighbour))
            clock.advance(by: .seconds(2))
            #expect(try clients.send(10 + 20, from: neighbour) == 2_001)
            #expect(try clients.isRead(neighbour))
        }
    }

    @Test("T-LIMIT-6: a connection may close in its pause")
    func aPauseEndsWithItsConnection() async throws {
        try await Self.withClients { (clients, clock) throws in
            let greedy = clients.greedy
            // The vote begins a pause, and what follows is no frame.
            let vote = ClientFrame(id: greedy.nextID(), request: clients.limited)
            try greedy.socket.send(vote.encoded() + [0xff, 0xff, 0xff, 0xff])
            let reasons = try greedy.receiveAll().map(\.status?.reason)
            #expect(reasons == [.rateLimited, .badFrame])
            greedy.socket.close()
            try Limits.advance(clock, .milliseconds(200), clients.other)
        }
    }
}
