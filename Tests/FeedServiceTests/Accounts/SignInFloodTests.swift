import FeedAccounts
import FeedConcurrency
import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Logging
import Testing

/// Many sign-ins: wrong ones, many at once, and those whose clients leave.
@Suite(.timeLimit(.minutes(10)))
struct SignInFloodTests {
    private final class Clock: Sendable {
        private let nanoseconds = Locked<UInt64>(1 << 40)
        var now: MonotonicInstant { MonotonicInstant(nanoseconds: nanoseconds.withLock { $0 }) }
        func advance(seconds: UInt64) {
            nanoseconds.withLock { $0 += seconds * 1_000_000_000 }
        }
    }

    @Test("T-AUTH-5: an e-mail has six wrong passwords a minute, and further ones are not hashed")
    func limitsFailuresOfAnEMail() async throws {
        let passwords = CountedPasswords()
        let clock = Clock()
        try await withService {
            passwords.install(&$0)
            $0.signInClock = { clock.now }
        } _: { port in
            let client = try WireClient(port: port)
            #expect(try client.signUp("a@x").status == nil)
            for _ in 0..<6 {
                let status = try client.signIn("a@x", password: "wrong one").status
                #expect(status?.reason == .badCredentials)
            }
            #expect(passwords.runCount == 7)
            let status = try client.signIn("A@X").status
            #expect(status?.code == .resourceExhausted)
            #expect(status?.reason == .rateLimited)
            #expect(status?.isNotExecuted == true)
            #expect(status?.retryAfterMilliseconds == 60_000)
            #expect(passwords.runCount == 7)
            // A service acts for many people: other e-mails are not limited.
            for number in 0..<8 {
                let other = try client.signIn("\(number)@x").status?.reason
                #expect(other == .badCredentials)
            }
            clock.advance(seconds: 60)
            #expect(try client.signIn("a@x").status == nil)
        }
    }

    @Test("T-AUTH-5: a peer that is no service has six failures a minute")
    func limitsFailuresOfAPeer() async throws {
        let own = try #require(TestSocket.ownAddress)
        let passwords = CountedPasswords()
        try await withService {
            $0.addresses = [SocketAddress(host: .v4(0), port: 0)]
            passwords.install(&$0)
        } _: { port in
            let remote = try WireClient(port: port, host: own)
            #expect(try remote.signUp("0@x").status == nil)
            for number in 0..<3 {
                #expect(try remote.signIn("\(number + 1)@x").status?.reason == .badCredentials)
                // Asking for taken e-mails is limited, too.
                #expect(try remote.signUp("0@x").status?.reason == .emailTaken)
            }
            let count = passwords.runCount
            #expect(try remote.signIn("0@x").status?.reason == .rateLimited)
            #expect(try remote.signUp("9@x").status?.reason == .rateLimited)
            #expect(passwords.runCount == count)
            #expect(try WireClient(port: port).signIn("7@x").status?.reason == .badCredentials)
        }
    }

    @Test("T-AUTH-5: a full table of accounts is no failure of who signs up")
    func aFullTableIsNoFailure() async throws {
        let passwords = CountedPasswords()
        try await withService {
            passwords.install(&$0)
            $0.limits.accounts.maximumAccountCount = 1
        } _: { port in
            let client = try WireClient(port: port)
            #expect(try client.signUp("a@x").status == nil)
            for _ in 0..<8 {
                let status = try client.signUp("b@x").status
                #expect(status?.code == .resourceExhausted)
                #expect(status?.reason == .tooManyAccounts)
                #expect(status?.message == "There are 1 accounts, which is the limit.")
                #expect(status?.isNotExecuted == true)
                // No call deletes accounts, so waiting does not help.
                #expect(status?.retryAfterMilliseconds == 0)
            }
        }
    }

