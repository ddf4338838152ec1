import FeedClient
import FeedProto
import FeedTestSupport
import FeedTransport
import Testing

/// Which calls wait and are in flight, and how each ends, without a socket or a clock.
struct CallStateMachineTests {
    typealias Machine = CallStateMachine<Int>

    static func at(_ milliseconds: UInt64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
    }

    static func call(
        _ caller: Int,
        _ request: Request = vote,
        until end: UInt64 = 1_000
    )
        -> Machine.Call
    {
        Machine.Call(
            caller: caller,
            request: request,
            timeout: .milliseconds(Int64(end)),
            deadline: at(end)
        )
    }

    static let vote = Request.castVote(CastVoteRequest(postID: 1, direction: .up))
    static let read = Request.getPost(GetPostRequest(id: 1))

    /// A machine that is open, with so much room and so many votes, whose callers count from 1.
    static func machine(room: Int, votes: Int = 0) -> Machine {
        var machine = Machine()
        machine.maximumInFlightCount = room
        machine.opened()
        for number in 0..<votes {
            #expect(machine.submit(call(number + 1), token: UInt64(number + 1)) == nil)
        }
        return machine
    }

    static func departAll(_ machine: inout Machine, at now: UInt64 = 0) -> [Int] {
        var callers: [Int] = []
        while let departure = machine.depart(at: at(now)) { callers.append(departure.call.caller) }
        return callers
    }

    static func errors(_ failures: [Machine.Failure]) -> [Int: FeedClientError] {
        Dictionary(uniqueKeysWithValues: failures.map { ($0.caller, $0.error) })
    }

    static func answered(_ arrival: Machine.Arrival) -> Int? {
        guard case .answer(let call) = arrival else { return nil }
        return call.caller
    }

    @Test func nothingLeavesBeforeItIsOpen() {
        var machine = Machine()
        #expect(machine.submit(Self.call(1), token: 1) == nil)
        #expect(machine.depart(at: Self.at(0)) == nil)
        machine.opened()
        #expect(machine.depart(at: Self.at(0))?.call.caller == 1)
    }

    @Test func callsThatEndWhileTheyWaitDoNotPileUp() {
        var machine = Self.machine(room: 1, votes: 1)
        #expect(Self.departAll(&machine) == [1])
        for number in 2...100_000 {
            #expect(machine.submit(Self.call(number), token: UInt64(number)) == nil)
            guard number > 10 else { continue }
            #expect(machine.cancel(UInt64(number)) != nil)
        }
        #expect(machine.waitingCount <= 100)
        #expect(Self.answered(machine.arrived(1)) == 1)
        machine.maximumInFlightCount = 100
        #expect(Self.departAll(&machine) == Array(2...10))
    }

    @Test func callsLeaveInOrderAsFarAsThereIsRoom() {
        var machine = Self.machine(room: 2, votes: 4)
        #expect(Self.departAll(&machine) == [1, 2])
        #expect(Self.answered(machine.arrived(2)) == 2)
        #expect(Self.departAll(&machine) == [3])
        #expect(machine.inFlightCount == 2)
    }

    @Test func idsIncreaseAlsoWhereACallDidNotLeave() {
        var machine = Self.machine(room: 3, votes: 3)
        #expect(machine.depart(at: Self.at(0))?.id == 1)
        #expect(machine.depart(at: Self.at(0))?.id == 2)
        machine.undoDeparture(2)
        #expect(machine.departOwn() == 3)
        #expect(machine.depart(at: Self.at(0))?.id == 4)
        #expect(machine.inFlightCount == 3)
    }

    @Test func answersFindTheirCallersInAnyOrder() {
        var machine = Self.machine(room: 3, votes: 3)
        _ = Self.departAll(&machine)
        #expect(Self.answered(machine.arrived(3)) == 3)
        #expect(Self.answered(machine.arrived(1)) == 1)
        #expect(Self.answered(machine.arrived(2)) == 2)
    }

