/// One metric with its values, as OpenMetrics has them.
package struct MetricFamily: Equatable, Sendable {
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

    /// One value with its labels.
    package struct Sample: Equatable, Sendable {
        /// What follows the metric's name, as `_bucket`.
        package var suffix: String
        /// The names of labels and their values.
        package var labels: [Label]
        /// The value.
        package var value: Double

        /// A value with its labels.
        package init(_ value: Double, _ labels: [Label] = [], suffix: String = "") {
            self.suffix = suffix
            self.labels = labels
            self.value = value
        }
    }

    /// A label of a value.
    package struct Label: Equatable, Sendable {
        /// The label's name.
        package var name: String
        /// Its value.
        package var value: String

        /// A label with its value.
        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The name, which ends with the unit where there is one.
    package var name: String
    /// What it is.
    package var kind: Kind
    /// The unit: seconds, bytes, or none.
    package var unit: String
    /// What it counts, in a sentence.
    package var help: String
    /// The values.
    package var samples: [Sample]

    /// A metric with its values.
    package init(
        _ name: String,
        _ kind: Kind,
        unit: String = "",
        help: String,
        samples: [Sample]
    ) {
        self.name = name
        self.kind = kind
        self.unit = unit
        self.help = help
        self.samples = samples
    }
}

extension MetricFamily {
    /// A counter without labels.
    package static func counter(
        _ name: String,
        unit: String = "",
        _ help: String,
        _ value: some BinaryInteger
    ) -> Self {
        Self(name, .counter, unit: unit, help: help, samples: [.total(Double(value))])
    }

    /// A gauge without labels.
    package static func gauge(
        _ name: String,
        unit: String = "",
        _ help: String,
        _ value: some BinaryInteger
    ) -> Self {
        Self(name, .gauge, unit: unit, help: help, samples: [Sample(Double(value))])
    }

    /// A gauge that is 1 while something is so.
    package static func flag(_ name: String, _ help: String, _ value: Bool) -> Self {
        gauge(name, help, value ? 1 : 0)
    }

    /// A gauge in seconds.
    package static func seconds(_ name: String, _ help: String, _ value: Double) -> Self {
        Self(name, .gauge, unit: "seconds", help: help, samples: [Sample(value)])
    }
}

extension MetricFamily.Sample {
    /// The value of a counter.
    package static func total(_ value: Double, _ labels: [MetricFamily.Label] = []) -> Self {
        Self(value, labels, suffix: "_total")
    }
}
