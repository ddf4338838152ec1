import FeedCtl
import Testing

/// Times as people say them.
struct RelativeTimeTests {
    static let hour: Int64 = 3_600_000
    static let day = 24 * hour

    static let ages: [(Int64, String)] = [
        (0, "just now"), (4_999, "just now"), (-4_999, "just now"),
        (5_000, "5 seconds ago"), (59_999, "59 seconds ago"),
        (60_000, "1 minute ago"), (3_599_999, "59 minutes ago"),
        (hour, "1 hour ago"), (3 * hour + 1, "3 hours ago"), (day - 1, "23 hours ago"),
        (day, "1 day ago"), (29 * day, "29 days ago"), (30 * day, "1 month ago"),
        (364 * day, "12 months ago"), (365 * day, "1 year ago"), (3_650 * day, "10 years ago"),
        (-3 * hour, "in 3 hours"), (-60_000, "in 1 minute"),
    ]

    @Test(arguments: ages)
    func countsInTheLargestUnit(_ age: Int64, _ text: String) {
        let now: Int64 = 1_800_000_000_000
        #expect(RelativeTime.text(now - age, now: now) == text)
    }

    @Test(arguments: [Int64.min, Int64.min + 1, -1, 0, Int64.max])
    func takesAnyNumber(_ milliseconds: Int64) {
        #expect(!RelativeTime.text(milliseconds, now: 1_800_000_000_000).isEmpty)
        #expect(!RelativeTime.text(1_800_000_000_000, now: milliseconds).isEmpty)
    }
}
