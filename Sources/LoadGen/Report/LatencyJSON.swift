import Histogram

/// An operation in the JSON report; a measure that was not taken has no member.
struct OperationJSON: Encodable {
    let count: UInt64
    let perSecond: OrNull<Double>
    let responseMs: LatencyJSON?
    let serviceMs: LatencyJSON?
    let slipMs: LatencyJSON?

    init(_ result: RunResult, _ operation: Operation) {
        func latency(_ measure: Measure) -> LatencyJSON? {
            result.totals.latencies[LatencyKey(operation, measure)].map {
                LatencyJSON($0, result.configuration.percentiles)
            }
        }
        count = result.totals.measuredAnswers[Int(operation.rawValue)]
        perSecond = OrNull(finite: result.rate(count))
        serviceMs = latency(.service)
        // A closed loop measures one latency, which stands for both.
        responseMs = result.configuration.isOpenLoop ? latency(.response) : serviceMs
        slipMs = latency(.slip)
    }
}

/// Latencies in the JSON report, in milliseconds: the percentiles with enough samples, and the
/// maximum, and the whole histogram, so that results can be merged.
struct LatencyJSON: Encodable {
    let histogram: LatencyHistogram
    let percentiles: [Double]

    init(_ histogram: LatencyHistogram, _ percentiles: [Double]) {
        self.histogram = histogram
        self.percentiles = percentiles
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: MemberKey.self)
        try members.encode(histogram.totalCount, forKey: "count")
        try members.encode(OrNull(finite: histogram.mean / 1e6), forKey: "mean")
        try members.encode(HistogramEncoding.base64(histogram), forKey: "hdr")
        guard histogram.totalCount > 0 else { return }
        for percentile in percentiles
        where PercentileText.trust(percentile: percentile, count: histogram.totalCount) != .hidden {
            let key = MemberKey(PercentileText.name(percentile, isKey: true))
            let nanoseconds = histogram.valueAtPercentile(percentile)
            try members.encode(Double(nanoseconds) / 1e6, forKey: key)
        }
        try members.encode(Double(histogram.max) / 1e6, forKey: "max")
    }
}

/// A key that a run chooses, like the name of an operation.
struct MemberKey: CodingKey, ExpressibleByStringLiteral {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) {
        stringValue = name
    }

    init(stringLiteral name: String) {
        stringValue = name
    }

    init?(stringValue: String) {
        self.stringValue = stringValue
    }

    init?(intValue: Int) { nil }
}
