import FeedClient
import FeedConcurrency
import FeedProto
import FeedTestSupport
import FeedTransport
import Testing

/// Which calls wait and are in flight on one connection, and how each ends, without a socket or a
/// clock.
struct SessionCallTests {
    @Test func nothingLeavesBeforeHello() {
        var harness = SessionHarness()
        harness.submit(1)
        #expect(harness.demands == [.connect])
        harness.session.connected()
        harness.run()
        #expect(harness.takeSent().isEmpty)
        harness.receive(1, SessionHarness.hello())
        #expect(harness.takeSent() == [1])
    }

    @Test func anIdleSessionDoesNotConnect() {
        var harness = SessionHarness()
        harness.pass(100_000)
        #expect(harness.demands.isEmpty)
        #expect(harness.wake == nil)
    }

    @Test func callsThatEndWhileTheyWaitDoNotPileUp() {
        var harness = SessionHarness.opened(room: 1)
        for caller in 1...20_000 {
            harness.submit(caller)
            if caller > 10 { harness.cancel(caller) }
        }
        #expect(harness.session.waitingCount <= 100)
        for id in UInt64(2)...11 { harness.answer(id) }
        #expect(harness.takeSent() == Array(1...10))
    }

    @Test func callsLeaveInOrderAsFarAsThereIsRoom() {
        var harness = SessionHarness.opened(room: 2)
        for caller in 1...4 { harness.submit(caller) }
        #expect(harness.takeSent() == [1, 2])
        harness.answer(3)
        #expect(harness.takeSent() == [3])
        #expect(harness.isAnswered(2))
        #expect(harness.session.inFlightCount == 2)
    }

    @Test func callsWaitWhileTheDriverHasNoRoom() {
        var harness = SessionHarness.opened()
        harness.hasRoom = false
        harness.submit(1)
        #expect(harness.takeSent().isEmpty)
        harness.hasRoom = true
        harness.run()
        #expect(harness.takeSent() == [1])
    }

    @Test func aCallThatDoesNotFitIntoAFrameDoesNotLeave() {
        var harness = SessionHarness.opened()
        harness.submit(1)
        let error = FeedClientError.requestTooLarge(byteCount: 2, limitByteCount: 1)
        harness.session.couldNotSend(harness.sent[0].id, error)
        harness.submit(2)
        #expect(harness.error(1) == error)
        #expect(harness.sent.map(\.id) == [2, 3])
        #expect(harness.session.takePingID() == 4)
    }

    @Test func answersFindTheirCallersInAnyOrder() {
        var harness = SessionHarness.opened()
        for caller in 1...3 { harness.submit(caller) }
        harness.answer(4)
        #expect((1...3).map(harness.isAnswered) == [false, false, true])
        harness.answer(2)
        harness.answer(3)
        #expect((1...3).map(harness.isAnswered) == [true, true, true])
    }

    @Test("an answer to no call in flight ends the connection", arguments: [1, 2, 9])
    func noticesAnAnswerThatNobodyAskedFor(id: UInt64) throws {
        var harness = SessionHarness.opened()
        harness.submit(1)
        harness.answer(2)
        harness.submit(2)
        harness.answer(id)
        #expect(harness.demands == [.abandon])
        guard case .protocolViolation(_, effect: .unknown) = harness.error(2)
        else { throw Unexpected("A vote ended with \(String(describing: harness.error(2)))") }
    }

    @Test func deadlinesEndWhatWaitsAndWhatIsInFlight() {
        var harness = SessionHarness.opened(room: 2)
        harness.submit(1, within: 10)
        harness.submit(2, SessionHarness.read, within: 20)
        harness.submit(3, within: 20)
        harness.submit(4, within: 30)
        #expect(harness.wake == harness.time.advanced(by: .milliseconds(10)))
        harness.pass(9)
        #expect(harness.outcomes.count == 1)
        harness.pass(11)
        #expect(harness.error(1) == .deadlinePassed(timeout: .milliseconds(10), effect: .unknown))
        #expect(harness.error(2) == .deadlinePassed(timeout: .milliseconds(20), effect: .none))
        #expect(harness.error(3) == .deadlinePassed(timeout: .milliseconds(20), effect: .none))
        #expect(harness.error(4) == nil)
        #expect(harness.wake == harness.time.advanced(by: .milliseconds(10)))
    }

    @Test func aCallWithoutTimeNeverLeaves() {
        var harness = SessionHarness.opened()
        harness.submit(1, within: 0)
        harness.submit(2)
        #expect(harness.takeSent() == [2])
        #expect(harness.error(1)?.effect == CallEffect.none)
    }

    @Test func aLateAnswerMakesRoomAndDisturbsNobody() {
        var harness = SessionHarness.opened(room: 1)
        harness.submit(1, within: 10)
        harness.submit(2, within: 30)
        harness.pass(10)
        #expect(harness.takeSent() == [1])
        harness.answer(2)
        #expect(harness.takeSent() == [2])
        #expect(harness.demands.isEmpty)
    }

    @Test func cancellingSaysWhetherTheCallHadLeft() {
        var harness = SessionHarness.opened(room: 2)
        harness.submit(1)
        harness.submit(2, SessionHarness.read)
        harness.submit(3)
        for caller in [1, 2, 3, 3, 77] { harness.cancel(caller) }
        #expect(harness.error(1) == .cancelled(effect: .unknown))
        #expect(harness.error(2) == .cancelled(effect: .none))
        #expect(harness.error(3) == .cancelled(effect: .none))
        harness.answer(2)
        #expect(harness.demands.isEmpty)
    }

