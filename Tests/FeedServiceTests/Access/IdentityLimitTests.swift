import FeedConcurrency
import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// What a caller over the limits of its key or host is answered, and that nobody else notices.
@Suite(.timeLimit(.minutes(10))) struct IdentityLimitTests {
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
    static func votes(_ client: WireClient, _ sequences: [UInt64]) throws -> [Status?] {
        var bytes: [UInt8] = []
        for sequence in sequences { bytes += try vote(sequence, id: client.nextID()).encoded() }
        try client.socket.send(bytes)
        return try sequences.map { _ in try #require(try client.receive()).status }
    }

    private static func score(_ client: WireClient) throws -> Int64? {
        let post = try client.post(1)
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
                    then: .castVote(CastVoteRequest(postID: 1, direction: .up))
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
                while try open[0].serverStats().connectionCount > open.count {}
            }
            #expect(counts == [10, 5, 2])
        }
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

/// The tokens of an identity's limits, on a clock that is handed in.
@Suite struct RateBucketTests {
    private static func time(_ milliseconds: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: 1_000_000_000_000).advanced(by: .milliseconds(milliseconds))
    }

    @Test func holdsTheTokensOfASecondAndRefillsSteadily() {
        let bucket = RateBucket(countPerSecond: 10)
        #expect(bucket.take(upTo: 4, at: Self.time(0)) == 4)
        #expect(bucket.take(upTo: 64, at: Self.time(0)) == 6)
        #expect(bucket.take(upTo: 64, at: Self.time(99)) == 0)
        #expect(bucket.take(upTo: 64, at: Self.time(350)) == 3)
        #expect(bucket.take(upTo: 64, at: Self.time(60_000)) == 10)
    }

    @Test func aRequestOfManyTokensIsServedWhereThereIsOneAndPaidLater() {
        let bucket = RateBucket(countPerSecond: 10)
        #expect(bucket.takeWhole(25, at: Self.time(0)) == true)
        #expect(bucket.takeWhole(1, at: Self.time(1_500)) == false)
        #expect(bucket.take(upTo: 1, at: Self.time(1_500)) == 0)
        #expect(bucket.takeWhole(1, at: Self.time(1_600)) == true)
        #expect(bucket.takeWhole(1, at: Self.time(1_600)) == false)
    }

    @Test func unusedTokensComeBack() {
        let bucket = RateBucket(countPerSecond: 10)
        #expect(bucket.take(upTo: 10, at: Self.time(0)) == 10)
        bucket.giveBack(7)
        #expect(bucket.take(upTo: 64, at: Self.time(0)) == 7)
    }

    @Test func withoutALimitThereIsNoEnd() {
        let bucket = RateBucket(countPerSecond: 0)
        #expect(bucket.take(upTo: 1_000, at: Self.time(0)) == 1_000)
        #expect(bucket.takeWhole(1_000, at: Self.time(0)) == true)
        #expect(bucket.fullNanoseconds == 0)
    }

    @Test func refusedRequestsComeBackOneAfterAnother() {
        let bucket = RateBucket(countPerSecond: 10)
        #expect(bucket.take(upTo: 10, at: Self.time(0)) == 10)
        let waits = (0..<3).map { _ in bucket.retryTime(at: Self.time(0)) }
        #expect(waits == [.milliseconds(100), .milliseconds(200), .milliseconds(300)])
        // Those who do not wait push the time away, up to a bound.
        for _ in 0..<1_000 { _ = bucket.retryTime(at: Self.time(0)) }
        #expect(bucket.retryTime(at: Self.time(0)) == RateBucket.longestRetryTime)
        #expect(bucket.retryTime(at: Self.time(10_000)) == .zero)
    }

    @Test func aRateBelowOneTokenASecondCannotBeAndOneIs() {
        let bucket = RateBucket(countPerSecond: 1)
        #expect(bucket.take(upTo: 2, at: Self.time(0)) == 1)
        #expect(bucket.take(upTo: 2, at: Self.time(999)) == 0)
        #expect(bucket.take(upTo: 2, at: Self.time(1_000)) == 1)
    }

    @Test("loops that take at the same time get no token twice")
    func loopsShareABucket() async {
        let allowance = Bucket()
        let taken = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    (0..<10_000).reduce(0) { sum, _ in
                        sum + allowance.bucket.take(upTo: 3, at: Self.time(0))
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(taken == 50_000)
    }

    private final class Bucket: Sendable {
        let bucket = RateBucket(countPerSecond: 50_000)
    }
}

/// The connections of identities, and what is remembered of those that have left.
@Suite struct IdentityAdmissionTests {
    private let clock = ManualClock()

    private func admission(connections: Int = 2, votes: Int = 10) -> IdentityAdmission {
        var limits = IdentityLimits()
        limits.connectionCount = connections
        limits.votesPerSecond = votes
        clock.advance(by: .seconds(1_000))
        return IdentityAdmission(limits, clock: { [clock] in clock.now })
    }

    private func enter(
        _ admission: IdentityAdmission,
        _ identity: ClientIdentity,
        isForced: Bool = false
    ) -> IdentityAllowance? {
        admission.enter(identity, isForced: isForced)
    }

    @Test func boundsTheConnectionsOfEachIdentity() throws {
        let admission = admission()
        let first = try #require(enter(admission, .address(1)))
        #expect(enter(admission, .address(1)) === first)
        #expect(enter(admission, .address(1)) == nil)
        #expect(enter(admission, .key(1)) != nil)
        #expect(enter(admission, .address(1), isForced: true) === first)
        for _ in 0..<2 { admission.leave(first) }
        #expect(enter(admission, .address(1)) === first)
        #expect(admission.identityCount == 2)
    }

    @Test("who comes anew finds the bucket as it was left, until it is full")
    func remembersWhatWasTaken() throws {
        let admission = admission()
        let first = try #require(enter(admission, .address(1)))
        #expect(first.votes.take(upTo: 10, at: clock.now) == 10)
        admission.leave(first)
        #expect(admission.identityCount == 0)
        clock.advance(by: .milliseconds(300))
        let second = try #require(enter(admission, .address(1)))
        #expect(second !== first)
        #expect(second.votes.take(upTo: 10, at: clock.now) == 3)
    }
}

/// What a connection gets that sends far more than its key or host may, and does not wait.
@Suite(.timeLimit(.minutes(10))) struct ReadPauseTests {
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

/// Clients behind a proxy, as limits and roles see them.
@Suite(.timeLimit(.minutes(2))) struct ProxyTests {
    /// A client whose proxy is on this machine.
    private static func client(_ port: UInt16, _ address: String) throws -> WireClient {
        let client = try WireClient(port: port)
        try client.socket.send(Array("PROXY TCP4 \(address) 127.0.0.1 1 2\r\n".utf8))
        return client
    }

    @Test("T-PROXY-1: limits count a proxy's connections for the clients that it names")
    func limitsSeeTheClient() async throws {
        let network = try HostNetwork(parsing: "127.0.0.0/8")
        try await withTestKeys {
            $0.proxies = [network]
            $0.limits.identities.connectionCount = 2
        } _: { port, _ in
            var open: [WireClient] = []
            for host in ["192.0.2.1", "192.0.2.2", "127.0.0.1"] {
                for _ in 0..<2 {
                    let client = try Self.client(port, host)
                    #expect(try client.call(.ping(PingRequest())).status == nil)
                    open.append(client)
                }
                let third = try Self.client(port, host)
                #expect(try third.receive()?.status?.reason == .tooManyConnections)
            }
        }
    }

    @Test(
        "T-PROXY-2: nobody behind a proxy of this machine is of this machine",
        arguments: ["TCP4 127.0.0.1 127.0.0.1 1 2", "TCP4 192.0.2.1 127.0.0.1 1 2", "UNKNOWN"]
    )
    func nobodyIsLocal(header: String) async throws {
        let create = Request.createFeed(CreateFeedRequest(feed: Feed(name: "new")))
        let network = try HostNetwork(parsing: "127.0.0.2")
        try await withService {
            $0.proxies = [network]
        } _: { port in
            let client = try WireClient(port: port, from: 0x7f00_0002)
            try client.socket.send(Array("PROXY \(header)\r\n".utf8))
            #expect(try client.call(create).status?.code == .permissionDenied)
            // A caller of this machine without a proxy may.
            #expect(try WireClient(port: port).call(create).status == nil)
        }
    }

    @Test("T-PROXY-3: a proxy that sends no header is refused, and a line says so")
    func aProxyWithoutAHeaderIsRefused() async throws {
        let lines = LoggedLines()
        let network = try HostNetwork(parsing: "127.0.0.2")
        try await withService(logger: lines.logger) {
            $0.proxies = [network]
        } _: { port in
            let client = try WireClient(port: port, from: 0x7f00_0002)
            try client.send(.ping(PingRequest()))
            #expect((try? client.receive()) == nil)
        }
        let line = "the proxy 127.0.0.2: it sent no header of the PROXY protocol."
        #expect(lines.all.contains { $0.contains(line) })
    }
}
