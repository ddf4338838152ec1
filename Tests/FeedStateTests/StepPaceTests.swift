import FeedState
import Testing

@Suite struct StepPaceTests {
    private static func settled(at commit: Duration) -> Duration {
        var pace = StepPace()
        for _ in 0..<50 { pace.observe(commit: commit) }
        return pace.workTime
    }

    @Test func aQuickDiskKeepsStepsShort() {
        #expect(Self.settled(at: .milliseconds(1)) == StepPace.minimumTime)
    }

    @Test func aStepWorksSeveralTimesAsLongAsItsCommitTakes() {
        let time = Self.settled(at: .milliseconds(100))
        #expect(time > .milliseconds(295) && time <= .milliseconds(300))
    }

    @Test func aStepEndsHoweverSlowTheDiskIs() {
        #expect(Self.settled(at: .seconds(60)) <= StepPace.maximumTime)
    }

    @Test func oneSlowCommitIsForgotten() {
        var pace = StepPace()
        pace.observe(commit: .seconds(1))
        for _ in 0..<50 { pace.observe(commit: .milliseconds(1)) }
        #expect(pace.workTime < .milliseconds(6))
    }
}
