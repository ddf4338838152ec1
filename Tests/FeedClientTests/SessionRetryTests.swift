import FeedClient
import FeedProto
import Testing

/// What is sent again and what is not, and what callers are told.
struct SessionRetryTests {
    static let createsFeed = Request.createFeed(CreateFeedRequest(feed: Feed(name: "a")))

    @Test func asksAgainAndSendsNumberedChangesWithTheirNumbers() {
        var harness = SessionHarness.opened()
        harness.submit(1)
        harness.submit(2, SessionHarness.read)
        harness.submit(3, Self.createsFeed)
        #expect(harness.sent.map(\.call.sequence) == [1, 0, 2])
        harness.sent = []
        harness.lose()
        harness.submit(4)
        harness.connect(SessionHarness.hello(isKnown: true, last: 1))
        #expect(harness.sent.map(\.call.caller) == [1, 2, 3, 4])
        #expect(harness.sent.map(\.call.sequence) == [1, 0, 2, 3])
        #expect(harness.sent.map(\.id) == [2, 3, 4, 5])
        for id in UInt64(2)...5 { harness.answer(id) }
        #expect((1...4).allSatisfy(harness.isAnswered))
    }

    @Test("what has no sequence and an effect is not sent again", arguments: [true, false])
    func endsUnnumberedChanges(hasID: Bool) {
        var harness = SessionHarness.opened(hasID: hasID)
        harness.submit(1, hasID ? .backup : SessionHarness.vote)
        #expect(harness.sent.map(\.call.sequence) == [0])
        harness.lose()
        #expect(harness.error(1) == .connectionLost(reason: "gone", effect: .unknown))
        harness.pass(10_000)
        #expect(harness.demands.isEmpty)
    }

    @Test(
        "a service that is not found again leaves what was sent in doubt",
        arguments: [Ending.cannotConnect("refused"), .unknownHost("feed.test", "refused")]
    )
    func keepsTheDoubtWithoutAConnection(ending: Ending) {
        var harness = SessionHarness.opened { $0.retry.maximumRoundCount = 1 }
        harness.submit(1)
        harness.submit(2, SessionHarness.read)
        harness.lose()
        harness.submit(3)
        harness.pass(1_000)
        #expect(harness.demands == [.connect])
        harness.lose(ending)
        #expect(harness.error(1) == .connectionLost(reason: "refused", effect: .unknown))
        #expect([2, 3].allSatisfy { harness.error($0) == ending.error(effect: .none) })
        #expect(harness.error(3)?.effect == CallEffect.none)
    }

    @Test(
        "what a service has forgotten is in doubt",
        arguments: [InDoubtCause.stateReplaced, .channelForgotten]
    )
    func reportsWhatIsInDoubt(cause: InDoubtCause) {
        var harness = SessionHarness.opened(room: 1)
        harness.submit(1)
        harness.submit(2)
        harness.lose()
        let hello =
            cause == .stateReplaced
            ? SessionHarness.hello(instance: 2, isKnown: true) : SessionHarness.hello()
        harness.sent = []
        harness.connect(hello)
        #expect(harness.error(1) == .inDoubt(cause))
        #expect(harness.error(1)?.effect == .unknown)
        // The change that never left is in no doubt.
        #expect(harness.sent.map(\.call.caller) == [2])
        #expect(harness.sent.map(\.call.sequence) == [2])
    }

    @Test func aServiceWithoutNumbersLeavesChangesInDoubt() {
        var harness = SessionHarness.opened()
        harness.submit(1)
        harness.lose()
        harness.submit(2)
        harness.sent = []
        harness.connect(SessionHarness.hello(capabilities: []))
        #expect(harness.error(1) == .inDoubt(.channelForgotten))
        #expect(harness.sent.map(\.call.sequence) == [0])
    }

    @Test(
        "a Hello whose answer was lost may have made the channel",
        arguments: [UInt64(0), 1]
    )
    func doubtsAChannelWithoutCalls(last: UInt64) {
        var harness = SessionHarness.opened()
        harness.submit(1, within: 60_000)
        harness.lose()
        harness.pass(5_000)
        harness.session.connected()
        harness.run()
        harness.lose()
        harness.connect(SessionHarness.hello(isKnown: true, last: last))
        #expect(harness.error(1) == (last == 0 ? .inDoubt(.channelForgotten) : nil))
    }

    @Test(
        "the number of the channel tells whether a lost Hello has made it anew",
        arguments: [UInt64(7), 8]
    )
    func knowsAChannelByItsNumber(number: UInt64) {
        var harness = SessionHarness()
        harness.open()
        harness.connect(SessionHarness.hello(channelNumber: 7))
        harness.submit(1, within: 60_000)
        harness.lose()
        harness.pass(5_000)
        harness.session.connected()
        harness.run()
        harness.lose()
        harness.sent = []
        harness.connect(SessionHarness.hello(isKnown: true, channelNumber: number))
        #expect(harness.error(1) == (number == 7 ? nil : .inDoubt(.channelForgotten)))
        #expect(harness.sent.map(\.call.sequence) == (number == 7 ? [1] : []))
    }

