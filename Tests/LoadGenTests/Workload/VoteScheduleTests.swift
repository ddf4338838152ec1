import FeedTestSupport
import LoadGen
import Testing

@Suite struct VoteScheduleTests {
    private static func votes(_ schedule: VoteSchedule) -> [UInt32] {
        var schedule = schedule
        return (0..<schedule.count).map { _ in schedule.next() }
    }

    @Test func sumsWhateverAFileRecords() {
        #expect([UInt64]().clampedSum == 0)
        #expect([3, 0, 4].clampedSum == 7)
        #expect([1, UInt64.max, 5].clampedSum == .max)
    }

    /// All threads together cast what is planned, and none much more than another.
    @Test(arguments: TestEnvironment.seeds(1...30))
    func castsExactlyWhatIsPlanned(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let counts = (0..<Int.random(in: 1...60, using: &random)).map { _ in
            random.oneIn(3) ? 0 : UInt64.random(in: 0..<40, using: &random)
        }
        let threadCount = Int.random(in: 1...7, using: &random)
        var cast = [UInt64](repeating: 0, count: counts.count)
        var sizes: [Int] = []
        for thread in 0..<threadCount {
            let schedule = VoteSchedule(
                counts,
                thread: thread,
                threadCount: threadCount,
                seed: seed
            )
            sizes.append(schedule.count)
            for number in Self.votes(schedule) { cast[Int(number)] += 1 }
        }
        #expect(cast == counts, "FEED_SEED=\(seed)")
        #expect((sizes.max() ?? 0) - (sizes.min() ?? 0) <= 1, "FEED_SEED=\(seed)")
    }

    @Test func isTheSameForTheSameSeed() {
        let counts = [UInt64](repeating: 20, count: 50)
        func votes(_ seed: UInt64, _ thread: Int) -> [UInt32] {
            Self.votes(VoteSchedule(counts, thread: thread, threadCount: 2, seed: seed))
        }
        #expect(votes(1, 0) == votes(1, 0))
        #expect(votes(1, 0) != votes(2, 0))
        #expect(votes(1, 0) != votes(1, 1))
    }

    /// Of 100 posts with 1,000 votes each, any tenth of the order has about 100 of each: far apart
    /// from 60 or 150 if all orders are equally likely.
    @Test func mixesAllPostsThroughout() {
        let counts = [UInt64](repeating: 1000, count: 100)
        let votes = Self.votes(VoteSchedule(counts, thread: 0, threadCount: 1, seed: 5))
        for start in stride(from: 0, to: votes.count, by: 10_000) {
            var seen = [Int](repeating: 0, count: 100)
            for number in votes[start..<start + 10_000] { seen[Int(number)] += 1 }
            #expect(seen.allSatisfy { (60...150).contains($0) }, "from \(start), seed 5")
        }
    }
}
