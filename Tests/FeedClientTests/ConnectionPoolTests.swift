import FeedClient
import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// A client whose calls share several connections.
@Suite(.timeLimit(.minutes(10))) struct ConnectionPoolTests {
    private static func configuration(_ count: Int) -> ClientConfiguration {
        var configuration = ClientConfiguration.patient
        configuration.clientID = ClientID()
        configuration.connectionCount = count
        return configuration
    }

    @Test func manyTasksShareAFewConnections() async throws {
        try await withClient(threads: 2, Self.configuration(4)) { client in
            let post = try await client.createPost(PostDraft(title: "Apple"))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<500 {
                    group.addTask { for _ in 0..<10 { try await client.vote(on: post.id, .up) } }
                }
                try await group.waitForAll()
            }
            #expect(try await client.getPost(post.id).upvoteCount == 5_000)
            let stats = try await client.stats()
            #expect(stats.connectionCount == 4)
            #expect(stats.channelCount == 4)
        }
    }

    @Test func aConnectionOpensWithItsFirstCall() async throws {
        try await withClient(Self.configuration(4)) { client in
            let stats = try await client.stats()
            #expect(stats.connectionCount == 1)
        }
    }

    @Test func allConnectionsFollowTheEndOfASession() async throws {
        let token = try #require(Secret(bytes: [UInt8](repeating: 9, count: Secret.byteCount)))
        var configuration = Self.configuration(3)
        configuration.sessionToken = token
        // The tokens of all Hellos, and whether the session is over and nobody was told so.
        let tokens = Locked<[[UInt8]]>([])
        let isOver = Locked(false)
        let script: ScriptedService.Script = { frame in
            if case .hello(let hello) = frame.request {
                tokens.withLock { $0.append(hello.sessionToken) }
                let answer = ScriptedService.hello(inFlight: 256)
                return [.answer(ServerFrame(id: frame.id, revision: 0, response: answer))]
            }
            let refuses = isOver.withLock { isOver in
                defer { isOver = false }
                return isOver
            }
            guard refuses else { return [postAnswer(frame)] }
            let status = Status(code: .unauthenticated, reason: .sessionExpired, message: "over")
            return [.answer(ServerFrame(id: frame.id, revision: 1, status: status))]
        }
        try await withScript(answersHello: false, configuration: configuration, script) {
            client,
            _ in
            for id in (1...3).map(PostID.init(rawValue:)) { _ = try await client.getPost(id) }
            isOver.withLock { $0 = true }
            #expect(await refusal { try await client.getPost(1) } == .sessionExpired)
            for id in (1...6).map(PostID.init(rawValue:)) {
                #expect(try await client.getPost(id).id == id)
            }
        }
        #expect(tokens.withLock { $0 } == Array(repeating: token.bytes, count: 3) + [[], [], []])
    }

    @Test func allConnectionsFollowASignInAndASignOut() async throws {
        try await withClient(Self.configuration(3)) { client in
            try await client.createFeed(Feed(name: "polls", voteMode: .ballot, voters: .users))
            let post = try await client.createPost(PostDraft(title: "Apple"), in: "polls")
            func vote() async -> Reason? {
                do throws(FeedClientError) {
                    try await client.vote(on: post.id, .up)
                } catch {
                    guard case .refused(let status) = error else { return .internal }
                    return status.reason
                }
                return nil
            }
            for _ in 0..<6 { #expect(await vote() == .identityRequired) }
            for number in 0..<3 {
                try await client.signUp(email: "\(number)@example.org", password: "secret")
                for _ in 0..<6 { #expect(await vote() == nil) }
                #expect(try await client.getPost(post.id).upvoteCount == UInt64(number) + 1)
                try await client.signOut()
                for _ in 0..<6 { #expect(await vote() == .identityRequired) }
            }
        }
    }

    @Test func refusesAWatchAndStaysConnected() async throws {
        try await withClient(Self.configuration(1)) { client in
            let request = Request.watchPosts(WatchPostsRequest())
            #expect(await refusal { try await client.call(request) } == .unknownMethod)
            try await client.ping()
            let history = await client.history()
            #expect(history?.retries.reconnectCount == 0)
        }
    }

    @Test func closingEndsAllConnections() async throws {
        try await withClient(Self.configuration(4)) { client in
            let post = try await client.createPost(PostDraft(title: "Apple"))
            for _ in 0..<8 { try await client.vote(on: post.id, .up) }
            await client.close()
            let error = await failure { try await client.vote(on: post.id, .up) }
            #expect(error == .closed)
            #expect(await client.history() == nil)
        }
    }

    @Test func aCancelledCallEndsAtOnceAndSaysWhatItDid() async throws {
        // The service answers nothing.
        try await withScript(configuration: Self.configuration(2), silence) { client, service in
            let voting = Task { await failure { try await client.vote(on: 7, .up) } }
            let reading = Task { await failure { try await client.getPost(7) } }
            var sentCount = 0
            for await frame in service.received {
                switch frame.request {
                case .castVote, .getPost: sentCount += 1
                default: break
                }
                if sentCount == 2 { break }
            }
            voting.cancel()
            reading.cancel()
            #expect(await voting.value == .cancelled(effect: .unknown))
            #expect(await reading.value == .cancelled(effect: CallEffect.none))
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct AddressTests {
    private static func start() throws -> (server: FeedServer, address: String) {
        let server = try FeedServer.startQuietly()
        return (server, try #require(server.addresses.first).description)
    }

    @Test func takesTheFirstThatAnswersAndTheNextWhenItEnds() async throws {
        let nobody = try ReservedPort()
        let first = try Self.start()
        let second = try Self.start()
        let client = try await FeedClient.connect(
            to: [nobody.address, first.address, second.address],
            configuration: .patient
        )
        _ = try await client.createPost(PostDraft(title: "Apple"))
        #expect(try await client.stats().postCount == 1)
        let instanceID = client.service?.instanceID
        try await first.server.drain()
        #expect(try await client.stats().postCount == 0)
        #expect(client.service?.instanceID != instanceID)
        #expect(await client.history()?.instanceID == client.service?.instanceID)
        await client.close()
        try await second.server.drain()
    }

    @Test func saysWhyTheLastOneDidNotAnswer() async throws {
        let nobody = try ReservedPort()
        let error = await failure {
            try await FeedClient.connect(to: [nobody.address, nobody.address])
        }
        guard case .cannotConnect(let reason) = error
        else { throw Unexpected("It connected to nobody: \(String(describing: error))") }
        #expect(reason.contains("refused"))
    }

    @Test func needsAnAddress() async {
        let error = await failure { try await FeedClient.connect(to: [String]()) }
        #expect(error == .badAddress(reason: "There is no address to connect to."))
    }

    @Test func eachTryBeginsWithTheOneThatWasReachedLast() throws {
        let endpoints = try ["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"].map {
            try Endpoint(parsing: $0)
        }
        var route = Route(endpoints)
        #expect(route.begin() == endpoints[0])
        #expect(route.next() == endpoints[1])
        #expect(route.begin() == endpoints[1])
        #expect(route.next() == endpoints[2])
        #expect(route.next() == endpoints[0])
        #expect(route.next() == nil)
        #expect(route.begin() == endpoints[1])
        #expect(route.begin(at: .next) == endpoints[2])
    }
}

/// A client over several connections of a scripted service.
@Suite(.timeLimit(.minutes(10))) struct ReconnectTests {
    /// What the service has seen: the frames of each connection.
    final class Log: Sendable {
        private let connections = Locked<[[ClientFrame]]>([])

        /// Notes a frame; returns the number of its connection, from 1 on.
        func note(_ frame: ClientFrame) -> Int {
            connections.withLock { connections in
                if case .hello = frame.request { connections.append([]) }
                connections[connections.count - 1].append(frame)
                return connections.count
            }
        }

        /// The frames of a connection, from 1 on.
        func frames(_ connection: Int) -> [ClientFrame] {
            connections.withLock { $0.count < connection ? [] : $0[connection - 1] }
        }
    }

    static var configuration: ClientConfiguration {
        var configuration = ClientConfiguration.patient
        configuration.clientID = ClientID()
        return configuration
    }

    /// Resets the first connection at a vote, and answers on the second one, whose Hello says
    /// which instance it is and whether it knows the channel.
    static func script(_ log: Log, instance: UInt64, isKnown: Bool) -> ScriptedService.Script {
        { frame in
            let connection = log.note(frame)
            if case .hello = frame.request {
                let hello =
                    connection == 1
                    ? SessionHarness.hello()
                    : SessionHarness.hello(instance: instance, isKnown: isKnown, last: 1)
                return [.answer(ServerFrame(id: frame.id, revision: 1, response: hello))]
            }
            return connection == 1 ? [.reset] : [voteAnswer(frame)]
        }
    }

    @Test func sendsAVoteAgainWithItsNumberOnTheSameChannel() async throws {
        let log = Log()
        let script = Self.script(log, instance: 1, isKnown: true)
        try await withScript(answersHello: false, configuration: Self.configuration, script) {
            client,
            _ in
            let counts = try await client.vote(on: 7, .up)
            #expect(counts.postID == 7)
        }
        guard case .hello(let first) = log.frames(1).first?.request,
            case .hello(let second) = log.frames(2).first?.request
        else { throw Unexpected("The client made no second connection.") }
        #expect(first == second)
        #expect(log.frames(1).map(\.sequence) == [0, 1])
        #expect(log.frames(2).map(\.sequence) == [0, 1])
        #expect(log.frames(2).map(\.id) == [1, 2])
    }

    @Test(
        "what the service cannot tell any more is reported",
        arguments: [InDoubtCause.stateReplaced, .channelForgotten]
    )
    func reportsVotesInDoubt(cause: InDoubtCause) async throws {
        let log = Log()
        let isReplaced = cause == .stateReplaced
        let script = Self.script(log, instance: isReplaced ? 2 : 1, isKnown: isReplaced)
        try await withScript(answersHello: false, configuration: Self.configuration, script) {
            client,
            _ in
            let error = await failure { try await client.vote(on: 7, .up) }
            #expect(error == .inDoubt(cause))
            let counts = try await client.vote(on: 8, .up)
            #expect(counts.postID == 8)
        }
        #expect(log.frames(2).count == 2)
    }

    @Test func waitsAsLongAsTheServiceAsksAndAsksAgain() async throws {
        let count = Locked(0)
        let script: ScriptedService.Script = { frame in
            let number = count.withLock {
                $0 += 1
                return $0
            }
            let refusal = ServerFrame(id: frame.id, revision: 1, status: .overloaded(retryAfter: 1))
            return number < 3 ? [.answer(refusal)] : [voteAnswer(frame)]
        }
        try await withScript(script) { client, _ in
            let counts = try await client.vote(on: 7, .up)
            #expect(counts.postID == 7)
        }
        #expect(count.withLock { $0 } == 3)
    }

    @Test func closingDoesNotWaitForAServiceThatIsGone() async throws {
        let service = try await ScriptedService.start { _ in [.reset] }
        let client = try await FeedClient.connect(
            to: service.address,
            configuration: Self.configuration
        )
        let vote = Task { await failure { try await client.vote(on: 1, .up) } }
        var frames = service.received.makeAsyncIterator()
        while await frames.next() != nil {}
        await service.stop()
        await client.close()
        #expect(await vote.value != nil)
    }

    @Test func triesAllAddressesOfAName() async throws {
        let service = try await ScriptedService.start { [voteAnswer($0)] }
        let live = try SocketAddress(parsing: service.address)
        let dead = try ReservedPort()
        var configuration = ClientConfiguration.patient
        configuration.hostLookup = HostLookup { name, port in
            #expect(name == "feed.test")
            #expect(port == 9)
            return .success([.loopback(port: dead.number), live])
        }
        let client = try await FeedClient.connect(to: "feed.test:9", configuration: configuration)
        let counts = try await client.vote(on: 7, .up)
        #expect(counts.postID == 7)
        await client.close()
        await service.stop()
    }

    @Test func namesTheHostThatHasNoAddress() async throws {
        var configuration = ClientConfiguration.patient
        configuration.hostLookup = HostLookup { name, _ in .failure(.unknownHost(name, "None.")) }
        let error = await LifeTests.connect("feed.test:9", configuration)
        #expect(error == .unknownHost(name: "feed.test", reason: "None."))
    }

    @Test func aLookupThatTakesTooLongIsGivenUp() async throws {
        let isOver = Locked(false)
        var configuration = ClientConfiguration.patient
        configuration.connectTimeout = .milliseconds(50)
        configuration.hostLookup = HostLookup { _, _ in
            while !isOver.withLock({ $0 }) {}
            return .success([])
        }
        let error = await LifeTests.connect("feed.test:9", configuration)
        isOver.withLock { $0 = true }
        guard case .cannotConnect = error else {
            throw Unexpected("A lookup without an end ended with \(String(describing: error))")
        }
    }
}
