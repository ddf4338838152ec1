/// One metric with its values, as OpenMetrics has them.
package struct MetricFamily: Sendable {
    package enum Kind: String, Sendable {
        /// A number that only grows until the process ends; its name gets `_total`.
        case counter
        case gauge
        /// How many values lie in which range.
        case histogram
        /// Percentiles of the latest values, and the sum of all.
        case summary
        /// Labels that say what runs; its value is 1.
        case info
    }

    /// The name of a label and its value.
    package typealias Label = (name: String, value: String)

    /// One value with its labels.
    package struct Sample: Sendable {
        /// What follows the metric's name, as `_bucket`.
        let suffix: String
        let labels: [Label]
        let value: Double

        package init(_ value: Double, _ labels: [Label] = [], suffix: String = "") {
            self.suffix = suffix
            self.labels = labels
            self.value = value
        }
    }

    let name: String
    let kind: Kind
    let help: String
    let samples: [Sample]

    /// A metric with its values.
    ///
    /// - Parameters:
    ///   - name: The name, which ends with the unit where there is one.
    ///   - kind: What it is.
    ///   - help: What it counts, in a sentence.
    ///   - samples: The values.
    package init(_ name: String, _ kind: Kind, help: String, samples: [Sample]) {
        self.name = name
        self.kind = kind
        self.help = help
        self.samples = samples
    }

    /// The unit: seconds, bytes, or none.
    var unit: String { ["seconds", "bytes"].first { name.hasSuffix("_" + $0) } ?? "" }
}

extension MetricFamily {
    /// A counter without labels.
    package static func counter(_ name: String, _ help: String, _ value: some MetricValue) -> Self {
        let sample = Sample(value.metricValue, suffix: "_total")
        return Self(name, .counter, help: help, samples: [sample])
    }

    /// A counter for each value of a label.
    package static func counter(
        _ name: String,
        _ help: String,
        by label: String,
        _ values: [(String, some MetricValue)]
    ) -> Self {
        let samples = values.map { Sample($1.metricValue, [(label, $0)], suffix: "_total") }
        return Self(name, .counter, help: help, samples: samples)
    }

    /// A gauge without labels.
    package static func gauge(_ name: String, _ help: String, _ value: some MetricValue) -> Self {
        Self(name, .gauge, help: help, samples: [Sample(value.metricValue)])
    }

    /// A gauge for each value of a label.
    package static func gauge(
        _ name: String,
        _ help: String,
        by label: String,
        _ values: [(String, some MetricValue)]
    ) -> Self {
        let samples = values.map { Sample($1.metricValue, [(label, $0)]) }
        return Self(name, .gauge, help: help, samples: samples)
    }
}

/// What the value of a metric is made of.
package protocol MetricValue: Sendable {
    /// A count; 1 for what is so and 0 for what is not; a time in seconds.
    var metricValue: Double { get }
}

extension Int: MetricValue {
    package var metricValue: Double { Double(self) }
}

extension UInt64: MetricValue {
    package var metricValue: Double { Double(self) }
}

extension Double: MetricValue {
    package var metricValue: Double { self }
}

extension Bool: MetricValue {
    package var metricValue: Double { self ? 1 : 0 }
}

extension Duration: MetricValue {
    package var metricValue: Double { self / .seconds(1) }
}

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
