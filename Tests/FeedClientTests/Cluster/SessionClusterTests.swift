import FeedClient
import FeedConcurrency
import FeedProto
import FeedTestSupport
import FeedTransport
import Testing

/// How a session finds the leader of a cluster, and what becomes of its calls meanwhile.
struct SessionClusterTests {
    static func follower(_ leader: String = "") -> Response {
        SessionHarness.hello(capabilities: [], channelStatus: .notLeader(leader), role: .follower)
    }

    static func leader(isKnown: Bool = true, last: UInt64 = 0) -> Response {
        SessionHarness.hello(isKnown: isKnown, last: last, role: .leader)
    }

    /// A session of a cluster of three whose leader has answered Hello.
    static func opened(
        hasID: Bool = true,
        _ change: (inout SessionHarness.Session.Settings) -> Void = { _ in }
    ) -> SessionHarness {
        var harness = SessionHarness(hasID: hasID, change)
        harness.session.serviceCount = 3
        harness.open()
        harness.connect(leader(isKnown: false))
        #expect(harness.isAnswered(99))
        harness.demands = []
        return harness
    }

    @Test func aFollowersHelloLeadsToTheLeaderAtOnce() {
        var harness = SessionHarness()
        harness.session.serviceCount = 3
        harness.open()
        harness.connect(Self.follower("b:1"))
        #expect(harness.demands == [.connect, .sendHello, .abandon, .connect])
        #expect(harness.destinations == [.same, .leader("b:1")])
        #expect(harness.goesOn == [false, true])
        harness.connect(Self.leader(isKnown: false))
        #expect(harness.isAnswered(99))
        #expect(harness.now == 1_000)
    }

    @Test func membersNameTheLeader() {
        var harness = SessionHarness(hasID: false)
        harness.session.serviceCount = 2
        harness.submit(1, SessionHarness.read)
        let members = [
            ClusterMember(address: "a:1", role: .follower),
            ClusterMember(address: "b:1", role: .leader),
        ]
        harness.connect(SessionHarness.hello(role: .follower, members: members))
        #expect(harness.destinations == [.same, .leader("b:1")])
    }

    @Test("where nobody leads, each is asked once before a pause", arguments: [1, 2, 3, 9])
    func asksEachOnce(count: Int) {
        var harness = SessionHarness { $0.waitsForService = true }
        harness.session.serviceCount = count
        harness.open(within: 60_000)
        for round in 1...5 {
            for _ in 0..<count { harness.connect(Self.follower()) }
            #expect(harness.destinations.count == round * count)
            #expect(harness.demands.last == .abandon)
            #expect(harness.destinations.dropFirst().allSatisfy { $0 == .next })
            #expect(harness.goesOn.count { !$0 } == round)
            harness.pass(5_000)
        }
        harness.pass(60_000)
        let error = harness.error(99)
        guard case .refused(let status) = error else {
            Issue.record("It ended with \(String(describing: error)).")
            return
        }
        #expect(status.reason == .notLeader)
        #expect(error?.effect == CallEffect.none)
    }

    @Test func aFirstConnectionToFollowersOnlySaysSo() {
        var harness = SessionHarness()
        harness.session.serviceCount = 2
        harness.open()
        harness.connect(Self.follower())
        #expect(harness.outcomes[99] == nil)
        harness.connect(Self.follower())
        guard case .refused(let status) = harness.error(99) else {
            Issue.record("It did not fail.")
            return
        }
        #expect(status.reason == .notLeader)
        #expect(status.message.contains("follower"))
    }

    @Test("what a follower has said ends a try, not that the leader of before is gone")
    func aDeadLeaderHidesNoElection() {
        var harness = SessionHarness()
        harness.session.serviceCount = 3
        harness.open()
        harness.connect(Self.follower())
        harness.connect(Self.follower())
        // The driver finds the third one dead.
        harness.lose(.cannotConnect("refused"))
        guard case .refused(let status) = harness.error(99) else {
            Issue.record("It ended with \(String(describing: harness.error(99))).")
            return
        }
        #expect(status.reason == .notLeader)
    }

