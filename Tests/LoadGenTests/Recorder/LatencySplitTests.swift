import FeedProto
import Histogram
import LoadGen
import Testing

@Suite struct LatencySplitTests {
    private static let sent: UInt64 = 1_000_000
    private static let answered: UInt64 = 1_500_000

    private func times(_ received: UInt64, _ executed: UInt64, _ released: UInt64) -> CallTimes {
        CallTimes(
            receivedNanoseconds: received,
            executedNanoseconds: executed,
            releasedNanoseconds: released
        )
    }

    private func split(_ calls: CallTimes...) -> LatencySplit {
        var split = LatencySplit()
        for call in calls { split.add(call, sent: Self.sent, answered: Self.answered) }
        return split
    }

    /// Whether a part has this number of latencies, the longest of which is this one.
    private func has(
        _ split: LatencySplit,
        _ part: LatencySplit.Part,
        _ count: UInt64,
        _ longest: UInt64
    ) -> Bool {
        guard let found = split.latencies(of: part) else { return false }
        return found.totalCount == count && found.valuesAreEquivalent(found.max, longest)
    }

    @Test func dividesTheLatencyOfACall() {
        let split = split(times(1_020_000, 1_025_000, 1_460_000))
        #expect(split.sampleCount == 1 && split.otherClockCount == 0 && split.isOneClock)
        #expect(has(split, .there, 1, 20_000))
        #expect(has(split, .execution, 1, 5_000))
        #expect(has(split, .held, 1, 435_000))
        #expect(has(split, .back, 1, 40_000))
        #expect(has(split, .bothWays, 1, 60_000))
    }

    @Test func takesEqualInstantsForOnesOfOneClock() {
        let split = split(
            times(Self.sent, Self.sent, Self.sent),
            times(Self.answered, Self.answered, Self.answered)
        )
        #expect(split.isOneClock)
        #expect(has(split, .there, 2, 500_000))
        #expect(has(split, .held, 2, 0))
    }

    @Test(
        arguments: [
            (999_999, 1_100_000, 1_200_000), (1_400_000, 1_400_001, 1_500_001), (5, 7, 100_000),
            (9_000_000_000, 9_000_000_001, 9_000_100_000),
        ] as [(UInt64, UInt64, UInt64)]
    )
    func tellsBothWaysTogetherWhereTheClocksDiffer(
        _ received: UInt64,
        _ executed: UInt64,
        _ released: UInt64
    ) {
        let split = split(times(received, executed, released))
        #expect(split.sampleCount == 1 && split.otherClockCount == 1 && !split.isOneClock)
        #expect(split.latencies(of: .there) == nil && split.latencies(of: .back) == nil)
        let both = Self.answered - Self.sent - (released - received)
        #expect(has(split, .execution, 1, executed - received))
        #expect(has(split, .held, 1, released - executed))
        #expect(has(split, .bothWays, 1, both))
    }

    @Test func countsTimesThatCannotBe() {
        let longer = split(times(0, 10, 500_001))
        #expect(longer.otherClockCount == 1 && longer.latencies(of: .bothWays) == nil)
        #expect(has(longer, .held, 1, 499_991))
        let longest = split(times(0, 0, .max))
        #expect(has(longest, .held, 1, LatencyScale.highestNanoseconds))
        for unordered in [times(1_200_000, 1_100_000, 1_300_000), times(1_100_000, 1_300_000, 0)] {
            let split = split(unordered)
            #expect(split.sampleCount == 1 && split.otherClockCount == 1)
            for part in LatencySplit.Part.allCases { #expect(split.latencies(of: part) == nil) }
        }
    }

    /// One call by another clock makes all ways doubtful.
    @Test func tellsNoSingleWayWhereOneClockIsAnother() {
        let split = split(times(1_020_000, 1_025_000, 1_460_000), times(1, 2, 3))
        #expect(split.sampleCount == 2 && split.otherClockCount == 1)
        #expect(split.latencies(of: .there) == nil && split.latencies(of: .back) == nil)
        #expect(has(split, .bothWays, 2, 499_998))
    }

    @Test func addsTheCallsOfThreads() throws {
        var one = RecorderTotals()
        one.split = split(times(1_020_000, 1_025_000, 1_460_000))
        var two = RecorderTotals()
        two.split = split(
            times(1_030_000, 1_035_000, 1_470_000),
            times(1_010_000, 1_011_000, 1_012_000)
        )
        var all = RecorderTotals()
        all.add(RecorderTotals())
        #expect(all.split == nil)
        all.add(one)
        #expect(all.split == one.split)
        all.add(RecorderTotals())
        #expect(all.split == one.split)
        all.add(two)
        let sum = try #require(all.split)
        #expect(sum.sampleCount == 3 && sum.otherClockCount == 0)
        #expect(has(sum, .there, 3, 30_000))
        #expect(has(sum, .back, 3, 488_000))
        var other = RecorderTotals()
        other.split = split(times(1, 2, 3))
        all.add(other)
        #expect(all.split?.sampleCount == 4 && all.split?.otherClockCount == 1)
    }
}

@Suite struct CallSamplerTests {
    @Test func takesOneOfEachGroupAndEachPlaceInTurn() {
        var sampler = CallSampler()
        let size = CallSampler.sampledEvery
        var places: Set<Int> = []
        for group in 0..<size {
            let taken = (0..<size).filter { _ in sampler.takesNext() }
            #expect(taken.count == 1, "group \(group)")
            places.formUnion(taken)
        }
        #expect(places.count == size)
    }
}
