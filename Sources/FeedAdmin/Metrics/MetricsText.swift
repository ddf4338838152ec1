/// Metrics as text, in one of two forms.
package enum MetricsText: CaseIterable, Sendable {
    /// The text format of Prometheus, 0.0.4, which every collector reads.
    case classic
    /// The text form of OpenMetrics 1.0: it has units, and an end that shows that the page is whole.
    case openMetrics

    /// The form that a header Accept asks for: OpenMetrics if the header names it, else classic.
    ///
    /// Weights are not compared: the collectors that name OpenMetrics prefer it.
    package init(accept: String) {
        self = accept.contains("application/openmetrics-text") ? .openMetrics : .classic
    }

    /// The type of the text, as in Content-Type.
    package var contentType: String {
        switch self {
        case .classic: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }

    /// The metrics as text; O(values).
    package func encode(_ families: [MetricFamily]) -> [UInt8] {
        var text = ""
        for family in families {
            let (name, kind) = declaration(of: family)
            text += "# TYPE \(name) \(kind.rawValue)\n"
            if self == .openMetrics, !family.unit.isEmpty {
                text += "# UNIT \(name) \(family.unit)\n"
            }
            text += "# HELP \(name) \(Self.escaped(family.help, quotes: false))\n"
            for sample in family.samples {
                text += family.name + sample.suffix
                Self.append(sample.labels, to: &text)
                text += " \(Self.number(sample.value))\n"
            }
        }
        if self == .openMetrics { text += "# EOF\n" }
        return Array(text.utf8)
    }

    /// What the line TYPE says: in the classic form the name is that of the values, and there is no
    /// kind `info`.
    private func declaration(of family: MetricFamily) -> (String, MetricFamily.Kind) {
        switch (self, family.kind) {
        case (.classic, .counter): (family.name + "_total", .counter)
        case (.classic, .info): (family.name + "_info", .gauge)
        default: (family.name, family.kind)
        }
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
