import FeedClient
import FeedProto
import Testing

/// Which session each connection's Hello shows.
struct SessionSignInTests {
    private static let token = [UInt8](repeating: 9, count: Secret.byteCount)
    private static let key = [UInt8](repeating: 3, count: Secret.byteCount)
    private static let signIn = Request.signIn(SignInRequest(email: "a@b", password: "secret"))

    private static func session(_ token: [UInt8]) -> Response {
        .session(
            UserSession(token: token, user: User(displayName: "Ada"), expireTimeMilliseconds: 1)
        )
    }

    /// A session whose connection was lost, with a call that makes it connect again.
    private static func reconnect(_ harness: inout SessionHarness) {
        harness.lose()
        harness.submit(50, SessionHarness.read)
        harness.connect()
    }

    @Test func eachConnectionShowsTheKeyAndTheTokenOfTheConfiguration() {
        var harness = SessionHarness.opened { settings in
            settings.hello.serviceKey = Self.key
            settings.hello.sessionToken = Self.token
        }
        #expect(harness.hello?.serviceKey == Self.key)
        #expect(harness.hello?.sessionToken == Self.token)
        Self.reconnect(&harness)
        #expect(harness.hello?.serviceKey == Self.key)
        #expect(harness.hello?.sessionToken == Self.token)
    }

    @Test func whoHasSignedInIsSignedInOnTheNextConnection() {
        var harness = SessionHarness.opened()
        #expect(harness.hello?.sessionToken == [])
        harness.submit(1, Self.signIn)
        harness.receive(2, Self.session(Self.token))
        #expect(harness.isAnswered(1))
        Self.reconnect(&harness)
        #expect(harness.hello?.sessionToken == Self.token)
    }

    @Test(arguments: [
        Request.changePassword(ChangePasswordRequest(password: "a", newPassword: "b")),
        .resetPassword(ResetPasswordRequest(token: [], newPassword: "b")),
    ])
    func aNewPasswordBringsTheNextSession(request: Request) {
        let former = [UInt8](repeating: 4, count: 32)
        var harness = SessionHarness.opened { $0.hello.sessionToken = former }
        harness.submit(1, request)
        harness.receive(2, Self.session(Self.token))
        #expect(harness.isAnswered(1))
        Self.reconnect(&harness)
        #expect(harness.hello?.sessionToken == Self.token)
    }

    @Test func readingTheSessionKeepsItsToken() {
        var harness = SessionHarness.opened { $0.hello.sessionToken = Self.token }
        harness.submit(1, .getSession)
        harness.receive(2, Self.session([]))
        Self.reconnect(&harness)
        #expect(harness.hello?.sessionToken == Self.token)
    }

    @Test func whoHasSignedOutIsNobodyOnTheNextConnection() {
        var harness = SessionHarness.opened { $0.hello.sessionToken = Self.token }
        harness.submit(1, .signOut(SignOutRequest()))
        harness.receive(2, .empty)
        Self.reconnect(&harness)
        #expect(harness.hello?.sessionToken == [])
    }

    @Test func aRefusedSignOutKeepsTheSession() {
        var harness = SessionHarness.opened { $0.hello.sessionToken = Self.token }
        harness.submit(1, .signOut(SignOutRequest()))
        harness.receive(2, Status(code: .internal, reason: .internal, message: "no"))
        Self.reconnect(&harness)
        #expect(harness.hello?.sessionToken == Self.token)
    }

    /// A sign-in may leave before it would, and it would end the session of that.
    @Test func aSignOutThatIsRefusedForNowIsNotSentAgain() {
        var harness = SessionHarness.opened { $0.hello.sessionToken = Self.token }
        harness.submit(1, .signOut(SignOutRequest()))
        harness.receive(2, .overloaded())
        #expect(harness.error(1) == .refused(.overloaded()))
    }

