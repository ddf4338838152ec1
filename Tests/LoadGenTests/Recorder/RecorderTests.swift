import FeedProto
import FeedTestSupport
import Histogram
import LoadGen
import Testing

@Suite struct RecorderTotalsTests {
    private func totals(_ values: [UInt64], operation: Operation = .vote) -> RecorderTotals {
        var histogram = LatencyScale.makeHistogram()
        for value in values { histogram.record(value) }
        var totals = RecorderTotals()
        totals.latencies[LatencyKey(operation, .service)] = histogram
        totals.outcomes.sent = UInt64(values.count)
        totals.outcomes.ok = UInt64(values.count)
        totals.measuredAnswers[Int(operation.rawValue)] = UInt64(values.count)
        totals.failures.count(.reset)
        totals.failures.countServerError("A/B")
        return totals
    }

    /// The mean of two 99th percentiles is no 99th percentile; the merged histogram has the right one.
    @Test func percentilesComeFromMergedHistograms() {
        let fast = (1...9900).map { _ in 1_000_000 as UInt64 }
        let slow = (1...100).map { _ in 900_000_000 as UInt64 } + [900_000_000]
        var all = totals(fast)
        all.add(totals(slow))
        let merged = all.latencies[LatencyKey(.vote, .service)]
        #expect(merged?.totalCount == 10_001)
        let p98 = Double(merged?.valueAtPercentile(98) ?? 0)
        let p995 = Double(merged?.valueAtPercentile(99.5) ?? 0)
        #expect(abs(p98 / 1_000_000 - 1) < 0.002)
        #expect(abs(p995 / 900_000_000 - 1) < 0.002)
    }

    @Test func countsAddUp() {
        var all = totals([1, 2, 3])
        all.add(totals([4], operation: .page))
        all.add(totals([5]))
        #expect(all.outcomes.sent == 5)
        #expect(all.outcomes.isConserved)
        #expect(all.measuredAnswers[0] == 4)
        #expect(all.failures.causes == [.reset: 3])
        #expect(all.failures.serverErrors == ["A/B": 3])
        #expect(all.merged(.service)?.totalCount == 5)
        #expect(all.merged(.slip) == nil)
    }

    @Test func aRequestWithoutAnOutcomeBreaksTheConservation() {
        var outcomes = Outcomes()
        outcomes.sent = 4
        outcomes.ok = 1
        outcomes.error = 1
        outcomes.timeout = 1
        #expect(!outcomes.isConserved)
        outcomes.lost = 1
        #expect(outcomes.isConserved)
        outcomes.ok = 2
        #expect(!outcomes.isConserved)
    }
}

/// Answers that are recorded together give what each one recorded by itself gives.
@Suite struct AnswerRunTests {
    private static let millisecond: UInt64 = 1_000_000

    /// 1 s of warm-up, then 2 s that are measured.
    private static let phases = Phases(start: 0, warmup: .seconds(1), duration: .seconds(2))

    /// The totals of answers in reads, recorded in runs or one by one.
    private static func totals(
        _ reads: [(answered: UInt64, requests: [(intended: UInt64, sent: UInt64)])],
        isOpenLoop: Bool,
        inRuns: Bool
    ) -> RecorderTotals {
        let recorder = Recorder(isOpenLoop: isOpenLoop, isSplit: false)
        for read in reads {
            var run = AnswerRun(answered: read.answered)
            for (intended, sent) in read.requests {
                if inRuns {
                    run.add(intended: intended, sent: sent, to: recorder, phases)
                } else {
                    recorder.recordAnswer(
                        .vote,
                        intended: intended,
                        sent: sent,
                        answered: read.answered,
                        phases: phases
                    )
                }
            }
            run.end(recorder, phases)
            #expect(run.answerCount == (inRuns ? UInt64(read.requests.count) : 0))
        }
        _ = recorder.closeInterval()
        return recorder.makeTotals()
    }

    @Test(arguments: [false, true])
    func equalsTheSumOfItsAnswers(isOpenLoop: Bool) {
        var random = SeededGenerator(seed: TestEnvironment.firstSeed)
        let reads = (0..<200).map { _ in
            let answered = UInt64.random(in: 1...3_500, using: &random) * Self.millisecond
            // Times of few values, so that neighbours often have the same, or differ in one of both.
            let requests = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                let sent = answered - UInt64.random(in: 0..<2, using: &random) * Self.millisecond
                let delay = isOpenLoop ? UInt64.random(in: 0..<3, using: &random) : 0
                return (intended: sent - min(sent, delay * Self.millisecond), sent: sent)
            }
            return (answered: answered, requests: requests)
        }
        let expected = Self.totals(reads, isOpenLoop: isOpenLoop, inRuns: false)
        let found = Self.totals(reads, isOpenLoop: isOpenLoop, inRuns: true)
        #expect(found.measuredAnswers == expected.measuredAnswers)
        #expect(found.measuredRequestCount == expected.measuredRequestCount)
        #expect(found.lateSendCount == expected.lateSendCount)
        #expect(found.latencies == expected.latencies)
        #expect(expected.latencies.count == (isOpenLoop ? 3 : 1))
        #expect(isOpenLoop == (expected.lateSendCount > 100))
    }
}

@Suite struct FailuresTests {
    @Test func showsWhatAServiceSaysInOneLine() {
        var failures = Failures()
        failures.countServerError("OVERLOADED/\u{1B}[31mno\n")
        failures.countServerError(String(repeating: "x", count: 1_000_000))
        #expect(
            Set(failures.serverErrors.keys)
                == [#"OVERLOADED/\u{1B}[31mno\n"#, String(repeating: "x", count: 100) + "…"]
        )
    }

    @Test func countsTheRestOfManyTextsTogether() {
        var failures = Failures()
        for number in 0..<1_000 { failures.countServerError("reason \(number)") }
        failures.countServerError("reason 7")
        #expect(failures.serverErrors.count == 101)
        #expect(failures.serverErrors["reason 7"] == 2)
        #expect(failures.serverErrors["other errors"] == 900)
    }

    @Test func namesTheFlagsThatLiftALimit() throws {
        var result = try ReportTests().sample()
        #expect(!TextReport(result).rendered().contains("--max-posts-per-hour"))
        result.totals.failures.countServerError("RESOURCE_EXHAUSTED/RATE_LIMITED")
        #expect(TextReport(result).rendered().contains("--max-posts-per-hour"))
    }
}

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
