import FeedClient
import FeedConcurrency
import FeedProto
import FeedTestSupport
import FeedTransport
import Testing

/// How a session connects, says Hello, drains, and comes back.
struct SessionConnectionTests {
    @Test func introducesItselfWithItsIDAndChannel() {
        var harness = SessionHarness { $0.hello.channel = 5 }
        harness.open()
        harness.connect()
        #expect(harness.hello?.channel == 5)
        #expect(harness.hello?.clientID.count == 16)
        #expect(harness.isAnswered(99))
    }

    @Test func theFirstFailureToConnectIsToldAtOnce() {
        var harness = SessionHarness()
        harness.open()
        harness.lose(.cannotConnect("refused"))
        #expect(harness.error(99) == .cannotConnect(reason: "refused"))
        harness.pass(100_000)
        #expect(harness.demands == [.connect])
    }

    @Test func aPatientSessionTriesUntilItsTimeIsOver() {
        var harness = SessionHarness { $0.waitsForService = true }
        harness.open(within: 9_000)
        for _ in 0..<3 {
            harness.lose(.cannotConnect("refused"))
            #expect(harness.error(99) == nil)
            harness.pass(2_000)
            #expect(harness.demands.last == .connect)
        }
        harness.lose(.cannotConnect("refused"))
        harness.pass(3_000)
        #expect(harness.error(99) == .cannotConnect(reason: "refused"))
    }