    @Test func anEndedSessionIsToldOnceAndForgotten() {
        let status = Status(code: .unauthenticated, reason: .sessionExpired, message: "over")
        var harness = SessionHarness { $0.hello.sessionToken = Self.token }
        harness.open()
        harness.session.connected()
        harness.run()
        harness.receive(1, status)
        #expect(harness.error(99) == .refused(status))
        harness.submit(1, SessionHarness.read)
        harness.connect()
        #expect(harness.hello?.sessionToken == [])
    }

    @Test func aCallOfAnEndedSessionForgetsItToo() {
        let status = Status(code: .unauthenticated, reason: .sessionExpired, message: "over")
        var harness = SessionHarness.opened { $0.hello.sessionToken = Self.token }
        harness.submit(1, SessionHarness.read)
        harness.receive(2, status)
        #expect(harness.error(1) == .refused(status))
        Self.reconnect(&harness)
        #expect(harness.hello?.sessionToken == [])
    }

    @Test func theNextCallOfAnEndedSessionLeavesOverAConnectionOfNobody() {
        let status = Status(code: .unauthenticated, reason: .sessionExpired, message: "over")
        var harness = SessionHarness.opened { $0.hello.sessionToken = Self.token }
        harness.submit(1, SessionHarness.read)
        harness.submit(2, SessionHarness.read)
        harness.receive(2, status)
        harness.submit(3, SessionHarness.read)
        #expect(harness.takeSent() == [1, 2], "The connection is the one of the ended session.")
        harness.answer(3)
        #expect(harness.isAnswered(2))
        #expect(harness.demands.last == .close)
        harness.lose()
        harness.connect()
        #expect(harness.hello?.sessionToken == [])
        #expect(harness.takeSent() == [3])
        harness.answer(2)
        #expect(harness.isAnswered(3))
        #expect(harness.endedSessions.count == 1)
    }

    @Test("the end of a session on another connection", arguments: [false, true])
    func anEndElsewhereIsTheEndHere(isGreeting: Bool) throws {
        let status = Status(code: .unauthenticated, reason: .sessionExpired, message: "over")
        var first = SessionHarness.opened { $0.hello.sessionToken = Self.token }
        first.submit(1, SessionHarness.read)
        first.receive(2, status)
        let ended = try #require(first.endedSessions.first)

        var harness = SessionHarness.opened { $0.hello.sessionToken = Self.token }
        if isGreeting {
            harness.lose()
            harness.submit(1, SessionHarness.read, within: 60_000)
            harness.pass(5_000)
            harness.session.connected()
            harness.run()
        }
        harness.session.forget(ended)
        harness.run()
        if isGreeting {
            harness.receive(1, status)
        } else {
            #expect(harness.demands.last == .close)
            harness.lose()
            harness.submit(1, SessionHarness.read)
        }
        harness.connect()
        #expect(harness.hello?.sessionToken == [])
        #expect(harness.takeSent() == [1])
        #expect(harness.endedSessions.isEmpty)
        // A session that has begun since is another one.
        harness.session.adopt(sessionToken: Self.key)
        harness.session.forget(ended)
        harness.run()
        Self.reconnect(&harness)
        #expect(harness.hello?.sessionToken == Self.key)
    }

    @Test func aSessionWithoutAWholeTokenIsNone() {
        var harness = SessionHarness.opened()
        harness.submit(1, Self.signIn)
        harness.receive(2, Self.session([UInt8](repeating: 1, count: 1 << 21)))
        Self.reconnect(&harness)
        #expect(harness.hello?.sessionToken == [])
    }

