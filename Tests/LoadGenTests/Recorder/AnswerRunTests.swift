import FeedTestSupport
import LoadGen
import Testing

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