    @Test func waitsBetweenTriesAtMostTheLimitOfEachRound() {
        var harness = SessionHarness.opened()
        harness.submit(1, within: 1_000_000)
        harness.lose()
        var waits: [Duration] = []
        for _ in 0..<8 {
            let due = harness.wake ?? harness.time
            waits.append(due.duration(since: harness.time))
            harness.pass(2_000)
            #expect(harness.demands.last == .connect)
            harness.lose(.cannotConnect("refused"))
        }
        let limits = [50, 100, 200, 400, 800, 1_600, 2_000, 2_000]
        for (wait, limit) in zip(waits, limits) { #expect(wait <= .milliseconds(limit)) }
        #expect(Set(waits).count == 8)
    }

    @Test func aHelloWithoutAnAnswerIsNoProgress() {
        var harness = SessionHarness.opened { $0.retry.maximumAttemptCount = 100 }
        harness.submit(1, SessionHarness.read, within: 1_000_000)
        for _ in 0..<12 {
            harness.lose()
            harness.connect()
        }
        harness.lose()
        var longest = Duration.zero
        for _ in 0..<20 {
            longest = max(longest, (harness.wake ?? harness.time).duration(since: harness.time))
            harness.connect()
            harness.lose()
        }
        #expect(longest > .milliseconds(50))
    }

    @Test func anAnswerEndsTheGrowthOfTheWaits() {
        var harness = SessionHarness.opened { $0.retry.maximumAttemptCount = 100 }
        for caller in 1...12 {
            harness.submit(caller, SessionHarness.read)
            harness.lose()
            let wait = (harness.wake ?? harness.time).duration(since: harness.time)
            #expect(wait <= .milliseconds(50))
            harness.connect()
            harness.answer(2)
            #expect(harness.isAnswered(caller))
        }
    }

    @Test func anIdleSessionConnectsForTheNextCallOnly() {
        var harness = SessionHarness.opened()
        harness.lose()
        harness.pass(100_000)
        #expect(harness.demands.isEmpty)
        harness.submit(1)
        #expect(harness.demands == [.connect])
    }

    @Test func callsWaitForAConnectionUntilTheirDeadline() {
        var harness = SessionHarness.opened()
        harness.submit(1, within: 3_000)
        harness.submit(2, SessionHarness.read, within: 3_000)
        harness.lose()
        harness.submit(3, within: 3_000)
        for _ in 0..<30 {
            if harness.demands.last == .connect {
                harness.demands = []
                harness.lose(.cannotConnect("refused"))
            }
            harness.pass(100)
        }
        #expect(harness.error(1) == .deadlinePassed(timeout: .seconds(3), effect: .unknown))
        #expect(harness.error(2) == .cannotConnect(reason: "refused"))
        #expect(harness.error(3) == .cannotConnect(reason: "refused"))
    }

    @Test func aTryToConnectHasItsTime() {
        var harness = SessionHarness.opened()
        harness.submit(1, SessionHarness.read, within: 60_000)
        harness.lose()
        harness.pass(2_000)
        #expect(harness.demands == [.connect])
        harness.pass(5_000)
        #expect(harness.demands == [.connect, .abandon])
        harness.connect()
        #expect(harness.error(1) == nil)
        harness.answer(2)
        #expect(harness.isAnswered(1))
    }

    @Test func aHelloHasTheSameTime() {
        var harness = SessionHarness.opened()
        harness.submit(1, SessionHarness.read, within: 60_000)
        harness.lose()
        harness.pass(2_000)
        harness.session.connected()
        harness.pass(4_999)
        #expect(harness.demands == [.connect, .sendHello])
        harness.pass(1)
        #expect(harness.demands == [.connect, .sendHello, .abandon])
    }

    @Test func afterAGoAwayTheRestMovesToTheNextConnection() {
        var harness = SessionHarness.opened(room: 3)
        for caller in 1...4 { harness.submit(caller) }
        harness.sendGoAway(lastID: 3)
        harness.answer(2)
        #expect(harness.demands.isEmpty)
        harness.answer(3)
        #expect(harness.demands == [.close])
        harness.lose(.closed)
        harness.sent = []
        harness.connect(SessionHarness.hello(isKnown: true, last: 2))
        #expect(harness.sent.map(\.call.caller) == [3, 4])
        #expect(harness.sent.map(\.call.sequence) == [3, 4])
        #expect(harness.sent.map(\.call.attemptCount) == [1, 1])
    }

    @Test func aGoAwayDisownsUnnumberedChanges() {
        var harness = SessionHarness.opened(hasID: false)
        harness.submit(1)
        harness.sendGoAway(lastID: 1)
        #expect(harness.demands == [.close])
        harness.lose(.closed)
        harness.connect()
        #expect(harness.sent.count == 2)
        harness.answer(2)
        #expect(harness.isAnswered(1))
    }

    @Test func whatAGoAwayPromisedAndDidNotKeepIsSentAgain() {
        var harness = SessionHarness.opened()
        harness.submit(1)
        harness.sendGoAway(lastID: 2)
        harness.lose()
        harness.sent = []
        harness.connect(SessionHarness.hello(isKnown: true))
        #expect(harness.sent.map(\.call.sequence) == [1])
    }

    @Test func aRefusalBecauseOfDrainingLeavesTheConnection() {
        var harness = SessionHarness.opened()
        harness.submit(1)
        harness.submit(2)
        let status = Status(code: .unavailable, reason: .draining, message: "stopping")
        harness.receive(3, status)
        harness.submit(3)
        #expect(harness.sent.count == 2)
        harness.answer(2)
        #expect(harness.demands == [.close])
        harness.lose(.closed)
        harness.sent = []
        harness.connect(SessionHarness.hello(isKnown: true, last: 1))
        harness.pass(1_000)
        #expect(harness.takeSent().sorted() == [2, 3])
    }

    @Test func aServiceThatIsFullIsAskedAgainLater() {
        var harness = SessionHarness.opened()
        harness.submit(1, SessionHarness.read, within: 60_000)
        harness.lose()
        harness.pass(2_000)
        harness.session.connected()
        harness.run()
        let status = Status(
            code: .resourceExhausted,
            reason: .tooManyConnections,
            message: "full",
            retryAfterMilliseconds: 5_000
        )
        harness.receive(0, status)
        harness.lose()
        harness.demands = []
        harness.pass(4_999)
        #expect(harness.demands.isEmpty)
        harness.pass(200)
        #expect(harness.demands == [.connect])
    }

    @Test func aServiceThatRefusesHelloForGoodEndsWhatWaits() {
        var harness = SessionHarness.opened()
        harness.submit(1)
        harness.lose()
        harness.submit(2)
        harness.pass(2_000)
        harness.session.connected()
        harness.run()
        let status = Status(code: .unimplemented, reason: .unsupportedVersion, message: "old")
        harness.receive(1, status)
        #expect(harness.demands == [.connect, .sendHello, .abandon])
        #expect(harness.error(1)?.effect == .unknown)
        #expect(harness.error(2) == .refused(status))
        harness.submit(3)
        harness.pass(2_000)
        #expect(harness.demands.last == .connect)
    }

    @Test func aConnectionThatTheServiceCallsFaultyIsNotRepeated() {
        var harness = SessionHarness.opened()
        harness.submit(1, SessionHarness.read)
        let status = Status(code: .invalidArgument, reason: .badFrame, message: "bad")
        harness.receive(0, status)
        harness.lose()
        #expect(harness.error(1) == .refused(status))
    }

    @Test func theFirstHelloMayBeRefused() {
        let status = Status(code: .resourceExhausted, reason: .tooManyConnections, message: "full")
        var harness = SessionHarness()
        harness.open()
        harness.session.connected()
        harness.run()
        harness.receive(0, status)
        harness.lose()
        #expect(harness.error(99) == .refused(status))
    }

    @Test func framesBehindAViolationAreIgnored() throws {
        var harness = SessionHarness.opened()
        harness.submit(1)
        for id in [UInt64(77), 2] {
            let frame = ServerFrame(id: id, revision: 1, response: .empty)
            harness.session.received(frame, at: harness.time)
        }
        harness.run()
        guard case .protocolViolation(_, effect: .unknown) = harness.error(1)
        else { throw Unexpected("A vote ended with \(String(describing: harness.error(1)))") }
    }

    @Test func aSilentServiceIsLeftAndItsCallsAreSentAgain() {
        var harness = SessionHarness.opened()
        harness.submit(1)
        harness.session.drop(.lost("silence"), at: harness.time)
        harness.run()
        #expect(harness.demands == [.abandon])
        harness.connect(SessionHarness.hello(isKnown: true))
        #expect(harness.sent.map(\.call.sequence) == [1, 1])
    }
}

/// When a client pings and when it gives the service up.
struct KeepAliveTests {
    static func at(_ seconds: UInt64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: seconds * 1_000_000_000)
    }

