/// Numbers with units, as flags take them.
package enum Quantity {
    /// A count with an optional `k` or `M`, as `250k`; nil where `text` is none.
    package static func count(_ text: String) -> UInt64? {
        guard let value = scaled(text, units: [("k", 1e3), ("M", 1e6), ("G", 1e9)], bare: 1),
            value == value.rounded(), value < 1e15
        else { return nil }
        return UInt64(value)
    }

    /// A number a second, as `250k` or `0.5`: a count that may have a fraction; nil where it is none.
    package static func rate(_ text: String) -> Double? {
        scaled(text, units: [("k", 1e3), ("M", 1e6)], bare: 1)
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
        scaled(text, units: [("%", 1)], bare: 1)
    }

    /// Whether `text` ends without a unit.
    package static func isBare(_ text: String) -> Bool { text.last.map(isOfNumber) ?? true }

    private static let durationUnits = [
        "ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9,
    ]

    private static func isOfNumber(_ character: Character) -> Bool {
        character.isNumber && character.isASCII || character == "."
    }

    /// The number in `text` times its unit.
    private static func scaled(
        _ text: String,
        units: [(name: String, factor: Double)],
        bare: Double
    ) -> Double? {
        let number = text.prefix(while: isOfNumber)
        let unit = text[number.endIndex...]
        guard let value = Double(number), value.isFinite else { return nil }
        if unit.isEmpty { return value * bare }
        return units.first { $0.name == unit }.map { value * $0.factor }
    }
}
