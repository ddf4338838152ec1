import FeedService
import Foundation
import Testing

/// The times that `restore --at` takes are those of ISO 8601, and nothing else is read as one.
struct ZonedTimeTests {
    @Test(arguments: [
        ("2026-11-26T11:54:00Z", 1_795_694_040.0),
        ("2026-11-26T11:54:00.25Z", 1_795_694_040.25),
        ("2026-11-26T13:54:00+02:00", 1_795_694_040.0),
        ("2026-11-26T17:24:00+0530", 1_795_694_040.0),
        ("2026-11-26T06:54:00-05:00", 1_795_694_040.0),
        ("2024-02-29T00:00:00Z", 1_709_164_800.0),
    ])
    func timesAreRead(_ text: String, _ seconds: Double) {
        #expect(ZonedTime.date(text)?.timeIntervalSince1970 == seconds)
    }

    @Test(arguments: [
        "2026-11-26T11:54:00Zjunk", "2026-11-26T11:54:00Z+02:00", "2026-11-26T20:54:00+09:99",
        "2026-11-26T13:54:00+02:xx", "2026-11-26T13:54:00+2", "2026-11-26T13:54:00+02:00 11:59",
        "2026-11-26T13:54:00+24:00", "2026-02-30T00:00:00Z", "2026-11-31T00:00:00Z",
        "2025-02-29T00:00:00Z", "2026-11-26T24:00:00Z", "2026-11-26T11:60:00Z",
        "2026-11-26T11:54:60Z", "292277026596-12-04T15:30:07Z", "2026-11-26T11:54:00",
        " 2026-11-26T11:54:00Z", "yesterday", "", "2026-１１-26T11:54:00Z",
        "2026-11-26T11:54:00+０２:00", "2026-11-26T11:54:00.２5Z",
    ])
    func otherTextsAreNone(_ text: String) {
        #expect(ZonedTime.date(text) == nil)
    }
}