    @Test func aChannelOfAnotherNumberIsAnotherOne() {
        var harness = SessionHarness()
        harness.open()
        harness.connect(SessionHarness.hello(channelNumber: 7))
        harness.submit(1)
        harness.lose()
        // Another connection with the same id and channel has made it, and has called.
        harness.connect(SessionHarness.hello(isKnown: true, last: 5, channelNumber: 9))
        #expect(harness.error(1) == .inDoubt(.channelForgotten))
    }

    @Test func aChannelThatHelloDidNotGiveHasNoNumberToCompare() {
        var harness = SessionHarness()
        harness.open()
        let status = Status(code: .resourceExhausted, reason: .tooManyChannels, message: "full")
        harness.connect(SessionHarness.hello(capabilities: [], channelStatus: status))
        // The change has opened it.
        harness.submit(1)
        harness.lose()
        harness.sent = []
        harness.connect(SessionHarness.hello(isKnown: true, last: 1, channelNumber: 9))
        #expect(harness.sent.map(\.call.sequence) == [1])
    }

    @Test func numbersChangesWhileTheServiceHasNoRoomForTheChannel() {
        var harness = SessionHarness()
        harness.submit(1)
        let status = Status(code: .resourceExhausted, reason: .tooManyChannels, message: "full")
        harness.connect(SessionHarness.hello(capabilities: [], channelStatus: status))
        #expect(harness.sent.map(\.call.sequence) == [1])
    }

    @Test func continuesTheNumbersThatTheServiceRemembers() {
        var harness = SessionHarness()
        harness.submit(1)
        harness.connect(SessionHarness.hello(isKnown: true, last: 41))
        #expect(harness.sent.map(\.call.sequence) == [42])
    }

    @Test func survivesAServiceThatRemembersTheGreatestNumber() {
        var harness = SessionHarness()
        harness.submit(1)
        harness.connect(SessionHarness.hello(window: .max, isKnown: true, last: .max))
        harness.submit(2)
        #expect(harness.sent.count == 2)
    }

    @Test func holdsNumbersNearTheOldestWithoutAnAnswer() {
        var harness = SessionHarness.opened(window: 3)
        for caller in 1...6 { harness.submit(caller) }
        #expect(harness.sent.map(\.call.sequence) == [1, 2, 3])
        harness.answer(3)
        harness.answer(4)
        #expect(harness.sent.count == 3)
        harness.answer(2)
        #expect(harness.sent.map(\.call.sequence) == [1, 2, 3, 4, 5, 6])
    }

    @Test func aRefusedCallWaitsAsLongAsTheServiceAsks() throws {
        var harness = SessionHarness.opened()
        harness.submit(1)
        harness.receive(2, Status.overloaded(retryAfter: 700))
        harness.pass(699)
        #expect(harness.sent.count == 1)
        harness.pass(60)
        #expect(harness.sent.map(\.call.sequence) == [1, 1])
        harness.answer(3)
        #expect(harness.isAnswered(1))
    }

    @Test func aRefusedCallIsSentFourTimes() {
        var harness = SessionHarness.opened()
        harness.submit(1)
        for id in UInt64(2)...5 {
            harness.receive(id, Status.overloaded())
            harness.pass(1_000)
        }
        #expect(harness.sent.count == 4)
        #expect(harness.error(1) == .refused(.overloaded()))
    }

    @Test func aRefusalWhoseWaitEndsBehindTheDeadlineIsToldAtOnce() {
        var harness = SessionHarness.opened()
        harness.submit(1, within: 600)
        harness.receive(2, Status.overloaded(retryAfter: 600))
        #expect(harness.error(1) == .refused(.overloaded(retryAfter: 600)))
    }

    @Test(
        "refusals for good are not sent again",
        arguments: [Reason.postNotFound, .backupRunning, .tooManyFeeds, .channelFenced]
    )
    func tellsFinalRefusals(_ reason: Reason) {
        var harness = SessionHarness.opened()
        harness.submit(1)
        let status = Status(
            code: .resourceExhausted,
            reason: reason,
            message: "no",
            retryAfterMilliseconds: 1
        )
        harness.receive(2, status)
        #expect(harness.error(1) == .refused(status))
    }

    @Test func aTemporaryRefusalThatMayHaveBeenExecutedIsFinal() {
        var status = Status.overloaded()
        status.isNotExecuted = false
        var harness = SessionHarness.opened()
        harness.submit(1)
        harness.receive(2, status)
        #expect(harness.error(1) == .refused(status))
        #expect(harness.error(1)?.effect == .unknown)
    }

