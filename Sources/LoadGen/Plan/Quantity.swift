import Foundation

/// Numbers with units, as flags take them.
package enum Quantity {
    /// A count with an optional `k` or `M`, as `250k`; nil where `text` is none.
    package static func count(_ text: String) -> UInt64? {
        guard let value = scaled(text, units: [("k", 1e3), ("M", 1e6), ("G", 1e9)]),
            value == value.rounded(), value < 1e15
        else { return nil }
        return UInt64(value)
    }

    /// A number a second, as `250k` or `0.5`: a count that may have a fraction; nil where it is none.
    package static func rate(_ text: String) -> Double? {
        scaled(text, units: [("k", 1e3), ("M", 1e6)])
    }

    /// A length of time with units from `h` to `ns`, as `1m30s`, a bare number in seconds; nil where
    /// it is none.
    package static func duration(_ text: String) -> Duration? {
        guard !text.isEmpty else { return nil }
        guard !text.allSatisfy(isOfNumber) else { return duration(text + "s") }
        var rest = text[...]
        var sum = 0.0
        var last = Double.infinity
        while !rest.isEmpty {
            let number = rest.prefix(while: isOfNumber)
            let name = rest[number.endIndex...].prefix { !isOfNumber($0) }
            // Each unit is smaller than the one before: `30s1m` is more likely a slip.
            guard let value = Double(number), let unit = durationUnits[String(name)], unit < last
            else { return nil }
            sum += value * unit
            last = unit
            rest = rest[name.endIndex...]
        }
        return sum < 1e17 ? .nanoseconds(Int64(sum.rounded())) : nil
    }

    /// A percentage as a number, with or without `%`; nil where it is none.
    package static func percent(_ text: String) -> Double? {
        scaled(text, units: [("%", 1)])
    }

    /// Whether `text` ends without a unit.
    package static func isBare(_ text: String) -> Bool { text.last.map(isOfNumber) ?? true }

    private static let durationUnits = [
        "ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9,
    ]

    private static func isOfNumber(_ character: Character) -> Bool {
        character.isNumber && character.isASCII || character == "."
    }

    private static func scaled(
        _ text: String,
        units: [(name: String, factor: Double)]
    ) -> Double? {
        let number = text.prefix(while: isOfNumber)
        let unit = text[number.endIndex...]
        guard let value = Double(number), value.isFinite else { return nil }
        if unit.isEmpty { return value }
        return units.first { $0.name == unit }.map { value * $0.factor }
    }
}

/// Numbers as people read them in the report.
package enum NumberFormat {
    /// A rate with three or four digits, as `182.4k`, `1.25M` or `0.500`.
    package static func rate(_ value: Double) -> String {
        switch value {
        case 999_950...: "\(fixed(value / 1e6, 2))M"
        case 9_999.5...: "\(fixed(value / 1e3, 1))k"
        case 99.95...: fixed(value, 0)
        case 0.995...: fixed(value, 1)
        case 0: "0.0"
        default: fixed(value, 3)
        }
    }

    /// A count with a comma between thousands.
    package static func count(_ value: UInt64) -> String {
        var digits = String(value)
        var index = digits.count - 3
        while index > 0 {
            digits.insert(",", at: digits.index(digits.startIndex, offsetBy: index))
            index -= 3
        }
        return digits
    }

    /// Nanoseconds in milliseconds with three significant digits, as `2.61`, `17.2` or `0.058`.
    package static func milliseconds(_ nanoseconds: Double) -> String {
        let value = nanoseconds / 1e6
        switch value {
        case 99.95...: return fixed(value, 0)
        case 9.995...: return fixed(value, 1)
        case 0.9995...: return fixed(value, 2)
        default: return fixed(value, 3)
        }
    }

    /// A share as a percentage, as `12.9%`.
    package static func percent(_ share: Double, digits: Int = 1) -> String {
        "\(fixed(share * 100, digits))%"
    }

    /// A length of time in the largest unit that leaves a whole number, as `2s` or `1500ms`.
    package static func duration(_ duration: Duration) -> String {
        let nanoseconds = duration.nanoseconds
        let units: [(String, UInt64)] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)]
        for (name, size) in units where nanoseconds % size == 0 {
            return "\(nanoseconds / size)\(name)"
        }
        return "\(nanoseconds)ns"
    }

    /// Megabytes a second or the like, as `21.9 MB`.
    package static func megabytes(_ byteCount: Double) -> String {
        "\(fixed(byteCount / 1e6, byteCount < 9.95e6 ? 2 : 1)) MB"
    }

    /// `value` with `digits` digits after the point.
    package static func fixed(_ value: Double, _ digits: Int) -> String {
        String(format: "%.\(digits)f", value)
    }
}

extension FixedWidthInteger {
    /// The sum, or the nearest number of the type: a service or a file may say any numbers.
    func addingClamped(_ other: Self) -> Self {
        let (sum, isOutside) = addingReportingOverflow(other)
        guard isOutside else { return sum }
        return other < 0 ? .min : .max
    }
}

extension UInt64 {
    /// The product, or the greatest number where the product exceeds it.
    func multipliedClamped(by factor: UInt64) -> UInt64 {
        let (product, isTooLarge) = multipliedReportingOverflow(by: factor)
        return isTooLarge ? .max : product
    }
}

extension Sequence<UInt64> {
    /// The sum, or the greatest number where the sum exceeds it.
    package var clampedSum: UInt64 { reduce(0) { $0.addingClamped($1) } }
}
