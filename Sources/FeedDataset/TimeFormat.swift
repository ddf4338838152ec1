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
    private static let maximumMilliseconds = 9e15
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

/// A form of times with strptime's directives, in UTC unless it has `%z`: `%d.%m.%Y %H:%M`.
package struct TimePattern: Equatable, Sendable {
    package let text: String

    /// The directives that a pattern may have.
    static let directives = "%Y %y %m %b %d %H %I %p %M %S %f %z"
    private static let letters = Set("YymbdHIpMSfz%")
    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]
    private static let isoForms = ["%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"]
        .map(Self.init(known:))

    /// A pattern with a year and with directives that are known; nil for another.
    init?(_ text: String) {
        var rest = text[...]
        var found: Set<Character> = []
        while let place = rest.firstIndex(of: "%") {
            let next = rest.index(after: place)
            guard next < rest.endIndex, Self.letters.contains(rest[next]) else { return nil }
            found.insert(rest[next])
            rest = rest[rest.index(after: next)...]
        }
        guard found.contains("Y") || found.contains("y") else { return nil }
        self.text = text
    }

    private init(known text: String) { self.text = text }

    /// The milliseconds of a time of ISO 8601: a date, with `T` or a space before hours, with a fraction of a
    /// second, with `Z` or an offset (`+02:00`) or in UTC without.
    static func iso(_ text: String) -> Int64? {
        let text = text.replacing("T", with: " ", maxReplacements: 1)
        for form in isoForms {
            if let time = form.milliseconds(text, hasTail: true) { return time }
        }
        return nil
    }

    /// The milliseconds since 1970 that a text of this form means; nil for another, and for one before.
    ///
    /// With `hasTail` a fraction of a second and an offset may follow.
    func milliseconds(_ value: String, hasTail: Bool = false) -> Int64? {
        var rest = Substring(value)
        var time = Fields()
        var form = text[...]
        while let letter = form.popFirst() {
            guard letter == "%", let directive = form.popFirst(), directive != "%" else {
                guard rest.popFirst() == letter else { return nil }
                continue
            }
            guard time.read(directive, &rest) else { return nil }
        }
        if hasTail {
            if rest.first == "." || rest.first == "," {
                rest.removeFirst()
                guard time.read("f", &rest) else { return nil }
            }
            if rest.first == " " { rest.removeFirst() }
            guard rest.isEmpty || time.read("z", &rest) else { return nil }
        }
        return rest.isEmpty ? time.milliseconds : nil
    }

    /// What the directives of a text have given.
    private struct Fields {
        var year = 1970
        var month = 1
        var day = 1
        var hour = 0
        var minute = 0
        var second = 0
        var millisecond = 0
        var offsetMinutes = 0
        var isAfternoon: Bool?

        /// Reads what a directive stands for; false where that is not there.
        mutating func read(_ directive: Character, _ rest: inout Substring) -> Bool {
            switch directive {
            case "Y": return read(\.year, 4, 1970...9999, &rest)
            case "y":
                guard read(\.year, 2, 0...99, &rest) else { return false }
                year += year < 69 ? 2000 : 1900
                return true
            case "m": return read(\.month, 2, 1...12, &rest)
            case "d": return read(\.day, 2, 1...31, &rest)
            case "H": return read(\.hour, 2, 0...23, &rest)
            case "I": return read(\.hour, 2, 1...12, &rest)
            case "M": return read(\.minute, 2, 0...59, &rest)
            case "S": return read(\.second, 2, 0...60, &rest)
            case "f": return readFraction(&rest)
            case "b":
                guard let place = TimePattern.months.firstIndex(of: rest.prefix(3).lowercased())
                else { return false }
                month = place + 1
                rest = rest.dropFirst(3)
                return true
            case "p":
                let word = rest.prefix(2).lowercased()
                guard word == "am" || word == "pm" else { return false }
                isAfternoon = word == "pm"
                rest = rest.dropFirst(2)
                return true
            default: return readOffset(&rest)
            }
        }

        var milliseconds: Int64? {
            let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
            guard day <= lengths[month - 1] else { return nil }
            var hour = hour
            if let isAfternoon { hour = hour % 12 + (isAfternoon ? 12 : 0) }
            let past = year - 1
            let days =
                past * 365 + past / 4 - past / 100 + past / 400 - 719_162
                + lengths.prefix(month - 1).reduce(0, +) + day - 1
            let minutes = (days * 24 + hour) * 60 + minute - offsetMinutes
            let time = Int64(minutes * 60 + second) * 1000 + Int64(millisecond)
            return time < 0 ? nil : time
        }

        private var isLeap: Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

        private func digits(_ most: Int, _ rest: inout Substring) -> Substring {
            let found = rest.prefix(most).prefix { $0.isASCII && $0.isNumber }
            rest = rest[found.endIndex...]
            return found
        }

        private mutating func read(
            _ field: WritableKeyPath<Fields, Int>,
            _ most: Int,
            _ range: ClosedRange<Int>,
            _ rest: inout Substring
        ) -> Bool {
            guard let value = Int(digits(most, &rest)), range.contains(value) else { return false }
            self[keyPath: field] = value
            return true
        }

        private mutating func readFraction(_ rest: inout Substring) -> Bool {
            let found = digits(9, &rest)
            guard let value = Int((found + "00").prefix(3)), !found.isEmpty else { return false }
            millisecond = value
            return true
        }

        /// `Z`, `UTC`, `+0200`, `+02:00` or `+02`.
        private mutating func readOffset(_ rest: inout Substring) -> Bool {
            for name in ["Z", "UTC"] where rest.hasPrefix(name) {
                rest = rest.dropFirst(name.count)
                return true
            }
            guard let sign = rest.popFirst(), sign == "+" || sign == "-",
                let hours = Int(digits(2, &rest)), hours < 24
            else { return false }
            if rest.first == ":" { rest.removeFirst() }
            let minutes = rest.isEmpty ? 0 : Int(digits(2, &rest)) ?? 60
            guard minutes < 60 else { return false }
            offsetMinutes = (hours * 60 + minutes) * (sign == "-" ? -1 : 1)
            return true
        }
    }
}
