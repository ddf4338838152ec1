import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// What a caller over the limits of its key or host is answered, and that nobody else notices.
@Suite(.timeLimit(.minutes(10)))
struct IdentityLimitTests {
    private static let device = [UInt8](repeating: 1, count: 16)
    static let greedyHost: UInt32 = 0x7F00_0002
    static let otherHost: UInt32 = 0x7F00_0003

    /// A service whose limits hold on loopback, too, on a clock that stands still.
    static func withLimits(
        votes: Int = 0,
        calls: Int = 0,
        connections: Int = 0,
        clock: ManualClock? = ManualClock(),
        _ body: @escaping @Sendable (UInt16) throws -> Void
    ) async throws {
        func limit(_ configuration: inout ServiceConfiguration) {
            configuration.loopClock = clock
            configuration.limits.identities.votesPerSecond = votes
            configuration.limits.identities.callsPerSecond = calls
            configuration.limits.identities.connectionCount = connections
            configuration.limits.identities.limitsLoopback = true
        }
        try await withService(threads: 1, limit, body)
    }

    private static func vote(_ sequence: UInt64, id: UInt64) -> ClientFrame {
        let vote = CastVoteRequest(postID: 1, direction: .up)
        return ClientFrame(id: id, request: .castVote(vote), sequence: sequence)
    }

    /// Sends votes at once, and returns the reasons of their refusals; nil for those that count.
    static func votes(
        _ client: WireClient,
        _ sequences: [UInt64]
    ) throws -> [Status?] {
        var bytes: [UInt8] = []
        for sequence in sequences {
            bytes += try vote(sequence, id: client.nextID()).encoded()
        }
        try client.socket.send(bytes)
        return try sequences.map { _ in try #require(try client.receive()).status }
    }

    private static func score(_ client: WireClient) throws -> Int64? {
        guard case .post(let post) = try client.call(.getPost(GetPostRequest(id: 1))).response
        else {
            return nil
        }
        return post.score
    }

    static func advance(_ clock: ManualClock, _ time: Duration, _ client: WireClient) throws {
        clock.advance(by: time)
        // The loop has the new time in its next iteration.
        for _ in 0..<2 { _ = try client.call(.ping(PingRequest())) }
    }

    @Test(
        "T-LIMIT-1: a run of votes is executed as far as the limit goes, in order",
        arguments: [true, false]
    )
    func aRunIsExecutedAsFarAsTheLimitGoes(isNumbered: Bool) async throws {
        let clock = ManualClock()
        try await Self.withLimits(votes: 10, clock: clock) { port in
            let client = try WireClient(port: port)
            _ = try client.hello(clientID: Self.device)
            _ = try client.createPost(title: "Apple")
            let sequences = (2...26).map { isNumbered ? UInt64($0) : 0 }
            let first = try Self.votes(client, sequences)
            #expect(first.prefix(10).allSatisfy { $0 == nil })
            for (number, status) in first.dropFirst(10).enumerated() {
                #expect(status?.code == .resourceExhausted)
                #expect(status?.reason == .rateLimited)
                #expect(status?.isNotExecuted == true)
                let wait = min(2_000, 100 * (number + 1))
                #expect(status?.retryAfterMilliseconds == UInt32(wait + 1))
            }
            #expect(try Self.score(client) == 10)
            try Self.advance(clock, .milliseconds(500), client)
            let again = try Self.votes(client, Array(sequences.dropFirst(10)))
            #expect(again.count { $0 == nil } == 5)
            #expect(again.prefix(5).allSatisfy { $0 == nil })
            #expect(try Self.score(client) == 15)
        }
    }

    @Test("T-LIMIT-1: a repeat is answered also where no token is left")
    func aRepeatIsAnswered() async throws {
        try await Self.withLimits(votes: 10) { port in
            let client = try WireClient(port: port)
            _ = try client.hello(clientID: Self.device)
            _ = try client.createPost(title: "Apple")
            #expect(try Self.votes(client, Array(1...10)).allSatisfy { $0 == nil })
            #expect(
                try Self.votes(client, [3, 11, 4, 12]).map { $0?.reason } == [
                    nil, .rateLimited, nil, .rateLimited,
                ]
            )
            #expect(try Self.score(client) == 10)
        }
    }

