import FeedAccounts
import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Foundation
import Testing

/// Sessions of users, and their ends.
@Suite(.timeLimit(.minutes(10)))
struct SessionTests {
    @Test func aTokenMakesTheConnectionAUsers() async throws {
        try await withAccounts { port in
            let created = try WireClient(port: port).signUp("a@x", name: "Ann").session
            let client = try WireClient(port: port)
            #expect(try client.refusal(.getSession) == .identityRequired)
            guard case .hello(let hello) = try client.hello(token: created.token).response else {
                Issue.record("Hello answers with a Hello.")
                return
            }
            #expect(hello.user == created.user)
            #expect(hello.capabilities.contains(.accounts))
            let session = try client.call(.getSession).session
            #expect(session.user == created.user)
            #expect(session.expireTimeMilliseconds == created.expireTimeMilliseconds)
            // A token is shown once, where the session begins.
            #expect(session.token.isEmpty)
            // A Hello without a token is another caller.
            _ = try client.hello()
            #expect(try client.refusal(.getSession) == .identityRequired)
        }
    }

    @Test func aSignInMakesTheConnectionAUsers() async throws {
        try await withAccounts { port in
            let client = try WireClient(port: port)
            let created = try client.signUp("a@x").session
            #expect(try client.call(.getSession).session.user == created.user)
        }
    }

    @Test(
        "T-AUTH-2: wrong tokens are refused, by their length first",
        arguments: [0, 1, 31, 33, 1_000_000]
    )
    func refusesWrongTokens(_ byteCount: Int) async throws {
        try await withAccounts { port in
            let client = try WireClient(port: port)
            let token = try client.signUp("a@x").session.token
            let other = try WireClient(port: port)
            let wrong = [UInt8](repeating: 5, count: byteCount)
            let reason = try other.hello(token: wrong).status?.reason
            #expect(reason == (byteCount == 0 ? nil : .badCredentials))
            for place in token.indices {
                var forged = token
                forged[place] ^= 1
                #expect(try other.hello(token: forged).status?.reason == .sessionExpired)
            }
            #expect(try other.refusal(.getSession) == .identityRequired)
            #expect(try other.hello(token: token).status == nil)
        }
    }

    @Test("T-AUTH-3: an ended session ends on its open connections, with the next request")
    func endsOnOpenConnections() async throws {
        try await withAccounts(threads: 2) { port in
            let first = try WireClient(port: port)
            let token = try first.signUp("a@x").session.token
            let others = try (0..<3).map { _ in
                let client = try WireClient(port: port)
                _ = try client.hello(token: token)
                return client
            }
            let post = try first.createPost(title: "a post")
            for client in others { _ = try client.vote(post) }
            #expect(try first.refusal(.signOut(SignOutRequest())) == nil)
            let vote = CastVoteRequest(postID: post, direction: .up)
            let batch = BatchCastVotesRequest(votes: [vote, vote])
            #expect(try others[0].refusal(.castVote(vote)) == .sessionExpired)
            #expect(try others[1].refusal(.batchCastVotes(batch)) == .sessionExpired)
            #expect(try others[2].refusal(.getPost(GetPostRequest(id: post))) == .sessionExpired)
            // And with all requests after it, until the caller says who it is.
            #expect(try others[0].refusal(.castVote(vote)) == .sessionExpired)
            #expect(try others[0].refusal(.ping(PingRequest())) == nil)
            #expect(try others[0].hello(token: token).status?.reason == .sessionExpired)
            _ = try others[0].hello()
            #expect(try others[0].vote(post).score == 4)
            #expect(try others[1].signIn("a@x").status == nil)
            #expect(try others[1].vote(post).score == 5)
            // The connection that signed out has no user, and goes on.
            #expect(try first.refusal(.getSession) == .identityRequired)
            #expect(try first.vote(post).score == 6)
        }
    }

    @Test func allSessionsOfAUserEnd() async throws {
        try await withAccounts(threads: 2) { port in
            let clients = try (0..<4).map { number in
                let client = try WireClient(port: port)
                _ = try client.signIn(number < 3 ? "a@x" : "b@x", creates: true).session
                return client
            }
            let tokens = try (0..<2).map { _ in
                try WireClient(port: port).signIn("a@x").session.token
            }
            let everywhere = SignOutRequest(endsEverywhere: true)
            #expect(try clients[0].refusal(.signOut(everywhere)) == nil)
            #expect(try clients[0].refusal(.getSession) == .identityRequired)
            #expect(try clients[1].refusal(.getSession) == .sessionExpired)
            #expect(try clients[2].refusal(.getSession) == .sessionExpired)
            #expect(try clients[3].refusal(.getSession) == nil)
            for token in tokens {
                #expect(try clients[0].hello(token: token).status?.reason == .sessionExpired)
            }
            #expect(try clients[0].signIn("a@x").status == nil)
        }
    }

    @Test("requests of a session read no clock before it may have expired")
    func readsNoClockBeforeTheSessionMayHaveExpired() async throws {
        let clock = ManualClock()
        let looks = Locked(0)
        let offset = Locked<Int64>(0)
        try await withAccounts {
            $0.loopClock = clock
            $0.limits.accounts.sessionDuration = .seconds(40)
            $0.timeOfDay = {
                looks.withLock { $0 += 1 }
                return 1_700_000_000_000 + offset.withLock { $0 }
            }
        } _: { port in
            let client = try WireClient(port: port)
            #expect(try client.signUp("a@x").status == nil)
            let read = Request.getPost(GetPostRequest(id: try client.createPost(title: "a post")))
            let before = looks.withLock { $0 }
            for _ in 0..<100 { #expect(try client.refusal(read) == nil) }
            #expect(looks.withLock { $0 } == before)
            for second in 1...45 {
                offset.withLock { $0 += 1_000 }
                clock.advance(by: .seconds(1))
                // The loop learns of the instant in the iteration of this request at the latest,
                // which may have begun with the instant before.
                _ = try client.refusal(read)
                let refusal = try client.refusal(read)
                #expect(
                    refusal == (second < 40 ? nil : .sessionExpired),
                    "After \(second) s: \(refusal as Any)"
                )
            }
        }
    }

    /// The time of day is moved by less than what counts as a jump of the clock.
    @Test func anExpiredSessionEndsOnItsOpenConnection() async throws {
        let offset = Locked<Int64>(0)
        try await withAccounts {
            $0.limits.accounts.sessionDuration = .seconds(200)
            $0.limits.accounts.renewalInterval = .seconds(100)
            $0.timeOfDay = { Int64(Date.now.timeIntervalSince1970 * 1000) + offset.withLock { $0 } }
        } _: { port in
            let client = try WireClient(port: port)
            let created = try client.signUp("a@x").session
            offset.withLock { $0 += 90_000 }
            let early = try client.call(.getSession).session
            #expect(early.expireTimeMilliseconds == created.expireTimeMilliseconds)
            offset.withLock { $0 += 60_000 }
            let used = try client.call(.getSession).session
            #expect(used.expireTimeMilliseconds >= created.expireTimeMilliseconds + 149_000)
            offset.withLock { $0 += 190_000 }
            #expect(try client.refusal(.getSession) == nil)
            offset.withLock { $0 += 210_000 }
            #expect(try client.refusal(.getSession) == .sessionExpired)
            let other = try WireClient(port: port)
            #expect(try other.hello(token: created.token).status?.reason == .sessionExpired)
        }
    }
}
