import Foundation
import Histogram

/// The report as one page of HTML that loads nothing: its style, its script and its data are in it.
///
/// The files of `Web/` are compiled into the program. The page is made from JSON reports alone. It draws
/// what they have: a member that a report lacks is a chart that the page lacks.
package struct ReportPage {
    private let documents: [ReportDocument]

    /// A page of some reports, the first of which has the verdict; more than one are drawn over
    /// each other.
    package init(_ documents: [ReportDocument]) {
        precondition(!documents.isEmpty, "A page shows a report.")
        self.documents = documents
    }

    package static let mostDocuments = 6

    package func rendered() -> String {
        // The data comes last: its texts are those of others, and may look like a place for a part.
        Self.text(PackageResources.report_html)
            .replacing("{{style}}", with: Self.text(PackageResources.report_css))
            .replacing(
                "{{script}}",
                with: Self.text(PackageResources.chart_js + PackageResources.report_js)
            )
            .replacing("{{data}}", with: data)
    }

    private static func text(_ file: [UInt8]) -> String { String(decoding: file, as: UTF8.self) }

    /// The reports as JSON that cannot end its element.
    private var data: String {
        let runs = JSONValue.array(documents.map { $0.data(runCount: documents.count) })
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            let text = String(decoding: try encoder.encode(["runs": runs]), as: UTF8.self)
            return text.replacing("<", with: "\\u003c")
        } catch {
            preconditionFailure("A report that was read can be written: \(error)")
        }
    }
}

/// What a chart of latencies is drawn from: a histogram in a few points.
struct ChartMeasure: Encodable {
    let count: UInt64
    let mean: Double
    /// Percentiles, and their latencies in milliseconds.
    private let spectrum: [[Double]]
    /// The number of the first bucket of `counts`: bucket `i` begins at 2^(i/16) ns.
    let first: Int
    let counts: [UInt64]
    let modes: [Mode]

    struct Mode: Encodable {
        let ms: Double
        let share: Double
    }

    /// The measures of a report, each over all of its operations.
    static func all(in report: JSONValue) -> [String: ChartMeasure] {
        let isOpenLoop = report["config"]?["loop"]?.string == "open"
        var measures: [String: LatencyHistogram] = [:]
        for measure in isOpenLoop ? ["response", "service", "slip"] : ["service"] {
            for operation in Operation.allCases {
                let found = report["ops"]?[operation.name]
                guard let text = found?["\(measure)_ms"]?["hdr"]?.string,
                    let histogram = HistogramEncoding.histogram(base64: text)
                else { continue }
                measures.add([measure: histogram])
            }
        }
        return measures.filter { $0.value.totalCount > 0 }.mapValues(ChartMeasure.init)
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

    private static let levels = [50, 90, 99, 99.9]
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

/// The peaks of a distribution of latencies, with the share of requests around each.
///
/// Two peaks are two modes where the valley between them is lower than half of the lower one, and
/// each has at least 2% of the requests.
package struct LatencyModes {
    package struct Mode: Sendable, Equatable {
        package var bucket: Int
        /// The share of the requests between its valleys.
        package var share: Double
    }

    /// The modes, from the shortest latency to the longest.
    package private(set) var modes: [Mode] = []

    private static let valley = 0.5
    private static let leastShare = 0.02

    /// The modes of counts on a logarithmic scale; O(counts²).
    package init(_ counts: [UInt64]) {
        let total = Double(counts.reduce(0, +))
        guard total > 0 else { return }
        let smooth = Self.smoothed(counts)
        var peaks = smooth.indices.filter { index in
            let before = index > 0 ? smooth[index - 1] : 0
            let after = index + 1 < smooth.count ? smooth[index + 1] : 0
            return smooth[index] > before && smooth[index] >= after
        }
        while let weak = Self.weakest(peaks, smooth, counts) { peaks.remove(at: weak) }
        modes = zip(peaks, Self.parts(peaks, smooth)).map { peak, part in
            Mode(bucket: peak, share: Double(counts[part].reduce(0, +)) / total)
        }
    }

    /// The peak that is no mode and to be removed first; nil where all are modes.
    private static func weakest(_ peaks: [Int], _ smooth: [Double], _ counts: [UInt64]) -> Int? {
        guard peaks.count > 1 else { return nil }
        for place in 1..<peaks.count {
            let (one, two) = (peaks[place - 1], peaks[place])
            let lowest = smooth[one...two].min() ?? 0
            guard lowest > valley * min(smooth[one], smooth[two]) else { continue }
            return smooth[one] < smooth[two] ? place - 1 : place
        }
        let total = Double(counts.reduce(0, +))
        let shares = parts(peaks, smooth).map { Double(counts[$0].reduce(0, +)) / total }
        guard let least = shares.indices.min(by: { shares[$0] < shares[$1] }),
            shares[least] < leastShare
        else { return nil }
        return least
    }

    /// The buckets of each peak, divided at the deepest bucket between two.
    private static func parts(_ peaks: [Int], _ smooth: [Double]) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var start = 0
        for (one, two) in zip(peaks, peaks.dropFirst()) {
            let lowest = (one...two).min { smooth[$0] < smooth[$1] } ?? two
            parts.append(start..<lowest)
            start = lowest
        }
        return parts + [start..<smooth.count]
    }

    /// Each count as a mean of its neighbourhood with the weights 1, 2, 3, 2, 1.
    private static func smoothed(_ counts: [UInt64]) -> [Double] {
        counts.indices.map { index in
            (-2...2).reduce(0.0) { sum, offset in
                let place = index + offset
                guard counts.indices.contains(place) else { return sum }
                return sum + Double(counts[place]) * Double(3 - abs(offset)) / 9
            }
        }
    }
}
