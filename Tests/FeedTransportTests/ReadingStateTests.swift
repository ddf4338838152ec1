import FeedTestSupport
import FeedTransport
import Testing

@Suite struct ReadingStateTests {
    private static let reasons: [ReadingState.Pauses] = [
        .handler, .backPressure, .suspension, .budget,
    ]

    private static func open() -> ReadingState {
        var state = ReadingState()
        _ = state.resume(.unopened)
        return state
    }

    @Test func readsOnceNoReasonIsLeft() {
        var state = ReadingState()
        var changes = [state.pause(.handler)]
        changes.append(state.resume(.unopened))
        changes.append(state.resume(.handler))
        changes.append(state.resume(.handler))
        changes.append(state.pause(.budget))
        changes.append(state.pause(.handler))
        changes.append(state.resume([.budget, .handler]))
        #expect(changes == [false, false, true, false, true, false, true])
    }

    @Test func makesUpForAnIterationThatCameUnderBackPressure() {
        var state = Self.open()
        let queues = state.requestIteration()
        let queuesAgain = state.requestIteration()
        let stops = state.pause(.backPressure)
        let isGiven = state.takeIteration()
        #expect([queues, queuesAgain, stops, isGiven] == [true, false, true, false])
        let unblocking = state.unblock(.backPressure, hasUnconsumedBytes: false)
        guard case .iterate(queues: true) = unblocking else {
            Issue.record("The iteration is lost.")
            return
        }
        let isGivenNow = state.takeIteration()
        let starts = state.resume(.iteration)
        #expect(isGivenNow && starts)
    }

    @Test func notifiesOfTheInputsEndOnceAndLast() {
        var state = Self.open()
        _ = state.requestIteration()
        state.endInput()
        let early = state.deliverInputEnd()
        _ = state.takeIteration()
        let first = state.deliverInputEnd()
        state.endInput()
        let second = state.deliverInputEnd()
        #expect([early, first, second] == [false, true, false])
        #expect(state.hasInputEnded)
    }

    @Test func trapsWhereAnIterationComesUnrequested() async {
        await #expect(processExitsWith: .failure) {
            var state = ReadingState()
            _ = state.takeIteration()
        }
    }

    /// A connection that does what the state says, and counts by itself.
    private struct Model {
        var state = ReadingStateTests.open()
        var isReading = true
        var pauses: Set<UInt8> = []
        var isQueued = false
        /// The handler wants an iteration that it has not had.
        var wantsIteration = false
        var hasEnded = false
        var endCount = 0

        mutating func stop(_ stops: Bool) {
            if stops {
                #expect(isReading)
                isReading = false
            }
        }

        mutating func start(_ starts: Bool) {
            if starts {
                #expect(!isReading)
                isReading = true
            }
        }

        mutating func queue(_ queues: Bool) {
            if queues {
                #expect(!isQueued)
                isQueued = true
            }
        }

        mutating func pause(_ reason: ReadingState.Pauses) {
            pauses.insert(reason.rawValue)
            stop(state.pause(reason))
        }

        mutating func resume(_ reason: ReadingState.Pauses) {
            pauses.remove(reason.rawValue)
            start(state.resume(reason))
        }

        mutating func request() {
            wantsIteration = true
            queue(state.requestIteration())
        }

        mutating func waitForWrites() {
            wantsIteration = true
            pauses.insert(ReadingState.Pauses.backPressure.rawValue)
            stop(state.waitForWrites())
        }

        mutating func takeIteration() {
            guard isQueued else { return }
            isQueued = false
            if state.takeIteration() {
                wantsIteration = false
                resume(.iteration)
            }
        }

        mutating func unblock(_ reason: ReadingState.Pauses, hasBytes: Bool) {
            guard pauses.contains(reason.rawValue) else { return }
            pauses.remove(reason.rawValue)
            switch state.unblock(reason, hasUnconsumedBytes: hasBytes) {
            case .stay: #expect(isBlocked)
            case .read(let starts):
                #expect(!hasBytes && !wantsIteration)
                start(starts)
            case .iterate(let queues):
                wantsIteration = true
                pauses.insert(ReadingState.Pauses.iteration.rawValue)
                queue(queues)
            }
        }

        mutating func end() {
            hasEnded = true
            pauses.insert(ReadingState.Pauses.ended.rawValue)
            state.endInput()
            // The system reports no more bytes after the end.
            isReading = false
        }

        mutating func deliver() {
            guard state.deliverInputEnd() else { return }
            #expect(hasEnded && !wantsIteration && !isBlocked)
            endCount += 1
        }

        private var isBlocked: Bool {
            let reasons: [ReadingState.Pauses] = [.backPressure, .suspension]
            return reasons.contains { pauses.contains($0.rawValue) }
        }

        func check() {
            #expect(isBlocked == state.isBlocked)
            #expect(isReading == pauses.isEmpty)
            #expect(isQueued == state.isQueued)
            #expect(!wantsIteration || isQueued || state.isBlocked)
        }
    }

    @Test(arguments: 0..<20)
    func losesNoIterationAndNoEnd(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var model = Model()
        for step in 0..<2_000 {
            let reason = try #require(Self.reasons.randomElement(using: &generator))
            switch Int.random(in: 0..<9, using: &generator) {
            case 0: model.pause(reason)
            case 1 where reason.isDisjoint(with: .blocking): model.resume(reason)
            case 2: model.request()
            case 3: model.waitForWrites()
            case 4, 5: model.takeIteration()
            case 6:
                model.unblock(
                    Bool.random(using: &generator) ? .backPressure : .suspension,
                    hasBytes: .random(using: &generator)
                )
            case 7: model.deliver()
            case 8 where step > 1_900: model.end()
            default: break
            }
            model.check()
        }
        model.end()
        // At most one iteration is left, and it comes once nothing blocks the handler.
        for _ in 0..<2 {
            model.unblock(.backPressure, hasBytes: false)
            model.unblock(.suspension, hasBytes: false)
            model.takeIteration()
        }
        model.deliver()
        #expect(!model.wantsIteration && model.endCount == 1)
    }
}
