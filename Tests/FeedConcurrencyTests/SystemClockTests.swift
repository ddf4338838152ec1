import FeedConcurrency
import Foundation
import Testing

/// The clocks have the units that they say.
@Suite struct SystemClockTests {
    @Test func theTimesOfDayAgree() {
        let before = Date.now.timeIntervalSince1970
        let (milliseconds, microseconds) = (
            SystemClock.unixMilliseconds(), SystemClock.unixMicroseconds()
        )
        let after = Date.now.timeIntervalSince1970
        #expect(Double(milliseconds) >= (before * 1e3).rounded(.down) - 1)
        #expect(Double(milliseconds) <= after * 1e3 + 1)
        #expect(Double(microseconds) >= before * 1e6 - 1e3)
        #expect(Double(microseconds) <= after * 1e6 + 1e3)
    }

    @Test func aSleepTakesTheTimeAtLeast() {
        let began = SystemClock.monotonicNanoseconds()
        SystemClock.sleep(for: .milliseconds(2))
        #expect(SystemClock.monotonicNanoseconds() - began >= 2_000_000)
        SystemClock.sleep(for: .seconds(-1))
    }
}
