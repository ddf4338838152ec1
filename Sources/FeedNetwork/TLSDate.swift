/// A second of UTC, as certificates name the begin and the end of their validity.
package struct TLSDate: Sendable, Hashable, Comparable {
    /// Seconds since 1970, without leap seconds.
    package let unixSeconds: Int64

    package init(unixSeconds: Int64) { self.unixSeconds = unixSeconds }

    package static func < (left: Self, right: Self) -> Bool { left.unixSeconds < right.unixSeconds }
}

extension TLSDate: CustomStringConvertible {
    /// As in `2026-11-25 20:46:10 UTC`.
    package var description: String {
        let (days, second) = unixSeconds.quotientAndRemainderFloored(by: 86_400)
        // Counted from 0000-03-01, so that the leap day is the last day of a year: 400 years have
        // 146,097 days, and five months from March on have 153.
        let (era, dayOfEra) = (days + 719_468).quotientAndRemainderFloored(by: 146_097)
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shifted + 2) / 5 + 1
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        let date = "\(year)-\(Self.pair(month))-\(Self.pair(day))"
        let (hour, rest) = second.quotientAndRemainder(dividingBy: 3_600)
        return "\(date) \(Self.pair(hour)):\(Self.pair(rest / 60)):\(Self.pair(rest % 60)) UTC"
    }

    private static func pair(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

extension Int64 {
    fileprivate func quotientAndRemainderFloored(by divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