    @Test("T-LIMIT-1: a batch is executed whole where a token is left, and paid for later")
    func aBatchIsExecutedWhole() async throws {
        let clock = ManualClock()
        try await Self.withLimits(votes: 10, clock: clock) { port in
            let client = try WireClient(port: port)
            _ = try client.hello(clientID: Self.device)
            _ = try client.createPost(title: "Apple")
            let vote = CastVoteRequest(postID: 1, direction: .up)
            let batch = Request.batchCastVotes(
                BatchCastVotesRequest(votes: Array(repeating: vote, count: 20))
            )
            #expect(try client.call(batch, sequence: 1).status == nil)
            #expect(try client.call(batch, sequence: 2).status?.reason == .rateLimited)
            #expect(try client.call(batch, sequence: 1).status == nil)
            #expect(try Self.score(client) == 20)
            // The repeat has taken nothing, because nothing was left.
            try Self.advance(clock, .milliseconds(1_100), client)
            #expect(try client.call(batch, sequence: 2).status == nil)
            #expect(try Self.score(client) == 40)
        }
    }

    @Test("T-LIMIT-2: other calls have a limit of their own, and Hello is one of them")
    func callsAreLimited() async throws {
        try await Self.withLimits(votes: 10, calls: 3) { port in
            let client = try WireClient(port: port)
            _ = try client.createPost(title: "Apple")
            #expect(try Self.score(client) == 0)
            #expect(try client.hello().status == nil)
            let refused = try client.call(.getPost(GetPostRequest(id: 1))).status
            #expect(refused?.reason == .rateLimited)
            #expect(refused?.message.contains("3 calls a second") == true)
            #expect(
                try client.call(
                    .cancel(CancelRequest(id: 77)),
                    then: .castVote(
                        CastVoteRequest(postID: 1, direction: .up)
                    )
                ).status == nil
            )
        }
    }

    @Test("T-LIMIT-3: one connection too many is told so, and others may come")
    func connectionsAreLimited() async throws {
        try await Self.withLimits(connections: 2) { port in
            let first = try WireClient(port: port, from: Self.greedyHost)
            let second = try WireClient(port: port, from: Self.greedyHost)
            for client in [first, second] {
                #expect(try client.call(.ping(PingRequest())).status == nil)
            }
            let third = try WireClient(port: port, from: Self.greedyHost)
            let frame = try #require(try third.receive())
            #expect(frame.id == 0)
            #expect(frame.status?.reason == .tooManyConnections)
            #expect(frame.status?.retryAfterMilliseconds == 1_000)
            #expect(try third.receive() == nil)
            let other = try WireClient(port: port, from: Self.otherHost)
            #expect(try other.call(.ping(PingRequest())).status == nil)
        }
    }

    @Test("T-LIMIT-3: hosts below their limit leave connections to others")
    func connectionsAreLeftToOthers() async throws {
        func limit(_ configuration: inout ServiceConfiguration) {
            configuration.limits.identities.limitsLoopback = true
            configuration.limits.maximumConnectionCount = 20
        }
        try await withService(threads: 1, limit) { port in
            var open: [WireClient] = []
            var counts: [Int] = []
            for host in 1...3 as ClosedRange<UInt32> {
                let before = open.count
                while true {
                    let client = try WireClient(port: port, from: 0x7f00_0100 + host)
                    try client.send(.ping(PingRequest()))
                    guard try client.receive()?.id == 1 else { break }
                    open.append(client)
                }
                counts.append(open.count - before)
                // The refused one has gone when it is not counted any more.
                while try Self.openConnectionCount(open[0]) > open.count {}
            }
            #expect(counts == [10, 5, 2])
        }
    }

    private static func openConnectionCount(_ client: WireClient) throws -> UInt64 {
        guard case .serverStats(let stats) = try client.call(.getServerStats).response else {
            return 0
        }
        return stats.connectionCount
    }

    @Test("T-LIMIT-4: a key counts apart from its host, and a Hello above its limit is refused")
    func aKeyIsAnIdentity() async throws {
        func limit(_ configuration: inout ServiceConfiguration) {
            configuration.loopClock = ManualClock()
            configuration.limits.identities.votesPerSecond = 5
            configuration.limits.identities.connectionCount = 1
            configuration.limits.identities.limitsLoopback = true
        }
        try await withTestKeys(limit) { port, keys in
            func connect(_ key: NewServiceKey?) throws -> (WireClient, Status?) {
                let client = try WireClient(port: port)
                return (
                    client,
                    try client.call(.hello(HelloRequest(serviceKey: key?.bytes ?? []))).status
                )
            }
            let (web, none) = try connect(keys.web)
            #expect(none == nil)
            _ = try web.createPost(title: "Apple")
            // The key has left the host's one connection to others.
            let (app, alsoNone) = try connect(keys.app)
            #expect(alsoNone == nil)
            #expect(try Self.votes(web, Array(repeating: 0, count: 6)).count { $0 == nil } == 5)
            #expect(try Self.votes(app, Array(repeating: 0, count: 6)).count { $0 == nil } == 5)
            let (again, refusal) = try connect(keys.web)
            #expect(refusal?.reason == .tooManyConnections)
            // It is still the host's.
            #expect(try Self.votes(again, Array(repeating: 0, count: 6)).count { $0 == nil } == 5)
            #expect(try Self.score(app) == 15)
        }
    }

    @Test("T-LIMIT-5: a client at ten times its limit is refused, and others lose nothing")
    func othersLoseNothing() async throws {
        try await Self.withLimits(votes: 200, clock: nil) { port in
            let greedy = try WireClient(port: port, from: Self.greedyHost)
            let other = try WireClient(port: port, from: Self.otherHost)
            let apple = try other.createPost(title: "Apple")
            let pear = try other.createPost(title: "Pear")
            var taken = 0
            for round in 0..<20 {
                var bytes: [UInt8] = []
                for _ in 0..<100 {
                    let vote = CastVoteRequest(postID: apple, direction: .up)
                    bytes += try ClientFrame(id: greedy.nextID(), request: .castVote(vote))
                        .encoded()
                }
                try greedy.socket.send(bytes)
                for _ in 0..<9 { _ = try other.vote(pear) }
                for _ in 0..<100 {
                    guard let status = try #require(try greedy.receive()).status else {
                        taken += 1
                        continue
                    }
                    #expect(status.reason == .rateLimited, "round \(round)")
                    #expect(status.retryAfterMilliseconds > 0)
                }
            }
            #expect(taken >= 200)
            #expect(taken < 2_000)
            #expect(try other.vote(pear).score == 181)
            let counted = try other.call(.getPost(GetPostRequest(id: apple))).response
            guard case .post(let post) = counted else { throw TestFailure() }
            #expect(post.score == Int64(taken))
        }
    }

    @Test("callers from this machine have no limits unless a flag says so")
    func loopbackHasNoLimits() async throws {
        func limit(_ configuration: inout ServiceConfiguration) {
            configuration.loopClock = ManualClock()
            configuration.limits.identities.votesPerSecond = 1
            configuration.limits.identities.callsPerSecond = 1
            configuration.limits.identities.connectionCount = 1
        }
        try await withService(threads: 1, limit) { port in
            let client = try WireClient(port: port)
            _ = try client.createPost(title: "Apple")
            #expect(try Self.votes(client, Array(repeating: 0, count: 50)).allSatisfy { $0 == nil })
            #expect(try Self.score(WireClient(port: port)) == 50)
        }
    }

    private struct TestFailure: Error {}
}

extension WireClient {
    /// Sends a request that has no answer, and then one that has.
    fileprivate func call(_ silent: Request, then request: Request) throws -> ServerFrame {
        try send(silent)
        return try call(request)
    }
}
