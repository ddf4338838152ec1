import FeedConcurrency
import FeedState
import Synchronization
import Testing

@Suite struct ReadAheadTests {
    private struct Failure: Error, Equatable {
        var name: String

        init(name: String) { self.name = name }

        /// The system has refused the thread.
        init(refusal: ThreadStartError) { name = refusal.name }
    }

    private typealias Numbers = ReadAhead<Int, Failure>

    /// Counts what is alive of it.
    private final class Witness: Sendable {
        let alive = Atomic(0)
    }

    private final class Held {
        let witness: Witness

        init(_ witness: Witness) {
            self.witness = witness
            witness.alive.add(1, ordering: .relaxed)
        }

        deinit { witness.alive.subtract(1, ordering: .relaxed) }
    }

    @Test func allBatchesAreAppliedInOrder() throws {
        var applied: [Int] = []
        try Numbers.run("test", refused: Failure.init(refusal:)) { ahead throws(Failure) in
            for number in 0..<1_000 where !ahead.send(number) { return }
        } applying: { number throws(Failure) in
            applied.append(number)
        }
        #expect(applied == Array(0..<1_000))
    }

    @Test func aFailureOfReadingComesBehindWhatWasReadBefore() {
        var applied: [Int] = []
        #expect(throws: Failure(name: "read")) {
            try Numbers.run("test", refused: Failure.init(refusal:)) { ahead throws(Failure) in
                for number in 0..<100 { _ = ahead.send(number) }
                throw Failure(name: "read")
            } applying: { number throws(Failure) in
                applied.append(number)
            }
        }
        #expect(applied == Array(0..<100))
    }

    @Test func aFailureOfApplyingEndsTheReadingAndIsTheOneThatIsThrown() {
        let sent = Atomic(0)
        var applied: [Int] = []
        #expect(throws: Failure(name: "applied 10")) {
            try Numbers.run("test", refused: Failure.init(refusal:)) { ahead throws(Failure) in
                while ahead.send(sent.load(ordering: .relaxed)) {
                    sent.add(1, ordering: .relaxed)
                }
                // Further ones are not taken, and do not wait.
                for _ in 0..<100 where ahead.send(0) { return }
                throw Failure(name: "read")
            } applying: { number throws(Failure) in
                applied.append(number)
                if number == 10 { throw Failure(name: "applied 10") }
            }
        }
        #expect(applied == Array(0...10))
        #expect(sent.load(ordering: .relaxed) <= 11 + Numbers.limit)
    }

    @Test func readingIsAtMostTheLimitAhead() throws {
        let sent = Atomic(0)
        try Numbers.run("test", refused: Failure.init(refusal:)) { ahead throws(Failure) in
            for number in 0..<1_000 {
                _ = ahead.send(number)
                sent.add(1, ordering: .relaxed)
            }
        } applying: { number throws(Failure) in
            // The batch itself, and those that wait after it.
            #expect(sent.load(ordering: .relaxed) <= number + 1 + Numbers.limit)
        }
    }

    @Test(arguments: [false, true])
    func nothingThatReadingUsedIsLeftAtTheEnd(fails: Bool) {
        let witness = Witness()
        for _ in 0..<100 {
            try? Self.runWithHeld(witness, fails)
            #expect(witness.alive.load(ordering: .relaxed) == 0)
        }
    }

    /// Only the reading has what it uses.
    private static func runWithHeld(_ witness: Witness, _ fails: Bool) throws {
        try Numbers.run(
            "test",
            refused: Failure.init(refusal:),
            reading: reading(Held(witness))
        ) { number throws(Failure) in
            if fails, number == 5 { throw Failure(name: "applied") }
        }
    }

    private static func reading(_ held: Held) -> Numbers.Reading {
        { ahead throws(Failure) in
            for number in 0..<10 { _ = ahead.send(number) }
            withExtendedLifetime(held) {}
        }
    }
}