    @Test("T-AUTH-5: sessions beyond the limit of all are refused, and are no failures")
    func limitsAllSessions() async throws {
        let passwords = CountedPasswords()
        try await withService {
            passwords.install(&$0)
            $0.limits.accounts.maximumSessionCount = 2
        } _: { port in
            let client = try WireClient(port: port)
            #expect(try client.signUp("a@x").status == nil)
            #expect(try client.signIn("a@x").status == nil)
            for _ in 0..<8 {
                #expect(try client.signIn("a@x").status?.reason == .tooManySessions)
                #expect(try client.signUp("b@x").status?.reason == .tooManySessions)
            }
            // A session that ends makes room, and the account was not created.
            #expect(try client.refusal(.signOut(SignOutRequest())) == nil)
            #expect(try client.signUp("b@x").session.user?.id == 2)
        }
    }

    /// The clock jumps while the password is hashed, so the account is not created.
    @Test("T-AUTH-5: a service that takes no changes is no failure of who signs up")
    func aRefusedChangeIsNoFailure() async throws {
        let passwords = CountedPasswords(isGated: true)
        let offset = Locked<Int64>(0)
        try await withService {
            passwords.install(&$0)
            $0.timeOfDay = { 1_700_000_000_000 + offset.withLock { $0 } }
        } _: { port in
            let (client, other) = (try WireClient(port: port), try WireClient(port: port))
            let signUp = Request.signUp(SignUpRequest(email: "a@x", password: "password"))
            let create = Request.createPost(CreatePostRequest(post: Post(title: "a post")))
            for _ in 0..<7 {
                try client.send(signUp)
                passwords.begun.wait()
                offset.withLock { $0 = 86_400_000 }
                #expect(try other.refusal(create) == .clockJumped)
                passwords.gate.signal()
                #expect(try client.receive()?.status?.reason == .clockJumped)
                offset.withLock { $0 = 0 }
                #expect(try other.refusal(create) == nil)
            }
            try client.send(signUp)
            passwords.begun.wait()
            passwords.gate.signal()
            #expect(try client.receive()?.status == nil)
        }
    }

    @Test("T-AUTH-9: a peer that is no service creates twenty accounts an hour")
    func limitsAccountsOfAPeer() async throws {
        let own = try #require(TestSocket.ownAddress)
        let passwords = CountedPasswords()
        let clock = Clock()
        try await withService {
            $0.addresses = [SocketAddress(host: .v4(0), port: 0)]
            passwords.install(&$0)
            $0.signInClock = { clock.now }
        } _: { port in
            let remote = try WireClient(port: port, host: own)
            for number in 0..<10 {
                #expect(try remote.signUp("\(number)@x").status == nil)
                #expect(try remote.signIn("\(number + 10)@x", creates: true).status == nil)
            }
            for status in [
                try remote.signUp("20@x").status, try remote.signIn("20@x", creates: true).status,
            ] {
                #expect(status?.code == .resourceExhausted)
                #expect(status?.reason == .rateLimited)
                #expect(status?.isNotExecuted == true)
                #expect(status?.retryAfterMilliseconds == 3_600_000)
            }
            #expect(passwords.runCount == 20)
            // Accounts that are there are signed in to, and a service creates further ones.
            #expect(try remote.signIn("0@x", creates: true).status == nil)
            #expect(try WireClient(port: port).signUp("20@x").status == nil)
            clock.advance(seconds: 3600)
            #expect(try remote.signUp("21@x").status == nil)
        }
    }

    @Test("T-AUTH-6: a full queue refuses at once, and the loop goes on")
    func refusesBeyondTheQueue() async throws {
        let passwords = CountedPasswords(isGated: true)
        let lines = LoggedLines()
        try await withService(logger: lines.logger) {
            passwords.install(&$0)
        } _: { port in
            let client = try WireClient(port: port)
            try client.send(.signIn(SignInRequest(email: "first@x", password: "password")))
            passwords.begun.wait()
            for number in 0..<40 {
                let request = SignInRequest(email: "\(number)@x", password: "password")
                try client.send(.signIn(request))
            }
            for _ in 0..<8 {
                let status = try #require(try client.receive()).status
                #expect(status?.code == .resourceExhausted)
                #expect(status?.reason == .overloaded)
                #expect(status?.isNotExecuted == true)
                #expect((status?.retryAfterMilliseconds ?? 0) >= 100)
            }
            let line = "warning: refused sign_in from 127.0.0.1: OVERLOADED"
            #expect(lines.all.contains { $0.hasPrefix(line) })
            // The loop answers others meanwhile.
            #expect(try WireClient(port: port).createPost(title: "meanwhile") == 1)
            for _ in 0..<33 { passwords.gate.signal() }
            let reasons = try (0..<33).map { _ in try client.receive()?.status?.reason }
            #expect(reasons.allSatisfy { $0 == .badCredentials })
            #expect(passwords.runCount == 33)
        }
    }