    static func keepAlive() -> KeepAlive {
        KeepAlive(interval: .seconds(30), timeout: .seconds(10), at: at(0))
    }

    @Test func pingsAfterSilence() {
        var keepAlive = Self.keepAlive()
        #expect(keepAlive.check(at: Self.at(29)) == .nothing)
        #expect(keepAlive.check(at: Self.at(30)) == .ping)
        #expect(keepAlive.check(at: Self.at(31)) == .nothing)
    }

    @Test func anythingHeardAnswersThePing() {
        var keepAlive = Self.keepAlive()
        #expect(keepAlive.check(at: Self.at(30)) == .ping)
        keepAlive.heard(at: Self.at(39))
        #expect(keepAlive.check(at: Self.at(50)) == .nothing)
        #expect(keepAlive.check(at: Self.at(60)) == .ping)
    }

    @Test func givesUpWhereNothingIsHeard() {
        var keepAlive = Self.keepAlive()
        #expect(keepAlive.check(at: Self.at(30)) == .ping)
        #expect(keepAlive.check(at: Self.at(39)) == .nothing)
        #expect(keepAlive.check(at: Self.at(40)) == .nothing)
        #expect(keepAlive.check(at: Self.at(42)) == .giveUp)
    }

    @Test("what came while the client itself was held up is read before it gives up")
    func readsBeforeItGivesUp() {
        var keepAlive = Self.keepAlive()
        #expect(keepAlive.check(at: Self.at(30)) == .ping)
        #expect(keepAlive.check(at: Self.at(600)) == .nothing)
        keepAlive.heard(at: Self.at(600))
        // Its own silence has been long, too.
        #expect(keepAlive.check(at: Self.at(601)) == .ping)
        #expect(keepAlive.check(at: Self.at(611)) == .nothing)
        #expect(keepAlive.check(at: Self.at(612)) == .giveUp)
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min), .seconds(Int64.max)])
    func takesAnyDuration(_ duration: Duration) {
        var keepAlive = KeepAlive(interval: duration, timeout: duration, at: Self.at(1))
        #expect((Duration.zero...(.seconds(86_400))).contains(keepAlive.checkInterval))
        #expect(keepAlive.check(at: Self.at(1_000_000)) == .ping)
    }

    @Test("talking to a service that never answers is no sign of its life")
    func pingsAlsoWhileSending() {
        var keepAlive = Self.keepAlive()
        keepAlive.sent(at: Self.at(29))
        #expect(keepAlive.check(at: Self.at(30)) == .ping)
    }

    @Test("hearing from the service does not replace a word of ours")
    func pingsAlsoWhileHearing() {
        var keepAlive = Self.keepAlive()
        keepAlive.heard(at: Self.at(29))
        #expect(keepAlive.check(at: Self.at(30)) == .ping)
    }
}
