import FeedAccounts
import FeedConcurrency
import FeedProto
import FeedService
import FeedState
import FeedTestSupport
import FeedTransport
import Testing

/// What a user changes of the own account.
@Suite(.timeLimit(.minutes(10))) struct AccountChangeTests {
    private static func change(_ password: String, to new: String) -> Request {
        .changePassword(
            ChangePasswordRequest(password: SecretText(password), newPassword: SecretText(new))
        )
    }

    private static func change(email: String, _ password: String = "password") -> Request {
        .changeEmail(ChangeEmailRequest(password: SecretText(password), email: email))
    }

    @Test("T-AUTH-15: a changed password ends all sessions but the one that it begins")
    func changesThePassword() async throws {
        try await withAccounts(threads: 2) { port in
            let client = try WireClient(port: port)
            let created = try client.signUp("a@x").session
            let other = try WireClient(port: port)
            let stolen = try other.signIn("a@x").session.token
            let session = try client.call(Self.change("password", to: "another one")).session
            #expect(session.user == created.user && !session.createdUser)
            #expect(session.token.count == 32)
            #expect(try client.call(.getSession).session.user == created.user)
            #expect(try other.refusal(.getSession) == .sessionExpired)
            for token in [created.token, stolen] {
                #expect(try other.hello(token: token).status?.reason == .sessionExpired)
            }
            #expect(try other.hello(token: session.token).status == nil)
            #expect(try other.signIn("a@x").status?.reason == .badCredentials)
            #expect(try other.signIn("a@x", password: "another one").status == nil)
        }
    }

    @Test func aRefusedChangeChangesNothing() async throws {
        let passwords = CountedPasswords()
        try await withAccounts {
            passwords.install(&$0)
        } _: { port in
            let client = try WireClient(port: port)
            #expect(try client.refusal(Self.change("password", to: "another")) == .identityRequired)
            #expect(try client.refusal(Self.change(email: "b@x")) == .identityRequired)
            _ = try client.signUp("a@x")
            _ = try WireClient(port: port).signUp("b@x")
            let count = passwords.runCount
            #expect(try client.refusal(Self.change("password", to: "12345")) == .passwordTooShort)
            let long = String(repeating: "x", count: 129)
            let tooLong = try client.call(Self.change("password", to: long)).status
            #expect(tooLong?.reason == .passwordTooLong)
            #expect(tooLong?.violations.map(\.field) == ["new_password"])
            #expect(try client.refusal(Self.change(email: "b")) == .badEmail)
            #expect(passwords.runCount == count)
            for request in [
                Self.change("wrong one", to: "another"), Self.change(email: "c@x", "wrong one"),
            ] {
                let status = try client.call(request).status
                #expect(status?.code == .unauthenticated && status?.reason == .badCredentials)
                #expect(status?.message == "The user has another password.")
                #expect(status?.isNotExecuted == true)
            }
            #expect(try client.refusal(Self.change(email: "B@x")) == .emailTaken)
            #expect(try client.refusal(.getSession) == nil)
            #expect(try client.signIn("a@x").status == nil)
        }
    }

    @Test func aChangedEMailKeepsTheSessionsAndFreesTheOldOne() async throws {
        try await withAccounts { port in
            let client = try WireClient(port: port)
            let user = try client.signUp("a@x").session.user
            #expect(try client.refusal(Self.change(email: "b@x")) == nil)
            #expect(try client.call(.getSession).session.user == user)
            let other = try WireClient(port: port)
            #expect(try other.signIn("a@x").status?.reason == .badCredentials)
            #expect(try other.signIn("b@x").session.user == user)
            #expect(try other.signUp("a@x").session.user?.id == 2)
        }
    }

    @Test("T-AUTH-5: wrong passwords of a change count as failed sign-ins do")
    func limitsWrongPasswords() async throws {
        let passwords = CountedPasswords()
        try await withAccounts {
            passwords.install(&$0)
        } _: { port in
            let client = try WireClient(port: port)
            _ = try client.signUp("a@x")
            for number in 0..<6 {
                let password = Self.change("wrong one", to: "another")
                let email = Self.change(email: "b@x", "wrong one")
                let refusal = try client.refusal(number % 2 == 0 ? password : email)
                #expect(refusal == .badCredentials)
            }
            let count = passwords.runCount
            #expect(try client.refusal(Self.change("password", to: "another")) == .rateLimited)
            #expect(try client.refusal(Self.change(email: "b@x")) == .rateLimited)
            #expect(try client.signIn("a@x").status?.reason == .rateLimited)
            #expect(passwords.runCount == count)
        }
    }

    /// The old password is compared once more where another change was faster.
    @Test func ofTwoChangesAtOnceOneIsMade() async throws {
        let passwords = CountedPasswords(isGated: true)
        try await withAccounts(threads: 2) {
            passwords.install(&$0)
        } _: { port in
            let clients = try [WireClient(port: port), WireClient(port: port)]
            for _ in 0..<2 { passwords.gate.signal() }
            _ = try clients[0].signUp("a@x")
            _ = try clients[1].signIn("a@x")
            for (number, client) in clients.enumerated() {
                try client.send(Self.change("password", to: "password \(number)"))
            }
            // Both are there before the first one is made, which ends the session of the other.
            for _ in 0..<3 { passwords.begun.wait() }
            let other = try WireClient(port: port)
            while try other.serverStats().queuedHashCount == 0 {}
            for _ in 0..<6 { passwords.gate.signal() }
            let answers = try clients.map { try #require(try $0.receive()).status }
            #expect(answers.count { $0 == nil } == 1)
            #expect(answers.count { $0?.message == "The user has another password." } == 1)
            #expect(answers.allSatisfy { $0 == nil || $0?.reason == .badCredentials })
        }
    }

    @Test func listsAndEndsSessions() async throws {
        try await withAccounts(threads: 2) { port in
            let clients = try (0..<3).map { _ in
                let client = try WireClient(port: port)
                _ = try client.signIn("a@x", creates: true).session
                return client
            }
            let stranger = try WireClient(port: port)
            #expect(try stranger.refusal(.listSessions) == .identityRequired)
            let strangers = try stranger.signUp("b@x").session
            let list = try clients[1].sessions()
            #expect(list.map(\.isCurrent) == [false, true, false])
            #expect(Set(list.map(\.id)).count == 3)
            for session in list {
                let lasts = session.expireTimeMilliseconds - session.useTimeMilliseconds
                #expect(lasts == 30 * 86_400_000)
            }
            #expect(try stranger.sessions().map(\.isCurrent) == [true])
            // Nobody ends another user's session, and an end is repeated without effect.
            let end = Request.endSession(EndSessionRequest(id: list[0].id))
            #expect(try stranger.refusal(end) == nil)
            #expect(try clients[0].refusal(.getSession) == nil)
            for _ in 0..<2 { #expect(try clients[1].refusal(end) == nil) }
            #expect(try clients[0].refusal(.getSession) == .sessionExpired)
            #expect(try clients[2].sessions().map(\.id) == list.dropFirst().map(\.id))
            let own = Request.endSession(EndSessionRequest(id: list[1].id))
            #expect(try clients[1].refusal(own) == nil)
            #expect(try clients[1].refusal(.getSession) == .sessionExpired)
            #expect(try stranger.call(.getSession).session.user == strangers.user)
        }
    }

    @Test func whatFollowsTheEndOfTheOwnSessionIsNotTheUsers() async throws {
        try await withAccounts { port in
            let client = try WireClient(port: port)
            _ = try client.signUp("a@x")
            let post = try client.createPost(title: "a post")
            let own = try #require(try client.sessions().first).id
            // In one write, and so in one read.
            let requests: [Request] = [
                .endSession(EndSessionRequest(id: own)),
                .castVote(CastVoteRequest(postID: post, direction: .up)),
            ]
            let frames = try requests.flatMap { request in
                try ClientFrame(id: client.nextID(), request: request).encoded()
            }
            try client.socket.send(frames)
            #expect(try #require(try client.receive()).status == nil)
            #expect(try #require(try client.receive()).status?.reason == .sessionExpired)
        }
    }

    @Test func takeNoSequence() async throws {
        try await withAccounts { port in
            let client = try WireClient(port: port)
            _ = try client.hello(clientID: [UInt8](repeating: 7, count: 16))
            for request in [
                Self.change("password", to: "another"), Self.change(email: "b@x"), .listSessions,
                .deleteAccount(DeleteAccountRequest(password: "password")),
                .endSession(EndSessionRequest(id: 1)),
                .changeUser(ChangeUserRequest(userID: 1, change: .suspend)),
                .makePasswordReset(MakePasswordResetRequest(userID: 1)),
                .resetPassword(ResetPasswordRequest(token: [], newPassword: "another")),
            ] {
                #expect(try client.call(request, sequence: 1).status?.reason == .badField)
            }
        }
    }

    @Test func theAnswerWaitsForDurability() async throws {
        try await withGatedService {
            CountedPasswords().install(&$0)
        } _: { port, gate in
            let client = try WireClient(port: port)
            #expect(try client.signUp("a@x").status == nil)
            gate.close()
            try client.send(Self.change("password", to: "another"))
            gate.awaitCommit()
            #expect(client.socket.receiveWithoutWaiting().isEmpty)
            gate.open()
            #expect(try #require(try client.receive()).session.user?.id == 1)
        }
    }
}

/// What a service does with users.
@Suite(.timeLimit(.minutes(10))) struct UserChangeTests {
    private static func change(_ id: UserID, _ change: UserChange) -> Request {
        .changeUser(ChangeUserRequest(userID: id, change: change))
    }

    private static func reset(_ token: [UInt8], to password: String = "another one") -> Request {
        .resetPassword(ResetPasswordRequest(token: token, newPassword: SecretText(password)))
    }

    @Test func endsTheSessionsOfAUser() async throws {
        try await withAccounts(threads: 2) { port in
            let (ann, bob) = (try WireClient(port: port), try WireClient(port: port))
            _ = try ann.signUp("ann@x")
            _ = try bob.signUp("bob@x")
            let service = try WireClient(port: port)
            let byEmail = ChangeUserRequest(email: "ANN@x", change: .endSessions)
            for request in [Self.change(1, .endSessions), .changeUser(byEmail)] {
                #expect(try service.refusal(request) == nil)
                #expect(try ann.refusal(.getSession) == .sessionExpired)
                #expect(try bob.refusal(.getSession) == nil)
                #expect(try ann.signIn("ann@x").status == nil)
            }
            #expect(try service.refusal(Self.change(3, .endSessions)) == .userNotFound)
            #expect(try service.refusal(Self.change(.ofService(0), .suspend)) == .userNotFound)
            let unknown = ChangeUserRequest(email: "eve@x", change: .suspend)
            #expect(try service.call(.changeUser(unknown)).status?.code == .notFound)
            #expect(try service.refusal(Self.change(1, .unspecified)) == .badField)
            #expect(try service.refusal(Self.change(0, .suspend)) == .badEmail)
            #expect(try ann.refusal(.getSession) == nil)
        }
    }

    @Test("T-AUTH-16: a suspended user is signed out, and nobody acts as the user")
    func suspendsAUser() async throws {
        try await withAccounts(threads: 2) { port in
            let (ann, service) = (try WireClient(port: port), try WireClient(port: port))
            let token = try ann.signUp("ann@x").session.token
            let post = try ann.createPost(title: "a post")
            for _ in 0..<2 { #expect(try service.refusal(Self.change(1, .suspend)) == nil) }
            #expect(try ann.refusal(.getSession) == .sessionExpired)
            #expect(try ann.hello(token: token).status?.reason == .sessionExpired)
            let status = try ann.signIn("ann@x").status
            #expect(status?.code == .permissionDenied && status?.reason == .userSuspended)
            // Who does not know the password learns nothing.
            let wrong = try ann.signIn("ann@x", password: "wrong one").status
            #expect(wrong?.reason == .badCredentials)
            #expect(try ann.signUp("ann@x").status?.reason == .emailTaken)
            let read = Request.getPost(GetPostRequest(id: post))
            #expect(try service.call(read, acting: 1).status?.reason == .userSuspended)
            #expect(
                try service.refusal(.makePasswordReset(MakePasswordResetRequest(userID: 1)))
                    == .userSuspended
            )
            #expect(try service.refusal(read) == nil)
            for _ in 0..<2 { #expect(try service.refusal(Self.change(1, .restore)) == nil) }
            #expect(try service.call(read, acting: 1).status == nil)
            #expect(try ann.signIn("ann@x").status == nil)
            #expect(try ann.hello(token: token).status?.reason == .sessionExpired)
        }
    }

    @Test("T-AUTH-17: the newest token of a user sets the password, once, and is no session")
    func resetsAPassword() async throws {
        try await withAccounts(threads: 2) { port in
            let (ann, service) = (try WireClient(port: port), try WireClient(port: port))
            let user = try ann.signUp("ann@x").session.user
            let byEmail = MakePasswordResetRequest(email: "Ann@x")
            let first = try service.passwordReset(byEmail)
            let second = try service.passwordReset(MakePasswordResetRequest(userID: 1))
            #expect(second.user == user && second.token.count == 32)
            let forgetful = try WireClient(port: port)
            var forged = second.token
            forged[3] ^= 1
            for token in [[], first.token, forged, [UInt8](repeating: 1, count: 33)] {
                let status = try forgetful.call(Self.reset(token)).status
                #expect(status?.code == .unauthenticated && status?.reason == .badCredentials)
            }
            #expect(try forgetful.hello(token: second.token).status?.reason == .sessionExpired)
            let token = try ann.signIn("ann@x").session.token
            #expect(try ann.refusal(Self.reset(token)) == .badCredentials)
            let short = Self.reset(second.token, to: "12345")
            #expect(try forgetful.refusal(short) == .passwordTooShort)
            let session = try forgetful.call(Self.reset(second.token)).session
            #expect(session.user == user)
            #expect(try forgetful.call(.getSession).session.user == user)
            #expect(try ann.refusal(.getSession) == .sessionExpired)
            #expect(try ann.refusal(Self.reset(second.token)) == .badCredentials)
            #expect(try ann.signIn("ann@x").status?.reason == .badCredentials)
            #expect(try ann.signIn("ann@x", password: "another one").status == nil)
            let unknown = MakePasswordResetRequest(email: "eve@x")
            #expect(try service.refusal(.makePasswordReset(unknown)) == .userNotFound)
        }
    }

    @Test func anExpiredTokenResetsNothing() async throws {
        let offset = Locked<Int64>(0)
        try await withAccounts {
            $0.limits.accounts.resetDuration = .seconds(60)
            $0.timeOfDay = { 1_700_000_000_000 + offset.withLock { $0 } }
        } _: { port in
            let client = try WireClient(port: port)
            _ = try client.signUp("ann@x")
            let reset = try client.passwordReset(MakePasswordResetRequest(userID: 1))
            #expect(reset.expireTimeMilliseconds == 1_700_000_060_000)
            offset.withLock { $0 = 60_000 }
            #expect(try client.refusal(Self.reset(reset.token)) == .badCredentials)
        }
    }

    /// All of it is durable: a start finds it, whether it was checkpointed or not.
    @Test func outliveTheService() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path
        let known = Locked<(token: [UInt8], reset: [UInt8])>(([], []))
        func serve(
            _ body: @escaping @Sendable (WireClient, WireClient) throws -> Void
        ) async throws {
            try await withAccounts {
                $0.state = StateOptions(path: path, logCount: 1)
            } _: { port in
                try body(WireClient(port: port), WireClient(port: port))
            }
        }
        try await serve { client, service in
            _ = try client.signUp("ann@x")
            let change = ChangePasswordRequest(password: "password", newPassword: "another one")
            let token = try client.call(.changePassword(change)).session.token
            let email = ChangeEmailRequest(password: "another one", email: "anna@x")
            #expect(try client.refusal(.changeEmail(email)) == nil)
            _ = try service.signUp("bob@x")
            #expect(try service.refusal(Self.change(2, .suspend)) == nil)
            let reset = try service.signUp("eve@x").session.user?.id ?? 0
            let made = try service.passwordReset(MakePasswordResetRequest(userID: reset))
            known.withLock { $0 = (token, made.token) }
        }
        try await serve { client, service in
            let (token, reset) = known.withLock { $0 }
            #expect(try client.hello(token: token).status == nil)
            #expect(try client.sessions().count == 1)
            let old = try client.signIn("ann@x", password: "another one").status
            #expect(old?.reason == .badCredentials)
            #expect(try client.signIn("anna@x", password: "another one").session.user?.id == 1)
            #expect(try client.signIn("bob@x").status?.reason == .userSuspended)
            #expect(try service.call(Self.reset(reset)).session.user?.id == 3)
            #expect(try service.refusal(Self.change(2, .restore)) == nil)
        }
        try await serve { (client, _) throws in
            #expect(try client.signIn("bob@x").status == nil)
            #expect(try client.signIn("eve@x", password: "another one").status == nil)
            #expect(try client.signUp("ann@x").session.user?.id == 4)
        }
    }
}

extension WireClient {
    func call(_ request: Request, acting user: UserID) throws -> ServerFrame {
        try send(ClientFrame(id: nextID(), request: request, actingUserID: user))
        return try #require(try receive())
    }

    fileprivate func sessions() throws -> [SessionInfo] {
        let answer = try call(.listSessions)
        guard case .listSessions(let list) = answer.response else { throw Unexpected(answer) }
        return list.sessions
    }

    func passwordReset(_ request: MakePasswordResetRequest) throws -> PasswordReset {
        let answer = try call(.makePasswordReset(request))
        guard case .passwordReset(let reset) = answer.response else { throw Unexpected(answer) }
        return reset
    }
}