    @Test("T-AUTH-7: a sign-in costs one hash, whether or not there is the account")
    func unknownUsersCostAHash() async throws {
        let passwords = CountedPasswords()
        try await withService {
            passwords.install(&$0)
        } _: { port in
            let client = try WireClient(port: port)
            let create = SignInRequest(email: "a@x", password: "password", createsIfMissing: true)
            #expect(try client.refusal(.signIn(create)) == nil)
            #expect(passwords.runCount == 1)
            #expect(try client.signIn("a@x").status == nil)
            #expect(passwords.runCount == 2)
            let wrong = try client.signIn("a@x", password: "wrong one").status
            #expect(passwords.runCount == 3)
            let unknown = try client.signIn("b@x", password: "wrong one").status
            #expect(passwords.runCount == 4)
            #expect(wrong == unknown)
        }
    }

    @Test func passwordsOfClosedConnectionsAreNotHashed() async throws {
        let passwords = CountedPasswords(isGated: true)
        try await withService {
            passwords.install(&$0)
        } _: { port in
            let stayer = try WireClient(port: port)
            try stayer.send(.signIn(SignInRequest(email: "a@x", password: "password")))
            passwords.begun.wait()
            let leaver = try WireClient(port: port)
            for number in 0..<5 {
                let request = SignUpRequest(email: "\(number)@x", password: "password")
                try leaver.send(.signUp(request))
            }
            // The answer to a ping shows that the service has read them.
            _ = try leaver.call(.ping(PingRequest()))
            leaver.socket.reset()
            // The service knows of the reset once the connection is not counted any more.
            while try openConnectionCount(stayer) > 1 {}
            passwords.gate.signal()
            #expect(try stayer.receive()?.status?.reason == .badCredentials)
            try stayer.send(.signIn(SignInRequest(email: "b@x", password: "password")))
            passwords.begun.wait()
            passwords.gate.signal()
            #expect(try stayer.receive()?.status?.reason == .badCredentials)
            #expect(passwords.runCount == 2)
        }
    }

    private func openConnectionCount(_ client: WireClient) throws -> UInt64 {
        guard case .serverStats(let stats) = try client.call(.getServerStats).response else {
            return 0
        }
        return stats.connectionCount
    }

    @Test func aStopAnswersThoseWhoWait() async throws {
        let passwords = CountedPasswords(isGated: true)
        var configuration = ServiceConfiguration(addresses: [.loopback(port: 0)], threadCount: 2)
        passwords.install(&configuration)
        ProcessSetup.ignoreBrokenPipes()
        let server = try FeedServer.start(
            configuration,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        let port = try #require(server.addresses.first?.port)
        try await offload {
            let client = try WireClient(port: port)
            let asked = try client.send(
                .signUp(SignUpRequest(email: "a@x", password: "password"))
            )
            passwords.begun.wait()
            server.beginDraining()
            guard case .goAway(let goAway) = try client.receive()?.response else {
                Issue.record("The first that comes is GoAway.")
                return
            }
            #expect(goAway.lastID == asked)
            passwords.gate.signal()
            let answer = try #require(try client.receive())
            #expect(answer.id == asked)
            #expect(try answer.session.user?.id == 1)
            #expect(try client.receive() == nil)
        }
        try await offload { server.wait() }
    }
}
