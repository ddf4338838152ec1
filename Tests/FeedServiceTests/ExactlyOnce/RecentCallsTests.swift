import FeedLog
import FeedRanking
import FeedService
import FeedTestSupport
import Testing

/// The calls that a channel remembers, compared with a model that remembers all.
struct RecentCallsTests {
    static let window = UInt64(RecentCalls.window)

    /// A call and the decision about it, on a channel that its first Hello holds.
    struct Step: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The sequences that were executed, in this order, each with itself as hash.
        let executed: [UInt64]
        let sequence: UInt64
        var hash: UInt32?
        var epoch: UInt64 = 1
        let decision: RecentCalls.Decision
    }

    static let steps = [
        Step(testDescription: "first", executed: [], sequence: 1, decision: .execute),
        Step(testDescription: "again", executed: [1], sequence: 1, decision: .answer(.done)),
        Step(testDescription: "next", executed: [1], sequence: 2, decision: .execute),
        Step(testDescription: "reused", executed: [1], sequence: 1, hash: 9, decision: .reused),
        Step(testDescription: "a gap", executed: [1, 3], sequence: 2, decision: .execute),
        Step(
            testDescription: "a gap filled",
            executed: [1, 3, 2],
            sequence: 2,
            decision: .answer(.done)
        ),
        Step(
            testDescription: "the last that is remembered",
            executed: [1, window],
            sequence: 1,
            decision: .answer(.done)
        ),
        Step(
            testDescription: "the first that is forgotten",
            executed: [1, window + 1],
            sequence: 1,
            decision: .expired
        ),
        Step(
            testDescription: "what has the place of a forgotten one",
            executed: [1, 2, window + 2],
            sequence: window + 1,
            decision: .execute
        ),
        Step(
            testDescription: "a gap over the whole window",
            executed: [7, 10_000],
            sequence: 9999,
            decision: .execute
        ),
        Step(
            testDescription: "the greatest number",
            executed: [1, .max],
            sequence: .max - 1,
            decision: .execute
        ),
        Step(
            testDescription: "an older Hello's",
            executed: [1],
            sequence: 1,
            epoch: 0,
            decision: .fenced
        ),
    ]

    @Test(arguments: steps)
    func decides(_ step: Step) {
        var calls = RecentCalls(channel: 5)
        #expect(calls.beginEpoch() == 1)
        for sequence in step.executed {
            let hash = UInt32(truncatingIfNeeded: sequence)
            calls.record(sequence: sequence, hash: hash, .done)
        }
        let hash = step.hash ?? UInt32(truncatingIfNeeded: step.sequence)
        let decision = calls.decision(sequence: step.sequence, hash: hash, epoch: step.epoch)
        #expect(decision == step.decision)
    }

    @Test func takesMemoryForWhatWasRecordedOnly() {
        let empty = RecentCalls(channel: 5).byteCount
        var batch = RecentCalls(channel: 5)
        batch.record(sequence: 256, hash: 1, .items(ItemMask(2)))
        #expect(batch.byteCount - empty <= 160)
        // Votes that lie as far apart as they may.
        var sparse = RecentCalls(channel: 5)
        for sequence in stride(from: 1, through: 10_000, by: 64) {
            sparse.record(sequence: UInt64(sequence), hash: 1, .done)
        }
        #expect(sparse.byteCount - empty <= 96)
        var full = RecentCalls(channel: 5)
        for sequence in 1...10_000 as ClosedRange<UInt64> {
            full.record(sequence: sequence, hash: 1, .done)
        }
        #expect(full.byteCount - empty <= 256 * 16 + 32)
        // Batches with all votes counted take no more memory than votes.
        for sequence in 10_001...20_000 as ClosedRange<UInt64> {
            full.record(sequence: sequence, hash: 1, .items(ItemMask(.max, 0xFF)))
        }
        #expect(full.byteCount - empty <= 256 * 16 + 32)
        for sequence in 20_001...30_000 as ClosedRange<UInt64> {
            full.record(sequence: sequence, hash: 1, .items(ItemMask(sequence, 2)))
        }
        #expect(full.byteCount - empty <= 256 * (16 + 32) + 64)
    }

    @Test func hasNoRoomWhereTheShareIsTaken() {
        let budget = ChannelBudget(limitByteCount: 2000)
        let share = ChannelShare(of: budget)
        var calls = RecentCalls(channel: 5, share: share)
        let epoch = calls.beginEpoch()
        var sequence: UInt64 = 1
        func decide(_ items: Bool = false) -> RecentCalls.Decision {
            calls.decision(sequence: sequence, hash: 0, epoch: epoch, recordsItems: items)
        }
        while decide() == .execute, sequence < 300 {
            calls.record(sequence: sequence, hash: 0, .done)
            sequence += 1
        }
        #expect(decide() == .noRoom)
        #expect(sequence > 30 && sequence < 130)
        #expect(share.usedByteCount == calls.byteCount)
        #expect(budget.usedByteCount <= 1500)
        // Recorded calls are still answered.
        let known = calls.decision(sequence: 1, hash: 0, epoch: epoch)
        #expect(known == .answer(.done))
    }

    @Test func saysWhatTheLogIsTold() {
        var calls = RecentCalls(channel: 5)
        #expect(
            calls.record(sequence: 3, hash: 4, .id(6))
                == ChannelOutcome(channel: 5, sequence: 3, requestHash: 4, outcome: .id(6))
        )
        #expect(calls.highest == 3)
    }

    @Test(arguments: TestEnvironment.seeds(1...40))
    func agreesWithAModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var calls = RecentCalls(channel: 1)
        let epoch = calls.beginEpoch()
        var model: [UInt64: (hash: UInt32, outcome: Outcome)] = [:]
        var highest: UInt64 = 0
        let jump: UInt64 = [2, 20, 300, 5000].randomElement(using: &random) ?? 2
        for step in 0..<2000 {
            let reach = highest + .random(in: 0...jump, using: &random)
            let sequence = max(1, reach - min(reach, .random(in: 0...600, using: &random)))
            let hash = UInt32.random(in: 0...1, using: &random)
            let decision = calls.decision(sequence: sequence, hash: hash, epoch: epoch)
            let expected: RecentCalls.Decision =
                if sequence <= highest, highest - sequence >= Self.window {
                    .expired
                } else if let known = model[sequence] {
                    known.hash == hash ? .answer(known.outcome) : .reused
                } else {
                    .execute
                }
            #expect(decision == expected, "seed \(seed), step \(step), sequence \(sequence)")
            guard decision == expected else { return }
            var isRecorded = decision == .execute
            if case .answer(.items) = decision { isRecorded = true }
            guard isRecorded else { continue }
            let outcome = Self.outcome(&random)
            calls.record(sequence: sequence, hash: hash, outcome)
            model[sequence] = (hash, outcome)
            highest = max(highest, sequence)
            #expect(calls.highest == highest)
        }
    }

    private static func outcome(_ random: inout SeededGenerator) -> Outcome {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: .id(.random(in: 1...(.max), using: &random))
        case 1: .items(ItemMask(.random(in: 0...(.max), using: &random), 1, 2, 3))
        default: .done
        }
    }
}
