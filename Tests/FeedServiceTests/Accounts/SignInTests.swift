import FeedProto
import FeedService
import FeedTestSupport
import Testing

/// SignUp and SignIn.
@Suite(.timeLimit(.minutes(10)))
struct SignInTests {
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
            guard case .serverStats(let stats) = try client.call(.getServerStats).response else {
                Issue.record("GetServerStats answers with the statistics.")
                return
            }
            #expect(stats.accountCount == 1)
            #expect(stats.sessionCount == 2)
            #expect(stats.queuedHashCount == 0)
            #expect(stats.refusedSignInCount == 1)
        }
    }
}
