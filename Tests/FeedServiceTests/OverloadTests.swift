import FeedConcurrency
import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// The answers to clients that take more than their share.
@Suite(.timeLimit(.minutes(10))) struct OverloadTests {
    /// Asks for a large post until the socket takes no more, or until the limit; returns how often.
    static func askWithoutReading(
        _ client: WireClient,
        _ post: PostID,
        atMost limit: Int = .max
    ) throws -> Int {
        var count = 0
        let batch = 100
        while count < limit {
            let bytes = try (0..<batch).flatMap { _ in
                try ClientFrame(id: client.nextID(), request: .getPost(GetPostRequest(id: post)))
                    .encoded()
            }
            guard client.socket.sendWithoutWaiting(bytes) == bytes.count else { return count }
            count += batch
        }
        return count
    }

    static func createLargePost(_ client: WireClient) throws -> PostID {
        let post = Post(title: "large", text: String(repeating: "x", count: 10_000))
        guard
            case .post(let created) = try client.call(
                .createPost(CreatePostRequest(post: post))
            ).response
        else { throw TestSocket.Failure.endOfFile(received: 0, wanted: 1) }
        return created.id
    }

    @Test("T-LOAD-1: stops executing for a client that does not read, and resets it")
    func stopsExecutingForAClientThatDoesNotRead() async throws {
        let clock = ManualClock()
        try await withService {
            $0.loopClock = clock
        } _: { port in
            let healthy = try WireClient(port: port)
            let post = try Self.createLargePost(healthy)
            let greedy = try WireClient(port: port)
            let asked = try Self.askWithoutReading(greedy, post)
            let executed =
                try healthy.serverStats().methods
                .first { $0.method == "get_post" }?.requestCount ?? 0
            // Every answer has over 10,000 bytes; the kernel's buffers take some megabytes.
            #expect(executed < asked)
            // The service holds a megabyte of answers, the one that passed it, unread requests, and
            // the full send buffer of the kernel.
            #expect(try healthy.serverStats().bufferedByteCount < 2 << 20)
            #expect(try healthy.vote(post).score == 1)
            // The reset comes while answers wait unread; reading on ends in an error.
            #expect(throws: (any Error).self) {
                while true {
                    clock.advance(by: .seconds(1))
                    guard Self.isOpen(try healthy.serverStats()) else { break }
                }
                _ = try greedy.receiveAll()
                throw TestSocket.Failure.system(call: "end of file instead of a reset", number: 0)
            }
        }
    }

    /// Whether the greedy client's connection is still counted beside the healthy one's.
    static func isOpen(_ stats: ServerStats) -> Bool { stats.connectionCount > 1 }

    @Test("T-LOAD-1: holds little more than a megabyte for a client that asks for large pages")
    func boundsLargeAnswers() async throws {
        try await withService {
            $0.limits.writeProgressTimeout = .seconds(60)
        } _: { port in
            let healthy = try WireClient(port: port)
            for _ in 0..<90 { _ = try Self.createLargePost(healthy) }
            let greedy = try WireClient(port: port)
            let page = Request.listPosts(ListPostsRequest(order: .old, pageSize: 100))
            // All of them come in one read, and each is answered with most of a megabyte.
            for _ in 0..<64 { try greedy.send(page) }
            var most: UInt64 = 0
            for _ in 0..<200 { most = max(most, try healthy.serverStats().bufferedByteCount) }
            #expect(most > 0)
            #expect(most < 3 << 20)
            for id in 1...UInt64(64) { #expect(try greedy.receive()?.id == id) }
        }
    }

    @Test("T-LOAD-1: answers all calls of a client that reads late")
    func goesOnForALateReader() async throws {
        try await withService {
            $0.limits.writeProgressTimeout = .seconds(60)
            $0.limits.defaultTimeoutMilliseconds = 60_000
        } _: { port in
            let client = try WireClient(port: port)
            let post = try Self.createLargePost(client)
            let late = try WireClient(port: port)
            // The answers are 400 MB, many times what the service and the kernel hold; the socket
            // takes requests for gigabytes.
            let asked = try Self.askWithoutReading(late, post, atMost: 40_000)
            for id in 1...UInt64(asked) { #expect(try late.receive()?.id == id) }
        }
    }

    @Test("T-CONN-6: says so where there are too many connections, and recovers")
    func refusesTooManyConnections() async throws {
        try await withService {
            $0.limits.maximumConnectionCount = 3
        } _: { port in
            let first = try WireClient(port: port)
            var others = try (0..<2).map { _ in try WireClient(port: port) }
            for client in [first] + others { _ = try client.call(.ping(PingRequest())) }
            let refused = try WireClient(port: port)
            let answers = try refused.receiveAll()
            #expect(answers.map(\.status?.reason) == [.tooManyConnections])
            #expect(try first.serverStats().refusedConnectionCount == 1)
            others.removeAll()
            while try first.serverStats().connectionCount > 1 {}
            let accepted = try WireClient(port: port)
            #expect(try accepted.call(.ping(PingRequest())).status == nil)
        }
    }

    @Test("T-CONN-8: survives a storm of connections that come and go")
    func survivesAConnectStorm() async throws {
        try await withService(threads: 2) { port in
            let healthy = try WireClient(port: port)
            let post = try healthy.createPost(title: "storm")
            for number in 0..<1000 {
                let client = try WireClient(port: port)
                if number.isMultiple(of: 2) { continue }
                try client.send(.castVote(CastVoteRequest(postID: post, direction: .up)))
                client.socket.reset()
            }
            // Those that still wait to be accepted would vote after the count is taken.
            while try healthy.serverStats().acceptedConnectionCount < 1001 {}
            while try healthy.serverStats().connectionCount > 1 {}
            let stats = try healthy.serverStats()
            #expect(stats.bufferedByteCount == 0)
            let votes = stats.methods.first { $0.method == "cast_vote" }?.requestCount ?? 0
            #expect(try healthy.vote(post).score == Int64(votes) + 1)
        }
    }

    @Test("T-LOAD-3: refuses writes while too many bytes wait, and takes them again")
    func refusesWritesUnderOverload() async throws {
        let budget = BufferBudget(limitByteCount: 256 << 10)
        try await withClient {
            $0.budget = budget
        } _: { client in
            let post = try Self.createLargePost(client)
            let read = Request.getPost(GetPostRequest(id: post))
            #expect(try client.call(read).status == nil)
            budget.addReserved((256 << 10) + 1)
            let vote = Request.castVote(CastVoteRequest(postID: post, direction: .up))
            for request in [vote, read] {
                let refused = try client.call(request)
                #expect(refused.status?.code == .resourceExhausted)
                #expect(refused.status?.reason == .overloaded)
                #expect(refused.status?.isNotExecuted == true)
                #expect(refused.status?.retryAfterMilliseconds ?? 0 > 0)
            }
            #expect(try client.call(.ping(PingRequest())).status == nil)
            // Reads are the first to stop and the last to come back.
            budget.addReserved(-(64 << 10))
            #expect(try client.call(read).status?.reason == .overloaded)
            #expect(try client.vote(post).score == 1)
            budget.addReserved(-(192 << 10) - 1)
            #expect(try client.call(read).status == nil)
        }
    }

    @Test("T-VOTE-5: counts every vote on one post from many connections, each in order")
    func countsAHotPost() async throws {
        try await withService(threads: 2) { port in
            let clients = try (0..<20).map { _ in try WireClient(port: port) }
            let post = try clients[0].createPost(title: "hot")
            let votesPerClient = 500
            for client in clients {
                for _ in 0..<votesPerClient {
                    try client.send(.castVote(CastVoteRequest(postID: post, direction: .up)))
                }
            }
            var scores: [Int64] = []
            for client in clients {
                var last: Int64 = 0
                for _ in 0..<votesPerClient {
                    guard case .castVote(let vote) = try client.receive()?.response
                    else { throw Unexpected("CastVote answers with the counts.") }
                    #expect(vote.score > last)
                    last = vote.score
                    scores.append(vote.score)
                }
            }
            #expect(scores.sorted() == (1...Int64(20 * votesPerClient)).map { $0 })
        }
    }
}

@Suite struct DeviceAdmissionTests {
    /// A clock that is set by hand.
    private let now = Locked(MonotonicInstant(nanoseconds: 1_000_000_000_000))

    private func admission(_ limit: Int) -> DeviceAdmission {
        DeviceAdmission(limit: limit, clock: { [now] in now.withLock { $0 } })
    }

    private func pass(_ duration: Duration) { now.withLock { $0 = $0.advanced(by: duration) } }

    /// How many devices of a host are admitted until one is refused.
    private func count(
        _ admission: DeviceAdmission,
        _ host: ClientIdentity,
        _ standing: DeviceAdmission.Standing
    ) -> Int {
        var count = 0
        while count < 10_000, admission.admit(host, standing) == nil { count += 1 }
        return count
    }

    @Test func admitsSoManyAtOnceAndThenAsManyAMinute() {
        let admission = admission(60)
        #expect(count(admission, .address(1), .established) == 60)
        #expect(admission.admit(.address(1), .established) == .seconds(1))
        #expect(admission.refusedCount == 2)
        #expect(count(admission, .address(2), .established) == 60)
        pass(.milliseconds(900))
        #expect(admission.admit(.address(1), .established) == .milliseconds(100))
        // No minute has to end: each second brings one.
        pass(.milliseconds(100))
        #expect(count(admission, .address(1), .established) == 1)
        pass(.seconds(20))
        #expect(count(admission, .address(1), .established) == 20)
        pass(.seconds(3600))
        #expect(count(admission, .address(1), .established) == 60)
    }

    @Test func oneClientCannotTakeWhatIsForOthersBehindTheSameProxy() {
        let admission = admission(400)
        let proxy = ClientIdentity.address(7)
        // One connection that invents devices, others that bring one each, one that was here before.
        #expect(count(admission, proxy, .repeated) == 200)
        #expect(count(admission, proxy, .fresh) == 100)
        #expect(count(admission, proxy, .established) == 100)
        // New tokens are first for connections with the larger share.
        pass(.seconds(15))
        #expect(admission.admit(proxy, .repeated) != nil)
        #expect(admission.admit(proxy, .fresh) != nil)
        #expect(count(admission, proxy, .established) == 100)
    }

    @Test func hostsOfOneNetworkShare() {
        let admission = admission(3)
        let hosts: [SocketAddress.Host] = [
            .v6(high: 9, low: 1), .v6(high: 9, low: 2), .v6(high: 9, low: 3),
        ]
        for host in hosts { #expect(admission.admit(ClientIdentity(host), .established) == nil) }
        #expect(admission.admit(ClientIdentity(.v6(high: 9, low: 4)), .established) != nil)
        #expect(admission.admit(ClientIdentity(.v6(high: 8, low: 1)), .established) == nil)
        #expect(ClientIdentity(.v6(high: 0, low: 0xFFFF_0000_0001)) == ClientIdentity(.v4(1)))
    }

    @Test func boundsTheHostsThatItKeeps() {
        let buckets = buckets(burst: 2)
        let hosts = 0..<UInt32(HostBuckets.maximumHostCount + 20_000)
        #expect(hosts.allSatisfy { buckets.take(from: .address($0)) == nil })
        #expect(buckets.hostCount <= HostBuckets.maximumHostCount)
        // Full buckets go first.
        pass(.seconds(60))
        #expect(hosts.allSatisfy { buckets.take(from: .network(UInt64($0))) == nil })
        #expect(buckets.hostCount <= HostBuckets.maximumHostCount)
    }

    @Test func looksAtFewHostsToMakeRoom() {
        let buckets = buckets(burst: 2)
        let hosts = 0..<UInt32(HostBuckets.maximumHostCount)
        for host in hosts { _ = buckets.take(from: .address(host)) }
        #expect(buckets.lookCount == 0)
        var mostLooks = 0
        for number in 0..<10_000 as Range<UInt64> {
            let before = buckets.lookCount
            #expect(buckets.take(from: .network(number)) == nil)
            mostLooks = max(mostLooks, buckets.lookCount - before)
        }
        #expect(mostLooks == BoundedTable<ClientIdentity, UInt64>.lookLimit)
        // A full bucket is taken at the first look.
        pass(.seconds(60))
        let before = buckets.lookCount
        for host in hosts.prefix(100) { _ = buckets.take(from: .network(.max - UInt64(host))) }
        #expect(buckets.lookCount == before + 100)
    }

    @Test func hostsThatUsedUpTheirTokensAreKeptBeforeOthers() {
        let buckets = buckets(burst: 2)
        let usedUp = ClientIdentity.network(.max)
        for _ in 0..<2 { #expect(buckets.take(from: usedUp) == nil) }
        for number in 0..<UInt32(3 * HostBuckets.maximumHostCount) {
            #expect(buckets.take(from: .address(number)) == nil)
        }
        #expect(buckets.take(from: usedUp) != nil)
    }

    private func buckets(burst: Int) -> HostBuckets {
        HostBuckets(burst: burst, countPerMinute: 2, clock: { [now] in now.withLock { $0 } })
    }
}

/// Connections whose answers wait for durability.
@Suite(.serialized, .timeLimit(.minutes(10))) struct HeldAnswerTests {
    @Test("the service stops reading from a client while too many of its answers are held")
    func suspendsAClient() async throws {
        let budget = BufferBudget()
        try await withGatedService {
            $0.budget = budget
            $0.limits.defaultTimeoutMilliseconds = 60_000
        } _: { port, gate in
            let voter = try WireClient(port: port)
            let post = try OverloadTests.createLargePost(voter)
            let reader = try WireClient(port: port)
            gate.close()
            try voter.send(.castVote(CastVoteRequest(postID: post, direction: .up)))
            gate.awaitCommit()
            // Ends once the service reads nothing more and the kernel's buffers are full.
            let askedCount = try OverloadTests.askWithoutReading(reader, post)
            // A megabyte of held answers, the one that passed it, and unread requests.
            #expect(budget.bufferedByteCount < 2 << 20)
            gate.open()
            for id in 1...UInt64(askedCount) { #expect(try reader.receive()?.id == id) }
            #expect(try voter.receive()?.status == nil)
        }
    }

    @Test("a connection that its client ends is closed after its held answers were sent")
    func closesAfterHeldAnswers() async throws {
        try await withGatedService { port, gate in
            let client = try WireClient(port: port)
            let post = try client.createPost(title: "a")
            gate.close()
            let vote = Request.castVote(CastVoteRequest(postID: post, direction: .up))
            for _ in 0..<100 { try client.send(vote) }
            client.socket.shutDownSending()
            gate.awaitCommit()
            gate.open()
            let answers = try client.receiveAll()
            #expect(answers.count == 100)
            #expect(answers.allSatisfy { $0.status == nil })
        }
    }

    @Test("a draining service waits for durability longer than for the rest of a frame")
    func drainsAfterHeldAnswers() async throws {
        let directory = try TemporaryDirectory()
        let gate = JournalGate()
        let clock = ManualClock()
        var configuration = ServiceConfiguration(addresses: [.loopback(port: 0)], threadCount: 1)
        configuration.state = gate.state(directory, logCount: 1)
        configuration.limits.stallLimit = .seconds(3_600)
        configuration.loopClock = clock
        configuration.limits.drainTimeout = .seconds(60)
        ProcessSetup.ignoreBrokenPipes()
        let server = try FeedServer.startQuietly(configuration)
        let port = try #require(server.addresses.first?.port)
        try await offload {
            defer { gate.open() }
            let client = try WireClient(port: port)
            let post = try client.createPost(title: "a")
            gate.close()
            let vote = Request.castVote(CastVoteRequest(postID: post, direction: .up))
            let frame = try ClientFrame(id: client.nextID(), request: vote).encoded()
            // A vote, and a frame without its end.
            try client.socket.send(frame + frame.dropLast())
            gate.awaitCommit()
            server.beginDraining()
            clock.advance(by: .seconds(30))
            gate.open()
            let answers = try client.receiveAll()
            #expect(answers.count == 2)
            #expect(answers.first?.status == nil)
            guard case .goAway = answers.last?.response
            else { throw Unexpected("The last answer is GoAway: \(answers)") }
        }
        try await offload { server.wait() }
    }
}