    @Test func closingFinishesWhatWasSubmittedAndTakesNoMore() {
        var harness = SessionHarness.opened(room: 1)
        harness.submit(1)
        harness.submit(2)
        harness.close()
        harness.submit(3)
        #expect(harness.error(3) == .closed)
        harness.answer(2)
        #expect(harness.demands.isEmpty)
        harness.answer(3)
        #expect(harness.isAnswered(1))
        #expect(harness.isAnswered(2))
        #expect(harness.demands == [.close])
        harness.lose(.closed)
        #expect(harness.demands == [.close, .finish])
    }

    @Test func closingWithoutAConnectionEndsAtOnce() {
        var idle = SessionHarness()
        idle.close()
        #expect(idle.demands == [.finish])

        var connecting = SessionHarness()
        connecting.submit(1)
        connecting.close()
        #expect(connecting.error(1) == .closed)
        #expect(connecting.demands == [.connect, .abandon, .finish])
    }

    @Test func closingOpensNoConnectionForCallsThatLostTheirs() {
        var harness = SessionHarness.opened()
        harness.submit(1)
        harness.submit(2, SessionHarness.read)
        harness.lose()
        harness.close()
        #expect(harness.error(1)?.effect == .unknown)
        #expect(harness.error(2) == .closed)
        #expect(harness.demands == [.finish])
    }

    @Test func aLossWhileClosingEndsEveryCall() {
        var harness = SessionHarness.opened(room: 1)
        harness.submit(1)
        harness.submit(2)
        harness.close()
        harness.lose()
        #expect(harness.error(1) == .connectionLost(reason: "gone", effect: .unknown))
        #expect(harness.error(2) == .closed)
        #expect(harness.demands == [.finish])
    }

    @Test func aDriverThatCanDoNothingEndsEveryCall() {
        var harness = SessionHarness.opened()
        harness.submit(1)
        harness.session.stop()
        harness.run()
        #expect(harness.error(1)?.effect == .unknown)
        #expect(harness.demands == [.finish])
    }
}

/// Calls whose sequences their caller keeps, on a session of one connection.
struct SessionNumberedTests {
    private static func opened() -> SessionHarness {
        var harness = SessionHarness { $0.reconnects = false }
        harness.open()
        harness.connect()
        return harness
    }

    @Test func aCallKeepsTheSequenceOfItsCaller() {
        var harness = Self.opened()
        harness.submit(1, sequence: 17, mayHaveLeft: false)
        harness.submit(2, sequence: 18, mayHaveLeft: true)
        #expect(harness.sent.map(\.call.sequence) == [17, 18])
    }

    @Test func theEndOfTheConnectionIsTheEndOfTheSession() {
        var harness = Self.opened()
        harness.hasRoom = false
        harness.submit(1, sequence: 17, mayHaveLeft: true)
        harness.submit(2, sequence: 18, mayHaveLeft: false)
        harness.hasRoom = true
        harness.run()
        harness.hasRoom = false
        harness.submit(3, sequence: 19, mayHaveLeft: true)
        harness.submit(4, sequence: 20, mayHaveLeft: false)
        harness.lose()
        // What has left, now or in an earlier process, may have been executed.
        #expect(harness.error(1)?.effect == .unknown)
        #expect(harness.error(2)?.effect == .unknown)
        #expect(harness.error(3)?.effect == .unknown)
        #expect(harness.error(4) == .closed)
        harness.submit(5)
        #expect(harness.error(5) == .closed)
        harness.pass(100_000)
        #expect(harness.demands.last == .finish)
        #expect(harness.demands.count { $0 == .connect } == 1)
    }
}

extension SessionHarness {
    fileprivate mutating func submit(_ caller: Int, sequence: UInt64, mayHaveLeft: Bool) {
        let call = Session.Call(
            caller: caller,
            request: Self.vote,
            timeout: .seconds(10),
            deadline: time.advanced(by: .seconds(10))
        )
        session.submit(call.numbered(sequence, mayHaveLeft: mayHaveLeft), token: UInt64(caller))
        run()
    }
}

/// A table by numbers is a dictionary.
struct NumberTableTests {
    @Test("seeded operations", arguments: TestEnvironment.seeds(1...4))
    func equalsADictionary(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = NumberTable<Int>()
        var model: [UInt64: Int] = [:]
        var last: UInt64 = 0
        for step in 0..<20_000 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0...2:
                last += 1
                table[last] = step
                model[last] = step
            case 3:
                // Numbers far behind the others share their homes.
                let number = UInt64.random(in: 1...(last + 64), using: &random)
                table[number] = step
                model[number] = step
            case 4:
                let number = UInt64.random(in: 1...(last + 8), using: &random)
                let changed: Void? = table.change(number) { value in value += 1 }
                #expect((changed == nil) == (model[number] == nil), "seed \(seed)")
                model[number]? += 1
            default:
                // The oldest go first, mostly.
                let number =
                    Bool.random(using: &random)
                    ? model.keys.min() ?? 1 : UInt64.random(in: 1...(last + 8), using: &random)
                let removed = table.removeValue(for: number)
                #expect(removed == model.removeValue(forKey: number), "seed \(seed)")
            }
            #expect(table.count == model.count, "seed \(seed)")
            let number = UInt64.random(in: 0...(last + 8), using: &random)
            #expect(table[number] == model[number], "seed \(seed)")
            #expect(table.contains(number) == (model[number] != nil), "seed \(seed)")
        }
        let all = Dictionary(uniqueKeysWithValues: table.map { ($0.key, $0.value) })
        #expect(all == model, "seed \(seed)")
    }
}
