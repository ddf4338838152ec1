import FeedAccounts
import FeedConcurrency
import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Logging
import Testing

@Suite(.timeLimit(.minutes(10))) struct SignInTests {
    @Test func signsUpAndInByOneAccount() async throws {
        try await withAccounts { port in
            let client = try WireClient(port: port)
            let created = try client.signUp("Ann@Example.org", name: "Ann").session
            #expect(created.token.count == 32)
            #expect(created.createdUser)
            #expect(created.user?.id == 1)
            #expect(created.user?.displayName == "Ann")
            let again = try client.signIn("ann@example.ORG").session
            #expect(again.user == created.user)
            #expect(!again.createdUser)
            #expect(again.token != created.token)
            #expect(again.expireTimeMilliseconds >= created.expireTimeMilliseconds)
            #expect(try client.signUp("ann@example.org").status?.reason == .emailTaken)
            #expect(try client.signUp("bob@example.org").session.user?.displayName == "bob")
        }
    }

    @Test func aWrongPasswordIsNoSignUp() async throws {
        try await withAccounts { port in
            let client = try WireClient(port: port)
            #expect(try client.signIn("ann@x").status?.reason == .badCredentials)
            let created = try client.signIn("ann@x", creates: true).session
            #expect(created.createdUser)
            let wrong = try client.signIn("ann@x", password: "Password", creates: true)
            #expect(wrong.status?.code == .unauthenticated)
            #expect(wrong.status?.reason == .badCredentials)
            #expect(wrong.status?.isNotExecuted == true)
            let again = try client.signIn("ann@x", creates: true).session
            #expect(again.user == created.user)
            #expect(!again.createdUser)
        }
    }

    @Test(
        "T-AUTH-8: passwords, names and e-mails have rules",
        arguments: [
            ("a@x", "12345", "", "PASSWORD_TOO_SHORT"), ("a@x", "👍🏽👍🏽👍🏽👍🏽👍🏽", "", "PASSWORD_TOO_SHORT"),
            ("a@x", String(repeating: "x", count: 129), "", "PASSWORD_TOO_LONG"),
            ("a@x", "pass\0word", "", "BAD_TEXT"), ("a\0@x", "password", "", "BAD_TEXT"),
            ("ax", "password", "", "BAD_EMAIL"), ("", "password", "", "BAD_EMAIL"),
            (String(repeating: "a", count: 253) + "@x", "password", "", "BAD_EMAIL"),
            ("a@x", "password", String(repeating: "n", count: 51), "NAME_TOO_LONG"),
        ]
    )
    func refusesBadFields(
        _ email: String,
        _ password: String,
        _ name: String,
        _ reason: String
    ) async throws {
        let passwords = CountedPasswords()
        try await withAccounts {
            passwords.install(&$0)
        } _: { port in
            let client = try WireClient(port: port)
            let status = try client.signUp(email, password: password, name: name).status
            #expect(status?.code == .invalidArgument)
            #expect(status?.reason.rawValue == reason)
            #expect(status?.isNotExecuted == true)
            if name.isEmpty {
                let reasonOfSignIn = try client.signIn(email, password: password).status?.reason
                #expect(reasonOfSignIn?.rawValue == reason)
            }
            #expect(passwords.runCount == 0)
            // Exactly at the limits.
            let longest = String(repeating: "x", count: 128)
            #expect(try client.signUp("b@x", password: longest).status == nil)
            #expect(try client.signUp("c@x", password: "123456").status == nil)
        }
    }

    /// A family has 25 bytes and a zalgo character as many as it likes.
    @Test(
        "a name that is made of the e-mail ends before the @ and keeps the limits of names",
        arguments: [
            (String(repeating: "👨‍👩‍👧‍👦", count: 9), String(repeating: "👨‍👩‍👧‍👦", count: 8)),
            (String(repeating: "n", count: 60), String(repeating: "n", count: 50)),
            (
                "e" + String(repeating: "\u{301}", count: 120),
                "e" + String(repeating: "\u{301}", count: 49)
            ),
        ]
    )
    func aNameOfAnEMailKeepsTheLimits(local: String, name: String) async throws {
        try await withAccounts { port in
            let client = try WireClient(port: port)
            #expect(try client.signUp(local + "@x").session.user?.displayName == name)
            // The mark makes one character of itself and the @.
            #expect(try client.signUp("a@\u{301}b").session.user?.displayName == "a")
        }
    }

    @Test func signInsTakeNoSequence() async throws {
        try await withAccounts { port in
            let client = try WireClient(port: port)
            _ = try client.hello(clientID: [UInt8](repeating: 7, count: 16))
            for request in [
                Request.signUp(SignUpRequest(email: "a@x", password: "password")),
                .signIn(SignInRequest(email: "a@x", password: "password")),
                .signOut(SignOutRequest()),
            ] {
                #expect(try client.call(request, sequence: 1).status?.reason == .badField)
            }
        }
    }

    /// Two devices of one person use the form for the first time at the same moment.
    @Test func signUpsOfOneEMailAtOnceMakeOneAccount() async throws {
        try await withAccounts { port in
            let client = try WireClient(port: port)
            let request = SignInRequest(email: "a@x", password: "password", createsIfMissing: true)
            for _ in 0..<4 { try client.send(.signIn(request)) }
            let sessions = try (0..<4).map { _ in try #require(try client.receive()).session }
            #expect(Set(sessions.map { $0.user?.id }) == [1])
            #expect(sessions.filter(\.createdUser).count == 1)
            #expect(Set(sessions.map(\.token)).count == 4)
            let other = SignInRequest(email: "A@x", password: "not it", createsIfMissing: true)
            #expect(try client.refusal(.signIn(other)) == .badCredentials)
        }
    }

    @Test func theAnswerWaitsForDurability() async throws {
        try await withGatedService {
            CountedPasswords().install(&$0)
        } _: { port, gate in
            let client = try WireClient(port: port)
            #expect(try client.signUp("a@x").status == nil)
            gate.close()
            try client.send(.signIn(SignInRequest(email: "a@x", password: "password")))
            gate.awaitCommit()
            #expect(client.socket.receiveWithoutWaiting().isEmpty)
            gate.open()
            #expect(try #require(try client.receive()).session.user?.id == 1)
        }
    }

    @Test func statisticsCountAccounts() async throws {
        try await withAccounts { port in
            let client = try WireClient(port: port)
            _ = try client.signUp("a@x")
            _ = try client.signIn("a@x")
            for _ in 0..<7 { _ = try client.signIn("b@x") }
            let stats = try client.serverStats()
            #expect(stats.accountCount == 1)
            #expect(stats.sessionCount == 2)
            #expect(stats.queuedHashCount == 0)
            #expect(stats.refusedSignInCount == 1)
        }
    }
}

/// Many sign-ins: wrong ones, many at once, and those whose clients leave.
@Suite(.timeLimit(.minutes(10))) struct SignInFloodTests {
    private final class Clock: Sendable {
        private let nanoseconds = Locked<UInt64>(1 << 40)
        var now: MonotonicInstant { MonotonicInstant(nanoseconds: nanoseconds.withLock { $0 }) }
        func advance(seconds: UInt64) { nanoseconds.withLock { $0 += seconds * 1_000_000_000 } }
    }

    @Test("T-AUTH-5: an e-mail has six wrong passwords a minute, and further ones are not hashed")
    func limitsFailuresOfAnEMail() async throws {
        let passwords = CountedPasswords()
        let clock = Clock()
        try await withClient {
            passwords.install(&$0)
            $0.signInClock = { clock.now }
        } _: { client in
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
        try await withClient {
            passwords.install(&$0)
            $0.limits.accounts.maximumAccountCount = 1
        } _: { client in
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
        try await withClient {
            passwords.install(&$0)
            $0.limits.accounts.maximumSessionCount = 2
        } _: { client throws in
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
        try await withClient {
            passwords.install(&$0)
        } _: { client in
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
            while try stayer.serverStats().connectionCount > 1 {}
            passwords.gate.signal()
            #expect(try stayer.receive()?.status?.reason == .badCredentials)
            try stayer.send(.signIn(SignInRequest(email: "b@x", password: "password")))
            passwords.begun.wait()
            passwords.gate.signal()
            #expect(try stayer.receive()?.status?.reason == .badCredentials)
            #expect(passwords.runCount == 2)
        }
    }

    @Test func aStopAnswersThoseWhoWait() async throws {
        let passwords = CountedPasswords(isGated: true)
        var configuration = ServiceConfiguration(addresses: [.loopback(port: 0)], threadCount: 2)
        passwords.install(&configuration)
        ProcessSetup.ignoreBrokenPipes()
        let server = try FeedServer.startQuietly(configuration)
        let port = try #require(server.addresses.first?.port)
        try await offload {
            let client = try WireClient(port: port)
            let asked = try client.send(.signUp(SignUpRequest(email: "a@x", password: "password")))
            passwords.begun.wait()
            server.beginDraining()
            guard case .goAway(let goAway) = try client.receive()?.response
            else { throw Unexpected("The first that comes is GoAway.") }
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

/// One host's sign-ins beside those of others.
@Suite(.timeLimit(.minutes(2))) struct SignInTurnsTests {
    /// Waits until the service has queued or refused what was sent; returns the refusals.
    private static func settle(_ client: WireClient) throws -> [Status] {
        var refusals: [Status] = []
        // The first answer may leave before the sign-ins of its iteration are queued, the second may not.
        for _ in 0..<2 {
            let ping = try client.send(.ping(PingRequest()))
            while let frame = try client.receive(), frame.id != ping {
                if let status = frame.status { refusals.append(status) }
            }
        }
        return refusals
    }

    /// Twenty hosts have as many sign-ins under way as there is room for.
    @Test("T-AUTH-6: the sign-ins of many hosts keep no other host out")
    func hostsTakeTurns() async throws {
        let passwords = CountedPasswords(isGated: true)
        try await withService {
            passwords.install(&$0)
        } _: { port in
            let first = try WireClient(port: port)
            try first.send(.signIn(SignInRequest(email: "first@x", password: "password")))
            passwords.begun.wait()
            let flood = try (2...21 as ClosedRange<UInt32>).map {
                try WireClient(port: port, from: 0x7f00_0000 + $0)
            }
            var refusedCount = 0
            for (number, client) in flood.enumerated() {
                for _ in 0..<3 {
                    let request = SignInRequest(email: "\(number)@x", password: "password")
                    try client.send(.signIn(request))
                }
                refusedCount += try Self.settle(client).count
            }
            #expect(refusedCount > 0)
            let honest = try (1...3 as ClosedRange<UInt32>).map {
                try WireClient(port: port, from: 0x7f00_0100 + $0)
            }
            for client in honest {
                try client.send(.signIn(SignInRequest(email: "honest@x", password: "password")))
                #expect(try Self.settle(client) == [])
            }
            // Each host of the flood has waited longer, and has one turn before them.
            for _ in 0..<24 { passwords.gate.signal() }
            for client in honest {
                #expect(try client.receive()?.status?.reason == .badCredentials)
            }
            #expect(passwords.runCount <= 25)
            for _ in 0..<40 { passwords.gate.signal() }
        }
    }

    @Test("T-AUTH-5: a key that everybody has is no peer: wrong passwords count for the host")
    func anAppKeyIsNoPeer() async throws {
        try await withTestKeys { port, keys in
            func client(from host: UInt32) throws -> WireClient {
                let client = try WireClient(port: port, from: host)
                let hello = HelloRequest(serviceKey: keys.app.bytes)
                #expect(try client.refusal(.hello(hello)) == nil)
                return client
            }
            let attacker = try client(from: 0x7f00_0002)
            for number in 0..<6 {
                let status = try attacker.signIn("\(number)@x", password: "wrong one").status
                #expect(status?.reason == .badCredentials)
            }
            #expect(try attacker.signIn("6@x").status?.reason == .rateLimited)
            #expect(try client(from: 0x7f00_0002).signIn("7@x").status?.reason == .rateLimited)
            let other = try client(from: 0x7f00_0003)
            #expect(try other.signUp("8@x").status == nil)
            #expect(try other.signIn("8@x").status == nil)
        }
    }
}

/// A weak and quick argon2id that counts its runs and can be held up.
final class CountedPasswords: Sendable {
    private let runs = Locked(0)
    private let isGated: Bool
    /// Signalled when a gated run begins.
    let begun = Semaphore()
    /// Lets one gated run go on.
    let gate = Semaphore()

    init(isGated: Bool = false) { self.isGated = isGated }

    /// The number of hashes that were begun.
    var runCount: Int { runs.withLock { $0 } }

    func install(_ configuration: inout ServiceConfiguration) {
        // A hashing thread stands back behind all others, also on a busy machine.
        configuration.limits.defaultTimeoutMilliseconds = 60_000
        configuration.passwordFunctions = PasswordHasher.Functions(
            hash: { [self] password in
                count()
                return PasswordHasher.Functions.weakArgon2id.hash(password)
            },
            matches: { [self] hash, password in
                count()
                return PasswordHasher.Functions.weakArgon2id.matches(hash, password)
            }
        )
    }

    private func count() {
        runs.withLock { $0 += 1 }
        guard isGated else { return }
        begun.signal()
        gate.wait()
    }
}

/// Runs a service whose passwords are hashed quickly, as ``withService(threads:_:_:)`` does.
func withAccounts(
    threads: Int = 1,
    _ configure: (inout ServiceConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (UInt16) throws -> Void
) async throws {
    try await withService(threads: threads) {
        CountedPasswords().install(&$0)
        configure(&$0)
    } _: {
        try body($0)
    }
}

extension WireClient {
    func signUp(
        _ email: String,
        password: String = "password",
        name: String = ""
    ) throws -> ServerFrame {
        let request = SignUpRequest(email: email, password: SecretText(password), displayName: name)
        return try call(.signUp(request))
    }

    func signIn(
        _ email: String,
        password: String = "password",
        creates: Bool = false
    ) throws -> ServerFrame {
        let request = SignInRequest(
            email: email,
            password: SecretText(password),
            createsIfMissing: creates
        )
        return try call(.signIn(request))
    }

    func hello(token: [UInt8], clientID: [UInt8] = []) throws -> ServerFrame {
        try call(.hello(HelloRequest(clientID: clientID, sessionToken: token)))
    }

    /// The reason of the refusal of a call; nil where it succeeds.
    func refusal(_ request: Request) throws -> Reason? { try call(request).status?.reason }
}

extension ServerFrame {
    /// The session of the answer; throws the answer's refusal where it has none.
    var session: UserSession {
        get throws {
            guard case .session(let session) = response else {
                throw status ?? Status(code: .unknown, reason: .internal, message: "No session.")
            }
            return session
        }
    }
}
