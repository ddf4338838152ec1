import Foundation

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
