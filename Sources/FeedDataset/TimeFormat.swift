/// How the times of a file are written.
package enum TimeFormat: Equatable, Sendable {
    /// Unix seconds below 100 billion (the year 5138), else Unix milliseconds, or ISO 8601.
    case usual
    case seconds
    case milliseconds
    case iso
    case pattern(TimePattern)

    /// A format by its name, or by a pattern; nil for neither.
    package init?(_ text: String) {
        switch text {
        case "seconds": self = .seconds
        case "milliseconds": self = .milliseconds
        case "iso": self = .iso
        default:
            guard let pattern = TimePattern(text) else { return nil }
            self = .pattern(pattern)
        }
    }

    /// The latest time, in milliseconds: up to here a fraction of a second is exact; the year 286,000.
    static let maximumMilliseconds = 9e15
    /// As many seconds are taken for milliseconds: no post is of the year 5138, nor of March 1973 in these.
    private static let millisecondsFrom = 1e11

    /// The milliseconds since 1970 that a value means; nil where it means none.
    func milliseconds(_ text: String) -> Int64? {
        switch self {
        case .seconds: return Self.double(text).flatMap { Self.milliseconds($0, scale: 1000) }
        case .milliseconds: return Self.double(text).flatMap { Self.milliseconds($0, scale: 1) }
        case .iso: return TimePattern.iso(text)
        case .pattern(let pattern): return pattern.milliseconds(text)
        case .usual:
            guard let number = Self.double(text) else { return TimePattern.iso(text) }
            return Self.milliseconds(number, scale: number < Self.millisecondsFrom ? 1000 : 1)
        }
    }

    /// The most that a number may be; 0 where a value is none.
    var maximum: UInt64 {
        switch self {
        case .usual, .seconds: UInt64(Self.maximumMilliseconds / 1000)
        case .milliseconds: UInt64(Self.maximumMilliseconds)
        case .iso, .pattern: 0
        }
    }

    /// What a value that means no time is not, for a message.
    var expectation: String {
        switch self {
        case .usual:
            "no number of seconds from 0 to \(maximum) and no time of ISO 8601; --time-format says "
                + "how else times are written"
        case .seconds: "no number of seconds from 0 to \(maximum)"
        case .milliseconds: "no number of milliseconds from 0 to \(maximum)"
        case .iso: "no time of ISO 8601 from 1970 on"
        case .pattern(let pattern): "no time of the form \(pattern.text) from 1970 on"
        }
    }

    private static func milliseconds(_ number: Double, scale: Double) -> Int64? {
        let time = number * scale
        guard time >= 0, time <= maximumMilliseconds else { return nil }
        return Int64(time.rounded())
    }

    /// A number of decimal digits: Double reads hexadecimal numbers and words, too.
    private static func double(_ text: String) -> Double? {
        guard text.utf8.allSatisfy(numberBytes.contains) else { return nil }
        return Double(text)
    }

    private static let numberBytes = Set("0123456789.eE+-".utf8)
}
