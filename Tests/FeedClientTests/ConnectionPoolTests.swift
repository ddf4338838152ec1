import FeedClient
import FeedProto
import FeedTestSupport
import Testing

/// A client whose calls share several connections.
@Suite(.timeLimit(.minutes(10)))
struct ConnectionPoolTests {
    private static func configuration(_ count: Int) -> ClientConfiguration {
        var configuration = ClientConfiguration.patient
        configuration.clientID = ClientID()
        configuration.connectionCount = count
        return configuration
    }

    @Test func manyTasksShareAFewConnections() async throws {
        try await withClient(threads: 2, Self.configuration(4)) { client in
            let post = try await client.createPost(Post(title: "Apple"))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<500 {
                    group.addTask {
                        for _ in 0..<10 { try await client.vote(on: post.id, .up) }
                    }
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
            for id in 1...3 as ClosedRange<UInt64> { _ = try await client.getPost(id) }
            isOver.withLock { $0 = true }
            #expect(await refusal { try await client.getPost(1) } == .sessionExpired)
            for id in 1...6 as ClosedRange<UInt64> {
                #expect(try await client.getPost(id).id == id)
            }
        }
        #expect(tokens.withLock { $0 } == Array(repeating: token.bytes, count: 3) + [[], [], []])
    }

    @Test func allConnectionsFollowASignInAndASignOut() async throws {
        try await withClient(Self.configuration(3)) { client in
            try await client.createFeed(Feed(name: "polls", voteMode: .ballot, voters: .users))
            let post = try await client.createPost(Post(title: "Apple"), in: "polls")
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
            let post = try await client.createPost(Post(title: "Apple"))
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