    @Test func noticesAnAnswerThatNobodyAskedFor() {
        var machine = Self.machine(room: 1, votes: 1)
        guard case .unasked = machine.arrived(1) else {
            Issue.record("A call that has not left was answered.")
            return
        }
        _ = Self.departAll(&machine)
        #expect(Self.answered(machine.arrived(1)) == 1)
        guard case .unasked = machine.arrived(1) else {
            Issue.record("A call was answered twice.")
            return
        }
    }

    @Test func deadlinesEndWhatWaitsAndWhatIsInFlight() {
        var machine = Self.machine(room: 2)
        _ = machine.submit(Self.call(1, Self.vote, until: 10), token: 1)
        _ = machine.submit(Self.call(2, Self.read, until: 20), token: 2)
        _ = machine.submit(Self.call(3, Self.vote, until: 20), token: 3)
        _ = machine.submit(Self.call(4, Self.vote, until: 30), token: 4)
        #expect(Self.departAll(&machine) == [1, 2])
        #expect(machine.earliestDeadline == Self.at(10))
        #expect(machine.expire(at: Self.at(9)).isEmpty)
        let errors = Self.errors(machine.expire(at: Self.at(20)))
        #expect(
            errors == [
                1: .deadlinePassed(timeout: .milliseconds(10), effect: .unknown),
                2: .deadlinePassed(timeout: .milliseconds(20), effect: .none),
                3: .deadlinePassed(timeout: .milliseconds(20), effect: .none),
            ]
        )
        #expect(machine.earliestDeadline == Self.at(30))
    }

    @Test func aCallWhoseTimeHasPassedNeverLeaves() {
        var machine = Self.machine(room: 2)
        _ = machine.submit(Self.call(1, until: 10), token: 1)
        _ = machine.submit(Self.call(2, until: 30), token: 2)
        #expect(Self.departAll(&machine, at: 10) == [2])
        #expect(machine.expire(at: Self.at(10)).map(\.error.effect) == [CallEffect.none])
    }

    @Test func aLateAnswerMakesRoomAndDisturbsNobody() {
        var machine = Self.machine(room: 1)
        _ = machine.submit(Self.call(1, until: 10), token: 1)
        _ = machine.submit(Self.call(2, until: 30), token: 2)
        _ = Self.departAll(&machine)
        _ = machine.expire(at: Self.at(10))
        #expect(Self.departAll(&machine, at: 10).isEmpty)
        guard case .late = machine.arrived(1) else {
            Issue.record("The late answer was not recognised.")
            return
        }
        #expect(Self.departAll(&machine, at: 10) == [2])
    }

    @Test func cancellingSaysWhetherTheCallHadLeft() {
        var machine = Self.machine(room: 2)
        _ = machine.submit(Self.call(1), token: 1)
        _ = machine.submit(Self.call(2, Self.read), token: 2)
        _ = machine.submit(Self.call(3), token: 3)
        _ = Self.departAll(&machine)
        #expect(machine.cancel(1)?.error == .cancelled(effect: .unknown))
        #expect(machine.cancel(2)?.error == .cancelled(effect: .none))
        #expect(machine.cancel(3)?.error == .cancelled(effect: .none))
        #expect(machine.cancel(3) == nil)
        #expect(machine.cancel(99) == nil)
        guard case .late = machine.arrived(1) else {
            Issue.record("The answer to a cancelled call was not recognised.")
            return
        }
    }

    @Test func afterAFarewellOnlyWhatTheServiceTookIsAwaited() {
        var machine = Self.machine(room: 3, votes: 4)
        _ = Self.departAll(&machine)
        let errors = Self.errors(machine.drain(lastID: 2, .lost("farewell")))
        let notExecuted = FeedClientError.connectionLost(reason: "farewell", effect: .none)
        #expect(errors == [3: notExecuted, 4: notExecuted])
        #expect(machine.submit(Self.call(5), token: 5)?.error == notExecuted)
        #expect(Self.departAll(&machine).isEmpty)
        #expect(!machine.isFinished)
        #expect(Self.answered(machine.arrived(1)) == 1)
        #expect(Self.answered(machine.arrived(2)) == 2)
        #expect(machine.isFinished)
    }

    @Test func aFarewellStaysTheReasonOnceTheConnectionIsGone() {
        var machine = Self.machine(room: 2, votes: 2)
        _ = Self.departAll(&machine)
        _ = machine.drain(lastID: 1, .lost("farewell"))
        let errors = machine.end(.lost("gone")).map(\.error)
        #expect(errors == [.connectionLost(reason: "gone", effect: .unknown)])
        let next = machine.submit(Self.call(3), token: 3)
        #expect(next?.error == .connectionLost(reason: "farewell", effect: .none))
    }

    @Test func closingFinishesWhatWasSubmittedAndTakesNoMore() {
        var machine = Self.machine(room: 1, votes: 2)
        _ = Self.departAll(&machine)
        #expect(machine.close().isEmpty)
        #expect(machine.submit(Self.call(3), token: 3)?.error == .closed)
        #expect(Self.answered(machine.arrived(1)) == 1)
        #expect(!machine.isFinished)
        #expect(Self.departAll(&machine) == [2])
        #expect(Self.answered(machine.arrived(2)) == 2)
        #expect(machine.isFinished)
    }

    @Test func theEndNotifiesEachCallWhetherItMayHaveBeenExecuted() {
        var machine = Self.machine(room: 2)
        _ = machine.submit(Self.call(1), token: 1)
        _ = machine.submit(Self.call(2, Self.read), token: 2)
        _ = machine.submit(Self.call(3), token: 3)
        _ = Self.departAll(&machine)
        let errors = Self.errors(machine.end(.lost("gone")))
        #expect(
            errors == [
                1: .connectionLost(reason: "gone", effect: .unknown),
                2: .connectionLost(reason: "gone", effect: .none),
                3: .connectionLost(reason: "gone", effect: .none),
            ]
        )
        #expect(machine.end(.violated("later")).isEmpty)
        let late = machine.submit(Self.call(4), token: 4)
        #expect(late?.error == .connectionLost(reason: "gone", effect: .none))
    }

    @Test func whatWasNeverOpenCouldNotConnect() {
        var machine = Machine()
        _ = machine.submit(Self.call(1, until: 10), token: 1)
        _ = machine.submit(Self.call(2, until: 20), token: 2)
        guard case .cannotConnect = machine.expire(at: Self.at(10)).first?.error else {
            Issue.record("An expired call does not say that nothing was connected.")
            return
        }
        #expect(machine.close().map(\.error) == [.closed])
        #expect(machine.isFinished)
    }

    @Test("every call ends exactly once", arguments: TestEnvironment.seeds(1...50))
    func endsEveryCallOnce(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var machine = Self.machine(room: Int.random(in: 1...8, using: &generator))
        var ends: [Int: Int] = [:]
        var ids: [UInt64] = []
        func end(_ failures: [Machine.Failure]) {
            for failure in failures { ends[failure.caller, default: 0] += 1 }
        }
        let count = 200
        for step in 1...count {
            let now = UInt64(step)
            let deadline = now + UInt64.random(in: 1...40, using: &generator)
            if let failure = machine.submit(Self.call(step, until: deadline), token: now) {
                end([failure])
            }
            while !generator.oneIn(3), let departure = machine.depart(at: Self.at(now)) {
                ids.append(departure.id)
            }
            if generator.oneIn(2), let id = ids.randomElement(using: &generator) {
                ids.removeAll { $0 == id }
                if let caller = Self.answered(machine.arrived(id)) { ends[caller, default: 0] += 1 }
            }
            if generator.oneIn(5) {
                let token = UInt64.random(in: 1...now, using: &generator)
                if let failure = machine.cancel(token) { end([failure]) }
            }
            if generator.oneIn(4) { end(machine.expire(at: Self.at(now))) }
            if step == count / 2, generator.oneIn(3) {
                end(machine.drain(lastID: UInt64.random(in: 0...now, using: &generator), .closed))
            }
        }
        end(machine.end(.lost("over")))
        #expect(ends.count == count, "seed \(seed)")
        #expect(ends.values.allSatisfy { $0 == 1 }, "seed \(seed)")
    }
}
