import FeedDiskFaults
import FeedJournal
import FeedState
import FeedTestSupport
import Foundation
import Testing

/// That no flipped bit of the journal or the database is ever served.
///
/// `FEED_BIT_FLIPS` sets how many flips; `FEED_SEED` replays one.
@Suite struct StateBitFlipTests {
    private static let flipsPerState: UInt64 = 50

    @Test func servesAllOrRefuses() throws {
        let count = TestEnvironment.number("FEED_BIT_FLIPS") ?? 3000
        var written: (seed: UInt64, state: WrittenState)?
        var refusedCount: [String: Int] = [:]
        // How many of the flips so far are expected to meet a bit that every start checks.
        var expectedCount = ["journal": 0.0, "state.db": 0.0]
        var share = (journal: 0.0, database: 0.0)
        for seed in TestEnvironment.seeds(1...count) {
            // Each state is spoiled some times, so that a seed is one flip of one state.
            let stateSeed = seed / Self.flipsPerState
            if written?.seed != stateSeed {
                let state = try WrittenState(seed: stateSeed)
                share = try state.checkedShare()
                written = (stateSeed, state)
            }
            expectedCount["journal", default: 0] += share.journal
            expectedCount["state.db", default: 0] += share.database
            let state = try #require(written).state
            var generator = SeededGenerator(seed: seed)
            let (name, bit) = try #require(state.drawBit(&generator))
            let outcome = state.flip(bit, of: name)
            if case .servedWrongly(let what) = outcome {
                Issue.record("seed \(seed), bit \(bit) of \(name): \(what)")
            }
            guard outcome == .refused else { continue }
            refusedCount[name.hasPrefix("journal/") ? "journal" : name, default: 0] += 1
        }
        guard TestEnvironment.number("FEED_SEED") == nil else { return }
        for (name, expected) in expectedCount {
            let least = Self.leastHitCount(expected: expected)
            #expect(
                refusedCount[name, default: 0] >= least,
                "\(refusedCount) refused of \(expectedCount) expected"
            )
        }
    }

    /// How many flips meet a checked bit at least, where so many do on average; wrong once in a
    /// million ranges of seeds.
    ///
    /// Each flip meets one or not, independently of the others. Such a sum with the mean m is below
    /// m - t with a probability of at most exp(-t²/2m), which is Chernoff's bound.
    private static func leastHitCount(expected: Double) -> Int {
        Int((expected - (2 * expected * log(1e6)).squareRoot()).rounded(.up))
    }

    @Test("a flip in a record that state.db has refuses no start and loses nothing")
    func checkpointedRecordsAreNotNeeded() throws {
        var skippedCount = 0
        for seed in TestEnvironment.seeds(1...40) {
            let state = try WrittenState(seed: seed)
            var generator = SeededGenerator(seed: seed)
            let database = try StateDatabase.look(
                directory: ".",
                files: state.disk,
                vfs: state.disk.databaseDiskName
            )
            let checkpointed = database.meta.checkpointed.number
            for (name, range) in state.records(upTo: checkpointed) {
                let bits = 8 * range.lowerBound..<8 * range.upperBound
                let bit = Int.random(in: bits, using: &generator)
                let outcome = state.flip(bit, of: name)
                #expect(outcome == .harmless, "seed \(seed), bit \(bit) of \(name)")
                skippedCount += 1
            }
        }
        #expect(skippedCount > 100, "\(skippedCount) records")
    }

    @Test func aBlindHashLetsFlipsThrough() throws {
        let blind = RecordHash { _, _ in 1 }
        var wrongCount = 0
        for seed in 1...10 as ClosedRange<UInt64> {
            let seeing = try WrittenState(seed: seed, turns: 60, checkpoints: false)
            let state = try WrittenState(seed: seed, turns: 60, checkpoints: false, hash: blind)
            // Texts, which are of any bytes; some of them were replaced since.
            for place in state.find("title ").prefix(8) where place.name.hasPrefix("journal/") {
                let bit = 8 * place.offset + Int(seed % 4)
                if case .servedWrongly = state.flip(bit, of: place.name) { wrongCount += 1 }
                #expect(seeing.flip(bit, of: place.name) == .refused, "seed \(seed)")
            }
        }
        #expect(wrongCount > 3, "\(wrongCount) of 80 flips were served.")
    }

    @Test(arguments: TestEnvironment.seeds(1...5))
    func aFileThatIsGoneIsNoticed(seed: UInt64) throws {
        let state = try WrittenState(seed: seed)
        let log = try #require(state.disk.names.last { $0.hasPrefix("journal/0") })
        for name in ["state.db", log] {
            let disk = state.disk.copy()
            disk[name] = nil
            #expect(state.start(disk) == .refused, "\(name)")
        }
    }
}