    @Test func aTryWithoutAServiceThatIsLeftEnds() {
        var harness = SessionHarness()
        harness.session.serviceCount = 3
        harness.open()
        harness.connect(Self.follower())
        // The driver has found the others dead before that one.
        harness.session.hasAskedAll(at: harness.time)
        harness.run()
        guard case .refused(let status) = harness.error(99) else {
            Issue.record("It ended with \(String(describing: harness.error(99))).")
            return
        }
        #expect(status.reason == .notLeader)
    }

    @Test("a Hello that a follower leaves to the leader goes on there at once")
    func aRefusedHelloGoesOnAtTheLeader() {
        var harness = SessionHarness { $0.hello.sessionToken = [1] }
        harness.session.serviceCount = 3
        harness.open()
        harness.session.connected()
        harness.run()
        harness.receive(1, .notLeader("b:1"))
        #expect(harness.demands == [.connect, .sendHello, .abandon, .connect])
        #expect(harness.destinations == [.same, .leader("b:1")])
        harness.connect(Self.leader(isKnown: false))
        #expect(harness.isAnswered(99))
        #expect(harness.hello?.sessionToken == [1])
    }

    @Test func aChangeBehindACallThatHasEndedLeavesAFollower() {
        var harness = SessionHarness { $0.reads = .any }
        harness.session.serviceCount = 3
        harness.open()
        harness.connect(Self.follower("b:1"))
        harness.hasRoom = false
        harness.submit(1, SessionHarness.read)
        harness.submit(2)
        harness.session.cancel(1)
        harness.hasRoom = true
        harness.run()
        #expect(harness.sent.isEmpty)
        #expect(harness.demands.last == .close)
    }

    @Test("services that name each other for ever are asked a bounded number of times")
    func boundsTries() {
        var harness = SessionHarness()
        harness.session.serviceCount = 3
        harness.submit(1, within: 10_000)
        var tries = 0
        while harness.outcomes[1] == nil {
            if harness.destinations.count > tries {
                tries += 1
                harness.session.connected()
                harness.run()
                harness.receive(1, Self.follower(tries % 2 == 0 ? "a:1" : "b:1"))
            } else {
                harness.pass(10)
            }
        }
        guard case .refused(let status) = harness.error(1) else {
            Issue.record("It ended with \(String(describing: harness.error(1))).")
            return
        }
        #expect(status.reason == .notLeader)
        #expect(harness.error(1)?.effect == CallEffect.none)
        // Three in each try; the waits between tries have random limits of 50 ms to 2 s.
        #expect((6...300).contains(tries))
    }

    @Test func aRefusedChangeIsSentAgainToTheLeader() {
        var harness = Self.opened()
        harness.submit(1)
        harness.submit(2, SessionHarness.read)
        harness.receive(2, .notLeader("b:1"))
        // What is in flight is awaited first.
        #expect(harness.demands.isEmpty)
        harness.answer(3)
        #expect(harness.isAnswered(2))
        #expect(harness.demands == [.close])
        harness.sent = []
        harness.lose(.closed)
        harness.connect(Self.leader())
        #expect(harness.destinations.last == .leader("b:1"))
        harness.pass(1_000)
        #expect(harness.sent.map(\.call.sequence) == [1])
        harness.answer(2)
        #expect(harness.isAnswered(1))
    }

    /// As the read of a session that only the leader renews, at a follower that names a dead leader.
    @Test func aReadThatAFollowerLeavesToTheLeaderWaitsForIt() {
        var harness = SessionHarness { $0.reads = .any }
        harness.session.serviceCount = 2
        harness.open()
        harness.connect(Self.follower("b:1"))
        harness.submit(1, SessionHarness.read, within: 600_000)
        harness.receive(2, .notLeader("b:1"))
        harness.lose(.closed)
        // More tries than a call has.
        for _ in 0..<9 { harness.connect(Self.follower("b:1")) }
        #expect(harness.outcomes[1] == nil)
        #expect(harness.sent.count == 1)
        harness.connect(Self.leader())
        harness.answer(2)
        #expect(harness.isAnswered(1))
    }

    @Test func aCallThatIsSentOnceIsRefusedAndTheNextOneFindsTheLeader() {
        var harness = Self.opened { $0.retry = .never }
        harness.submit(1)
        harness.receive(2, .notLeader("b:1"))
        #expect(harness.error(1) == .refused(.notLeader("b:1")))
        #expect(harness.demands == [.close])
        harness.lose(.closed)
        harness.submit(2)
        harness.connect(Self.leader())
        #expect(harness.destinations.last == .leader("b:1"))
    }

