/// Numbers with units, as flags take them.
package enum Quantity {
    /// A count with an optional `k` or `M`, as `250k`; nil where `text` is none.
    package static func count(_ text: String) -> UInt64? {
        guard let value = scaled(text, units: [("k", 1e3), ("M", 1e6), ("G", 1e9)], bare: 1),
            value == value.rounded(), value < 1e15
        else { return nil }
        return UInt64(value)
    }

    /// A length of time with a unit from `ns` to `h`, a bare number in seconds; nil where it is
    /// none.
    package static func duration(_ text: String) -> Duration? {
        let units = [
            ("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9),
            ("h", 3600e9),
        ]
        guard let value = scaled(text, units: units, bare: 1e9), value < 1e17 else { return nil }
        return .nanoseconds(Int64(value.rounded()))
    }

    /// A percentage as a number, with or without `%`; nil where it is none.
    package static func percent(_ text: String) -> Double? {
        scaled(text, units: [("%", 1)], bare: 1)
    }

    /// The number in `text` times its unit; the longest unit that fits counts.
    private static func scaled(
        _ text: String,
        units: [(name: String, factor: Double)],
        bare: Double
    ) -> Double? {
        let number = text.prefix { $0.isNumber && $0.isASCII || $0 == "." }
        let unit = text[number.endIndex...]
        guard let value = Double(number), value.isFinite else { return nil }
        if unit.isEmpty { return value * bare }
        return units.first { $0.name == unit }.map { value * $0.factor }
    }
}