    @Test("refusals of a repeat that say nothing of its first frame")
    func repeatsStayInDoubt() {
        let deadline = Status(code: .deadlineExceeded, reason: .deadlineExceeded, message: "late")
        let fenced = Status(code: .failedPrecondition, reason: .channelFenced, message: "taken")
        let expired = Status(code: .failedPrecondition, reason: .sequenceExpired, message: "old")
        let missing = Status(code: .notFound, reason: .postNotFound, message: "none")
        var harness = SessionHarness.opened()
        for caller in 1...5 { harness.submit(caller) }
        harness.lose()
        harness.connect(SessionHarness.hello(isKnown: true))
        for (id, status) in [(2, deadline), (3, fenced), (4, expired), (5, missing)] {
            harness.receive(UInt64(id), status)
        }
        #expect(harness.error(1) == .deadlinePassed(timeout: .seconds(10), effect: .unknown))
        #expect(harness.error(2) == .inDoubt(.channelTaken))
        #expect(harness.error(3) == .inDoubt(.sequenceExpired))
        #expect(harness.error(4) == .refused(missing))
        for id in [UInt64(6), 7, 8, 9] {
            harness.receive(id, Status.overloaded())
            harness.pass(1_000)
        }
        #expect(harness.error(5)?.effect == .unknown)
    }

    @Test(
        "refusals before the service looks at the sequence",
        arguments: [
            Reason.sessionExpired, .identityRequired, .serviceOnly, .roleDenied, .instanceChanged,
        ]
    )
    func repeatsThatMayNotBeMadeStayInDoubt(_ reason: Reason) {
        let status = Status(code: .permissionDenied, reason: reason, message: "no")
        var harness = SessionHarness.opened()
        harness.submit(1)
        harness.receive(2, status)
        #expect(harness.error(1)?.effect == CallEffect.none)
        harness.submit(2)
        harness.lose()
        harness.connect(SessionHarness.hello(isKnown: true))
        harness.receive(2, status)
        #expect(harness.error(2)?.effect == .unknown)
    }

    @Test func aReusedNumberIsInDoubt() {
        let reused = Status(code: .failedPrecondition, reason: .sequenceReused, message: "other")
        var harness = SessionHarness.opened()
        harness.submit(1)
        harness.receive(2, reused)
        #expect(harness.error(1) == .inDoubt(.sequenceReused))
    }

    @Test func theAllowanceBoundsWhatIsSentAgain() {
        var harness = SessionHarness.opened { settings in
            settings.retry.budgetBurst = 2
            settings.retry.budgetRatio = 0.5
        }
        for caller in 1...4 { harness.submit(caller, SessionHarness.read) }
        harness.lose()
        #expect([3, 4].allSatisfy { harness.error($0)?.effect == CallEffect.none })
        harness.sent = []
        harness.connect()
        #expect(harness.takeSent() == [1, 2])
        // Two calls that are sent first pay for one that is sent again.
        harness.submit(5, SessionHarness.read)
        harness.submit(6, SessionHarness.read)
        harness.lose()
        #expect(harness.outcomes.keys.sorted() == [2, 3, 4, 5, 6, 99])
    }

    /// The allowance has 256 calls, and a failover may take several connections.
    @Test func numberedChangesAreSentAgainHoweverManyThereAre() {
        var harness = SessionHarness.opened()
        for caller in 1_001...1_600 { harness.submit(caller, within: 60_000) }
        #expect(harness.takeSent() == Array(1_001...1_256))
        for _ in 1...3 {
            harness.lose()
            harness.connect(SessionHarness.hello(isKnown: true))
            #expect(harness.takeSent() == Array(1_001...1_256))
        }
        for id in UInt64(2)...257 { harness.answer(id) }
        #expect((1_001...1_256).allSatisfy(harness.isAnswered))
        // Those that the service had no room for have waited in their order.
        #expect(harness.takeSent() == Array(1_257...1_512))
        #expect(harness.outcomes.count == 1 + 256)
    }

    @Test func whatWasSentFirstIsSentAgainFirst() {
        var harness = SessionHarness.opened()
        for caller in 1...6 { harness.submit(caller, within: 60_000) }
        harness.sendGoAway(lastID: 4)
        harness.lose()
        harness.sent = []
        harness.connect(SessionHarness.hello(inFlight: 2, isKnown: true))
        #expect(harness.takeSent() == [1, 2])
        harness.lose()
        harness.connect(SessionHarness.hello(isKnown: true))
        #expect(harness.takeSent() == [1, 2, 3, 4, 5, 6])
    }

    @Test func theBackoffGrowsUpToItsCap() {
        var policy = RetryPolicy()
        policy.baseDelay = .milliseconds(50)
        policy.maximumDelay = .milliseconds(300)
        let limits = (0...5).map { Backoff(policy).limit(round: $0) }
        #expect(limits == [50, 50, 100, 200, 300, 300].map { .milliseconds($0) })
    }

    @Test func theJitterIsFull() {
        let backoff = Backoff(RetryPolicy())
        var generator = SystemRandomNumberGenerator()
        let delays = (0..<1_000).map { _ in backoff.delay(round: 1, using: &generator) }
        #expect(delays.allSatisfy { (.zero ... .milliseconds(50)).contains($0) })
        #expect(delays.contains { $0 < .milliseconds(10) })
        #expect(delays.contains { $0 > .milliseconds(40) })
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.max)])
    func takesAnyDelay(_ delay: Duration) {
        var policy = RetryPolicy()
        policy.baseDelay = delay
        policy.maximumDelay = delay
        let limit = Backoff(policy).limit(round: .max)
        #expect((.milliseconds(1) ... .seconds(86_400)).contains(limit))
    }
}