    @Test("a farewell names the leader", arguments: ["b:1", ""])
    func followsGoAway(leader: String) {
        var harness = Self.opened()
        harness.submit(1)
        harness.submit(2)
        harness.sent = []
        let goAway = GoAway(
            lastID: 2,
            drainMilliseconds: 50,
            reason: .notLeader,
            leader: leader
        )
        harness.receive(0, .goAway(goAway))
        harness.lose()
        harness.connect(Self.follower())
        harness.connect(Self.leader())
        #expect(
            harness.destinations.suffix(2) == [leader.isEmpty ? .next : .leader(leader), .next]
        )
        #expect(harness.sent.map(\.call.sequence) == [1, 2])
    }

    @Test func aFollowersHelloLeavesNothingInDoubt() {
        var harness = Self.opened()
        harness.submit(1)
        harness.submit(2, .backup)
        harness.sent = []
        harness.lose()
        #expect(harness.error(2) == .connectionLost(reason: "gone", effect: .unknown))
        // A follower knows no channel; what it says of one does not count.
        harness.connect(Self.follower())
        harness.connect(Self.follower())
        #expect(harness.outcomes[1] == nil)
        harness.connect(Self.leader())
        #expect(harness.sent.map(\.call.sequence) == [1])
        harness.answer(2)
        #expect(harness.isAnswered(1))
    }

    @Test func aSilentHelloIsFollowedByTheNextService() {
        var harness = SessionHarness()
        harness.session.serviceCount = 2
        harness.open()
        let limit = MonotonicInstant(nanoseconds: (harness.now + 700) * 1_000_000)
        harness.session.connected(by: limit)
        harness.run()
        #expect(harness.wake == limit)
        harness.pass(699)
        #expect(harness.demands == [.connect, .sendHello])
        harness.pass(1)
        #expect(harness.demands == [.connect, .sendHello, .abandon, .connect])
        #expect(harness.destinations == [.same, .next])
        harness.connect(Self.leader())
        #expect(harness.isAnswered(99))
    }

    @Test func aServiceThatGivesNoSignOfLifeIsFollowedByTheNextOne() {
        var harness = Self.opened()
        harness.submit(1)
        harness.sent = []
        harness.session.drop(.lost("silent"), at: harness.time)
        harness.run()
        harness.connect(Self.leader())
        #expect(harness.destinations.last == .next)
        #expect(harness.sent.map(\.call.sequence) == [1])
    }

    @Test func aSingleServiceIsLeftAndFoundAgainAsBefore() {
        var harness = SessionHarness.opened()
        harness.submit(1)
        harness.lose()
        harness.connect()
        #expect(harness.destinations == [.same, .same])
    }

    @Test func readsMayBeAFollowers() {
        var harness = SessionHarness { $0.reads = .any }
        harness.session.serviceCount = 3
        harness.open()
        harness.connect(Self.follower("b:1"))
        #expect(harness.isAnswered(99))
        harness.submit(1, SessionHarness.read)
        harness.submit(2, .drain)
        #expect(harness.takeSent() == [1, 2])
        harness.answer(2)
        harness.answer(3)
        // A change moves the session to the leader, with its number.
        harness.submit(3)
        #expect(harness.sent.isEmpty)
        #expect(harness.demands.last == .close)
        harness.lose(.closed)
        harness.connect(Self.leader(isKnown: false))
        #expect(harness.destinations.last == .leader("b:1"))
        #expect(harness.sent.map(\.call.sequence) == [1])
        harness.answer(2)
        #expect((1...3).allSatisfy(harness.isAnswered))
    }

    @Test func whatIsInDoubtIsAskedOfTheLeader() {
        var harness = Self.opened { $0.reads = .any }
        harness.submit(1)
        harness.sent = []
        harness.lose()
        harness.connect(Self.follower("b:1"))
        #expect(harness.sent.isEmpty)
        #expect(harness.destinations.last == .leader("b:1"))
        harness.connect(Self.leader())
        #expect(harness.sent.map(\.call.sequence) == [1])
    }

    @Test("a follower that is behind is left", arguments: [Reason.notCaughtUp, .staleReplica])
    func leavesAStaleFollower(reason: Reason) {
        var harness = SessionHarness(hasID: false) { $0.reads = .any }
        harness.session.serviceCount = 3
        harness.submit(1, SessionHarness.read)
        harness.connect(Self.follower("b:1"))
        let status = Status(
            code: .unavailable,
            reason: reason,
            message: "behind",
            isNotExecuted: true
        )
        harness.receive(2, status)
        #expect(harness.demands.last == .close)
        harness.sent = []
        harness.lose(.closed)
        harness.connect(Self.follower())
        #expect(harness.destinations.last == .next)
        harness.pass(1_000)
        #expect(harness.sent.map(\.call.caller) == [1])
        harness.answer(2)
        #expect(harness.isAnswered(1))
    }

    @Test func watchesGoOnAtTheNextLeader() {
        var harness = Self.opened()
        harness.session.watch(
            7,
            WatchPostsRequest(feed: "posts", topCount: 3),
            actingUserID: 0
        )
        harness.run()
        #expect(harness.takeBegun().map(\.since) == [0])
        var post = Post(id: 4, feed: "posts")
        post.revision = 1
        harness.sendEvent(2, revision: 9, .all([post]))
        let goAway = GoAway(
            lastID: 2,
            drainMilliseconds: 50,
            reason: .notLeader,
            leader: "b:1"
        )
        harness.receive(0, .goAway(goAway))
        harness.lose()
        harness.connect(Self.leader())
        #expect(harness.destinations.last == .leader("b:1"))
        #expect(harness.takeBegun().map(\.since) == [9])
        // A watch that is refused as by a follower goes on elsewhere, and is not ended.
        harness.receive(2, .notLeader("c:1"))
        #expect(harness.demands.last == .close)
        harness.lose(.closed)
        harness.connect(Self.leader())
        #expect(harness.destinations.last == .leader("c:1"))
        #expect(harness.takeBegun().map(\.since) == [9])
        #expect(harness.session.watchCount == 1)
    }
}

