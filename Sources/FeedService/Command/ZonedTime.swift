package import Foundation

/// A time of day with its zone, as ISO 8601 writes it: 2026-11-25T14:05:00Z, with a fraction of a second
/// or +02:00 in place of Z where wanted.
///
/// `ISO8601DateFormatter` takes any text after a time, and moves days that do not exist.
package enum ZonedTime {
    /// The moment that a text says; nil where the text is no such time, or the day does not exist.
    package static func date(_ text: String) -> Date? {
        let form =
            /(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d{1,9})?(?:Z|([+-])(\d\d):?(\d\d))/
        // Other scripts have digits, too, which are no numbers here.
        guard text.utf8.allSatisfy({ $0 < 0x80 }),
            let parts = text.wholeMatch(of: form)?.output,
            let zone = zone(sign: parts.8, hours: parts.9, minutes: parts.10)
        else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let components = DateComponents(
            calendar: calendar,
            year: Int(parts.1),
            month: Int(parts.2),
            day: Int(parts.3),
            hour: Int(parts.4),
            minute: Int(parts.5),
            second: Int(parts.6)
        )
        guard components.isValidDate, let date = components.date else { return nil }
        return date.addingTimeInterval(parts.7.flatMap { Double("0\($0)") } ?? 0)
    }

    /// The zone that is some hours and minutes ahead of UTC, or behind it; UTC where none are given.
    private static func zone(
        sign: Substring?,
        hours: Substring?,
        minutes: Substring?
    ) -> TimeZone? {
        guard let sign else { return .gmt }
        guard let hours = hours.flatMap({ Int($0) }), hours < 24,
            let minutes = minutes.flatMap({ Int($0) }), minutes < 60
        else { return nil }
        let seconds = hours * 3_600 + minutes * 60
        return TimeZone(secondsFromGMT: sign == "-" ? -seconds : seconds)
    }
}
