import Foundation
import Histogram

/// What the charts of latencies are drawn from: the histograms of a report in a few points.
struct ChartMeasures: Encodable {
    let measures: [String: ChartMeasure]

    /// The measures of a report, each over all of its operations.
    init(_ report: JSONValue) {
        let isOpenLoop = report["config"]?["loop"]?.string == "open"
        var measures: [String: ChartMeasure] = [:]
        for measure in isOpenLoop ? ["response", "service", "slip"] : ["service"] {
            var sum: LatencyHistogram?
            for operation in Operation.allCases {
                let found = report["ops"]?[operation.name]
                guard let text = found?["\(measure)_ms"]?["hdr"]?.string,
                    let histogram = HistogramEncoding.histogram(base64: text)
                else { continue }
                if sum == nil { sum = histogram } else { sum?.add(histogram) }
            }
            if let sum, sum.totalCount > 0 { measures[measure] = ChartMeasure(sum) }
        }
        self.measures = measures
    }
}

/// A histogram in a few points.
struct ChartMeasure: Encodable {
    let count: UInt64
    let mean: Double
    /// Percentiles, and their latencies in milliseconds.
    let spectrum: [[Double]]
    /// The number of the first bucket of `counts`: bucket `i` begins at 2^(i/16) ns.
    let first: Int
    let counts: [UInt64]
    let modes: [Mode]

    struct Mode: Encodable {
        let ms: Double
        let share: Double
    }

    /// The points of `histogram`, which has values.
    init(_ histogram: LatencyHistogram) {
        count = histogram.totalCount
        mean = histogram.mean / 1e6
        // The page reads the percentiles of its tiles and tables from the curve too.
        let points =
            histogram.percentiles(ticksPerHalfDistance: Self.ticks)
            .map { (level: $0.percentileLevelIteratedTo, value: $0.value) }
            + Self.levels.map { (level: $0, value: histogram.valueAtPercentile($0)) }
        spectrum = points.sorted { ($0.level, $0.value) < ($1.level, $1.value) }.map {
            [Self.rounded($0.level, 10), Self.rounded(Double($0.value) / 1e6)]
        }
        let values = histogram.recordedValues().map { ($0.value, $0.count) }
        let numbers = values.map { Self.bucket($0.0) }
        let first = numbers.min() ?? 0
        var counts = [UInt64](repeating: 0, count: (numbers.max() ?? 0) - first + 1)
        for ((_, count), number) in zip(values, numbers) { counts[number - first] += count }
        self.first = first
        self.counts = counts
        modes = LatencyModes(counts).modes.map {
            let middle = (Double($0.bucket + first) + 0.5) / Self.perOctave
            return Mode(ms: Self.rounded(exp2(middle) / 1e6), share: Self.rounded($0.share))
        }
    }

    /// The percentiles that the page names.
    private static let levels = [50, 90, 99, 99.9]
    /// Points for each halving of the distance to 100%.
    private static let ticks = 5
    private static let perOctave = 16.0

    private static func bucket(_ nanoseconds: UInt64) -> Int {
        Int(log2(Double(max(nanoseconds, 1))) * perOctave)
    }

    /// A value with so many digits; a histogram keeps fewer of its values.
    private static func rounded(_ value: Double, _ digits: Double = 7) -> Double {
        guard value > 0 else { return value }
        let scale = pow(10, digits - 1 - floor(log10(value)))
        return (value * scale).rounded() / scale
    }
}
