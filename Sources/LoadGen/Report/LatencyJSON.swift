import Histogram

/// Latencies in the JSON report.
enum LatencyJSON {
    /// The member that holds a measure.
    static func name(_ measure: Measure) -> String {
        switch measure {
        case .service: "service_ms"
        case .response: "response_ms"
        case .slip: "slip_ms"
        }
    }

    /// Percentiles with enough samples, and the whole histogram, so that results can be merged.
    static func value(_ histogram: LatencyHistogram, _ percentiles: [Double]) -> JSONValue {
        .object(
            [
                ("count", .count(histogram.totalCount)),
                ("mean", .number(histogram.mean / 1e6)),
            ] + Self.percentiles(histogram, percentiles) + [
                ("hdr", .string(HistogramEncoding.base64(histogram)))
            ]
        )
    }

    /// The maximum and the percentiles that at least 10 samples lie beyond, in milliseconds.
    static func percentiles(
        _ histogram: LatencyHistogram,
        _ percentiles: [Double]
    ) -> [(String, JSONValue)] {
        guard histogram.totalCount > 0 else { return [] }
        let shown = percentiles.filter {
            PercentileText.trust(percentile: $0, count: histogram.totalCount) != .hidden
        }
        return shown.map { percentile in
            let name = PercentileText.name(percentile, isKey: true)
            return (name, .number(Double(histogram.valueAtPercentile(percentile)) / 1e6))
        } + [("max", .number(Double(histogram.max) / 1e6))]
    }
}
