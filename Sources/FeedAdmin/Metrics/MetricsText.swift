/// The text form of OpenMetrics 1.0, which Prometheus reads.
package enum OpenMetricsText {
    /// The metrics as text, with `# EOF` behind the last; O(values).
    package static func encode(_ families: [MetricFamily]) -> [UInt8] {
        var text = ""
        for family in families {
            text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
            if !family.unit.isEmpty { text += "# UNIT \(family.name) \(family.unit)\n" }
            text += "# HELP \(family.name) \(escaped(family.help, quotes: false))\n"
            for sample in family.samples {
                text += family.name + sample.suffix
                append(sample.labels, to: &text)
                text += " \(number(sample.value))\n"
            }
        }
        text += "# EOF\n"
        return Array(text.utf8)
    }

    private static func append(_ labels: [MetricFamily.Label], to text: inout String) {
        guard !labels.isEmpty else { return }
        let pairs = labels.map { "\($0.name)=\"\(escaped($0.value, quotes: true))\"" }
        text += "{" + pairs.joined(separator: ",") + "}"
    }

    /// A number without a needless fraction.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        guard value == value.rounded(), abs(value) < 1e15 else { return "\(value)" }
        return "\(Int64(value))"
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}
