import FeedConcurrency
import Testing

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