    @Test("what left as a user's is not executed as the device's", arguments: [true, false])
    func changesOfAnEndedSessionAreNotSentAgain(goesAway: Bool) {
        let status = Status(code: .unauthenticated, reason: .sessionExpired, message: "over")
        var harness = SessionHarness.opened { $0.hello.sessionToken = Self.token }
        for caller in 1...3 { harness.submit(caller) }
        harness.submit(4, SessionHarness.read)
        harness.receive(2, status)
        // The answer to a call in flight still comes.
        harness.answer(4)
        #expect(harness.isAnswered(3))
        if goesAway { harness.sendGoAway(lastID: 3) }
        harness.lose()
        #expect(harness.error(1) == .refused(status))
        #expect(harness.error(2) == .refused(status.withEffect))
        #expect(harness.error(2)?.effect == .unknown)
        #expect(harness.error(4) == .refused(status.withoutEffect))
        harness.sent = []
        harness.submit(5)
        harness.connect(SessionHarness.hello(isKnown: true))
        #expect(harness.hello?.sessionToken == [])
        #expect(harness.takeSent() == [5])
    }

    @Test func aRefusedChangeOfAnEndedSessionDoesNotWaitForItsNextTry() {
        let status = Status(code: .unauthenticated, reason: .sessionExpired, message: "over")
        var harness = SessionHarness.opened { $0.hello.sessionToken = Self.token }
        harness.submit(1)
        harness.submit(2)
        harness.receive(2, Status.overloaded(retryAfter: 500))
        harness.receive(3, status)
        #expect(harness.error(1) == .refused(status.withoutEffect))
        harness.pass(5_000)
        #expect(harness.takeSent() == [1, 2])
    }

    @Test func aPasswordWhoseAnswerWasLostIsNotSentAgain() {
        var harness = SessionHarness.opened()
        harness.submit(1, Self.signIn)
        harness.lose()
        #expect(harness.error(1)?.effect == .unknown)
    }

    @Test func aTokenFromElsewhereIsShownByTheNextConnection() {
        var harness = SessionHarness.opened()
        harness.submit(1)
        harness.session.adopt(sessionToken: Self.token)
        harness.submit(2)
        #expect(harness.sent.count == 1, "The call waits for the connection of the session.")
        harness.answer(2)
        #expect(harness.isAnswered(1))
        #expect(harness.demands.last == .close)
        harness.lose()
        harness.connect()
        #expect(harness.hello?.sessionToken == Self.token)
        #expect(harness.sent.count == 2)
    }

    @Test func aLateEndOfTheFormerSessionKeepsTheNewOne() {
        let status = Status(code: .unauthenticated, reason: .sessionExpired, message: "over")
        var harness = SessionHarness.opened { $0.hello.sessionToken = Self.key }
        harness.submit(1)
        harness.submit(2)
        harness.session.adopt(sessionToken: Self.token)
        harness.receive(2, status)
        #expect(harness.error(1) == .refused(status))
        // Another sign-in, while the connection still waits for an answer.
        harness.session.adopt(sessionToken: Self.key)
        harness.receive(3, status)
        #expect(harness.error(2) == .refused(status))
        #expect(harness.demands.last == .close)
        harness.lose()
        harness.submit(3)
        harness.connect()
        #expect(harness.hello?.sessionToken == Self.key)
        // The connection is the one of this session, whose end counts.
        harness.receive(2, status)
        Self.reconnect(&harness)
        #expect(harness.hello?.sessionToken == [])
    }

    @Test func aTokenThatComesDuringHelloIsShownByAnother() {
        var harness = SessionHarness()
        harness.open()
        harness.session.connected()
        harness.run()
        harness.session.adopt(sessionToken: Self.token)
        harness.receive(1, SessionHarness.hello())
        #expect(harness.isAnswered(99))
        #expect(harness.demands.last == .close)
        harness.lose()
        harness.submit(1)
        harness.connect()
        #expect(harness.hello?.sessionToken == Self.token)
    }
}

extension Status {
    /// The status of a call that may have been executed.
    fileprivate var withEffect: Status {
        var status = self
        status.isNotExecuted = false
        return status
    }

    fileprivate var withoutEffect: Status {
        var status = self
        status.isNotExecuted = true
        return status
    }
}
