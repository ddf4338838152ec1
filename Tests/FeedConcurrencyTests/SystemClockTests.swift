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

    /// The file has the same clock, in hundredths of a second.
    ///
    /// It is another one than the monotonic clock where the machine was suspended, or the tests run under
    /// `unshare --time --boottime 3600`.
    @Test func theClockRunsWhileTheMachineIsSuspended() throws {
        let before = SystemClock.bootNanoseconds() / 10_000_000
        let text = try String(contentsOfFile: "/proc/uptime", encoding: .utf8)
        let after = SystemClock.bootNanoseconds() / 10_000_000
        let digits = text.prefix { $0 != " " }.filter { $0 != "." }
        let hundredths = try #require(UInt64(digits))
        #expect((before...after).contains(hundredths))
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
