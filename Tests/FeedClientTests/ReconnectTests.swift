import FeedClient
import FeedProto
import FeedTestSupport
import FeedTransport
import Testing

/// A client over several connections of a scripted service.
@Suite(.timeLimit(.minutes(10)))
struct ReconnectTests {
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
        else {
            Issue.record("The client made no second connection.")
            return
        }
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
            Issue.record("A lookup without an end ended with \(String(describing: error))")
            return
        }
    }
}
