import FeedState
import Testing

@Suite struct SlicePaceTests {
    private static func settled(at commit: Duration) -> Duration {
        var pace = SlicePace()
        for _ in 0..<50 { pace.observe(commit: commit) }
        return pace.workTime
    }

    @Test func aQuickDiskKeepsSlicesShort() {
        #expect(Self.settled(at: .milliseconds(1)) == SlicePace.minimumTime)
    }

    @Test func aSliceWorksSeveralTimesAsLongAsItsCommitTakes() {
        let time = Self.settled(at: .milliseconds(100))
        #expect(time > .milliseconds(295) && time <= .milliseconds(300))
    }

    @Test func aSliceEndsHoweverSlowTheDiskIs() {
        #expect(Self.settled(at: .seconds(60)) <= SlicePace.maximumTime)
    }

    @Test func oneSlowCommitIsForgotten() {
        var pace = SlicePace()
        pace.observe(commit: .seconds(1))
        for _ in 0..<50 { pace.observe(commit: .milliseconds(1)) }
        #expect(pace.workTime < .milliseconds(6))
    }
}
