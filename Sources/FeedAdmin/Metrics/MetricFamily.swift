/// One metric with its values, as OpenMetrics has them.
package struct MetricFamily: Sendable {
    /// What a metric is.
    package enum Kind: String, Sendable {
        /// A number that only grows until the process ends; its name gets `_total`.
        case counter
        /// A number that goes up and down.
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

        /// A value with its labels.
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
