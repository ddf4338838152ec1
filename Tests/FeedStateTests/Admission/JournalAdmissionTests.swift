import FeedState
import Testing

@Suite struct JournalAdmissionTests {
    @Test func aDiskOfUsualSpeedLeavesTheLimit() {
        var admission = JournalAdmission(maximumByteCount: 1 << 20)
        admission.observe(byteCount: 10, took: .milliseconds(100))
        #expect(admission.byteCount == 1 << 20)
    }

    @Test func aSlowDiskMayBeOwedWhatItWritesInASecond() {
        var admission = JournalAdmission(maximumByteCount: 24 << 20)
        admission.observe(byteCount: 1 << 20, took: .milliseconds(500))
        #expect(admission.byteCount == 2 << 20)
        admission.observe(byteCount: 1 << 20, took: .seconds(4))
        #expect(admission.byteCount == 1 << 18)
    }

    @Test func somethingMayAlwaysWait() {
        var admission = JournalAdmission(maximumByteCount: 24 << 20)
        admission.observe(byteCount: 1, took: .seconds(60))
        #expect(admission.byteCount == JournalAdmission.minimumByteCount)
    }

    @Test func aDiskThatIsFastAgainIsTrustedStepByStep() {
        var admission = JournalAdmission(maximumByteCount: 1 << 20)
        admission.observe(byteCount: 1, took: .seconds(60))
        var limits: [Int] = []
        for _ in 0..<6 {
            admission.observe(byteCount: 1, took: .milliseconds(1))
            limits.append(admission.byteCount)
        }
        #expect(limits == [1 << 17, 1 << 18, 1 << 19, 1 << 20, 1 << 20, 1 << 20])
    }
}
