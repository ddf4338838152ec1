import FeedConcurrency
import Foundation
import Testing

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

    @Test func readingsStayInTheRange() {
        let last = UInt64(Int64.max)
        #expect(SystemClock.nanoseconds(seconds: 3, 7) == 3_000_000_007)
        #expect(SystemClock.nanoseconds(seconds: -3, 7) == 7)
        #expect(SystemClock.nanoseconds(seconds: 9_223_372_036, 854_775_806) == last - 1)
        #expect(SystemClock.nanoseconds(seconds: 9_223_372_036, 854_775_808) == last)
        #expect(SystemClock.nanoseconds(seconds: 253_370_764_800, 1) == last)
        #expect(SystemClock.nanoseconds(seconds: .max, 999_999_999) == last)
    }
}

/// Milliseconds are rounded as the names of the two functions say.
@Suite struct MillisecondsTests {
    @Test func roundsAsTheNameSays() {
        let duration = Duration.milliseconds(2_500) + .nanoseconds(1)
        #expect(duration.millisecondsRoundedDown == 2_500)
        #expect(duration.millisecondsRoundedUp == 2_501)
    }

    @Test(arguments: [0, 1, 999, 1_000, 90_000] as [Int64])
    func keepsWholeMilliseconds(_ count: Int64) {
        #expect(Duration.milliseconds(count).millisecondsRoundedDown == count)
        #expect(Duration.milliseconds(count).millisecondsRoundedUp == count)
    }
}
