import FeedTestSupport
import LoadGen
import Testing

@Suite struct VoteScheduleTests {
    private static func votes(_ schedule: VoteSchedule) -> [UInt32] {
        var schedule = schedule
        return (0..<schedule.count).map { _ in schedule.takeNext() }
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
        // A few posts have most votes, as in real files, and some have none.
        let counts = (0..<Int.random(in: 1...60, using: &random)).map { _ in
            random.oneIn(3)
                ? 0 : UInt64.random(in: 0..<(random.oneIn(8) ? 5000 : 40), using: &random)
        }
        let planned = PlannedVotes(counts)
        let threadCount = Int.random(in: 1...7, using: &random)
        var cast = [UInt64](repeating: 0, count: counts.count)
        var sizes: [Int] = []
        for thread in 0..<threadCount {
            let schedule = VoteSchedule(
                planned,
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
        let planned = PlannedVotes([UInt64](repeating: 20, count: 50))
        func votes(_ seed: UInt64, _ thread: Int) -> [UInt32] {
            Self.votes(VoteSchedule(planned, thread: thread, threadCount: 2, seed: seed))
        }
        #expect(votes(1, 0) == votes(1, 0))
        #expect(votes(1, 0) != votes(2, 0))
        #expect(votes(1, 0) != votes(1, 1))
    }

    /// The order does not depend on the threads: they take turns in it.
    @Test(arguments: [2, 3, 5])
    func dealsOneOrderToTheThreads(threadCount: Int) {
        let planned = PlannedVotes((0..<40).map { $0 * 7 })
        let all = Self.votes(VoteSchedule(planned, thread: 0, threadCount: 1, seed: 3))
        for thread in 0..<threadCount {
            let share = VoteSchedule(planned, thread: thread, threadCount: threadCount, seed: 3)
            let turns = stride(from: thread, to: all.count, by: threadCount).map { all[$0] }
            #expect(Self.votes(share) == turns)
        }
    }

    /// Of 100 posts with 1,000 votes each, any tenth of the order has about 100 of each: far apart
    /// from 60 or 150 if all orders are equally likely.
    @Test func mixesAllPostsThroughout() {
        let planned = PlannedVotes([UInt64](repeating: 1000, count: 100))
        let votes = Self.votes(VoteSchedule(planned, thread: 0, threadCount: 1, seed: 5))
        for start in stride(from: 0, to: votes.count, by: 10_000) {
            var seen = [Int](repeating: 0, count: 100)
            for number in votes[start..<start + 10_000] { seen[Int(number)] += 1 }
            #expect(seen.allSatisfy { (60...150).contains($0) }, "from \(start), seed 5")
        }
    }

    /// Two votes in a row fall on each pair of 20 posts equally often: chi-squared has 361 degrees
    /// of freedom, as each post has its votes, and lies in this range in 99 of 100 random orders.
    @Test(arguments: [100_000, 131_072, 200_003])
    func followsNoPostWithAFavourite(voteCount: Int) {
        let share = UInt64(voteCount / 20)
        var counts = [UInt64](repeating: share, count: 20)
        counts[0] += UInt64(voteCount) - 20 * share
        let votes = Self.votes(
            VoteSchedule(PlannedVotes(counts), thread: 0, threadCount: 1, seed: 11)
        )
        var pairs = [Double](repeating: 0, count: 400)
        for (vote, next) in zip(votes, votes.dropFirst()) { pairs[Int(vote * 20 + next)] += 1 }
        let expected = Double(votes.count - 1) / 400
        let distance = pairs.reduce(0) { $0 + ($1 - expected) * ($1 - expected) / expected }
        #expect((290...510).contains(distance), "chi-squared \(distance), seed 11")
    }

    /// The first votes of a trillion are computed like those of a thousand, in the same memory.
    @Test func streamsATrillionVotes() {
        let half = UInt64(PlannedVotes.maximumCount) / 2
        var schedule = VoteSchedule(
            PlannedVotes([half - 1, 0, half, 1]),
            thread: 1,
            threadCount: 3,
            seed: 1
        )
        #expect(schedule.remainingCount == PlannedVotes.maximumCount / 3)
        var seen = [Int](repeating: 0, count: 4)
        for _ in 0..<10_000 { seen[Int(schedule.takeNext())] += 1 }
        #expect(schedule.remainingCount == PlannedVotes.maximumCount / 3 - 10_000)
        #expect(seen[1] == 0 && seen[3] <= 1)
        #expect((4_700...5_300).contains(seen[0]))
        #expect(PlannedVotes.byteCount(numberCount: 4) == 72)
    }
}
