/// A service level and whether the run kept it.
package struct ServiceLevelResult: Sendable, Equatable {
    /// What was asked for.
    package let level: ServiceLevel
    /// What was measured, in the subject's unit; nil where there is nothing.
    package let value: Double?
    /// The response times that a percentile is of.
    package var sampleCount: UInt64 = 0

    /// Whether it was kept; a level that was not measured was not kept.
    package var isKept: Bool { level.holds(value) }

    /// The value with its unit.
    var valueText: String {
        guard let value else { return "not measured" }
        switch level.subject {
        case .percentile(let percentile, _):
            let text = "\(NumberFormat.milliseconds(value)) ms"
            switch PercentileText.trust(percentile: percentile, count: sampleCount) {
            case .good: return text
            case .rough: return "~" + text
            case .hidden: return "\(text), of only \(NumberFormat.count(sampleCount)) samples"
            }
        case .maximum: return "\(NumberFormat.milliseconds(value)) ms"
        case .rate: return "\(NumberFormat.rate(value))/s"
        case .errors: return NumberFormat.percent(value / 100, digits: 3)
        case .serverCPU: return "\(NumberFormat.fixed(value, 2)) s/M"
        case .audit: return value == 1 ? "ok" : "not ok"
        }
    }
}
