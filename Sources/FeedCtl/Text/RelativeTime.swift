/// Times as people say them: "3 hours ago".
package enum RelativeTime {
    /// A time since the Unix epoch as seen at `now`, in the largest unit that it fills once.
    ///
    /// Months are 30 days and years 365; under five seconds is "just now".
    package static func text(_ milliseconds: Int64, now: Int64) -> String {
        let (difference, hasOverflowed) = now.subtractingReportingOverflow(milliseconds)
        let seconds = hasOverflowed ? Int64.max / 1_000 : difference / 1_000
        guard seconds.magnitude >= 5, let unit = units.first(where: { $0.fits(seconds) }) else {
            return "just now"
        }
        let count = seconds.magnitude / unit.seconds
        let amount = "\(count) \(unit.name)\(count == 1 ? "" : "s")"
        return seconds < 0 ? "in \(amount)" : "\(amount) ago"
    }

    private struct Unit {
        var name: String
        var seconds: UInt64

        func fits(_ seconds: Int64) -> Bool { seconds.magnitude >= self.seconds }
    }

    private static let units = [
        Unit(name: "year", seconds: 365 * 86_400),
        Unit(name: "month", seconds: 30 * 86_400),
        Unit(name: "day", seconds: 86_400),
        Unit(name: "hour", seconds: 3_600),
        Unit(name: "minute", seconds: 60),
        Unit(name: "second", seconds: 1),
    ]
}