/// When a service of a cluster is asked for a sign of life, and given up.
struct SilenceTests {
    static func at(_ milliseconds: UInt64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
    }

    static func keepAlive() -> KeepAlive {
        var keepAlive = KeepAlive(interval: .seconds(30), timeout: .seconds(10), at: at(0))
        keepAlive.silence = .seconds(1)
        return keepAlive
    }

    @Test func asksAfterHalfOfTheTimeAndGivesUpAfterAllOfIt() {
        var keepAlive = Self.keepAlive()
        #expect(keepAlive.checkInterval == .milliseconds(250))
        #expect(keepAlive.check(at: Self.at(250), isAwaited: true) == .nothing)
        #expect(keepAlive.check(at: Self.at(500), isAwaited: true) == .ping)
        #expect(keepAlive.check(at: Self.at(750), isAwaited: true) == .nothing)
        #expect(keepAlive.check(at: Self.at(1_000), isAwaited: true) == .nothing)
        #expect(keepAlive.check(at: Self.at(1_250), isAwaited: true) == .giveUp)
    }

    @Test func anythingHeardIsALife() {
        var keepAlive = Self.keepAlive()
        #expect(keepAlive.check(at: Self.at(500), isAwaited: true) == .ping)
        keepAlive.heard(at: Self.at(900))
        #expect(keepAlive.check(at: Self.at(1_250), isAwaited: true) == .nothing)
        #expect(keepAlive.check(at: Self.at(1_400), isAwaited: true) == .ping)
    }

    @Test("nobody waits, so silence is no fault")
    func waitsAsLongAsEverWithoutCalls() {
        var keepAlive = Self.keepAlive()
        #expect(keepAlive.check(at: Self.at(5_000)) == .nothing)
        #expect(keepAlive.check(at: Self.at(30_000)) == .ping)
        #expect(keepAlive.check(at: Self.at(39_000)) == .nothing)
    }

    @Test func aServiceWithoutOthersIsGivenItsTime() {
        var keepAlive = KeepAlive(interval: .seconds(30), timeout: .seconds(10), at: Self.at(0))
        #expect(keepAlive.check(at: Self.at(5_000), isAwaited: true) == .nothing)
        #expect(keepAlive.check(at: Self.at(30_000), isAwaited: true) == .ping)
        #expect(keepAlive.check(at: Self.at(31_000), isAwaited: true) == .nothing)
    }
}
