import Foundation
import Histogram

/// The files of `--hdr`: percentile tables to plot, and an interval log to merge.
package struct HistogramFiles {
    private let result: RunReport

    package init(_ result: RunReport) {
        self.result = result
    }

    /// Each file's suffix and text: `.<operation>.hgrm` in the form of HdrHistogram's plotter, in
    /// milliseconds, and `.hlog`, its interval log 1.3, with one line per second and operation and
    /// the operation as the tag.
    ///
    /// The lines of an operation add up to the histogram of its table.
    package var texts: [(suffix: String, text: String)] {
        var files: [(suffix: String, text: String)] = []
        for operation in result.configuration.mix.operations {
            let key = LatencyKey(operation, result.shownMeasure)
            guard let histogram = result.totals.latencies[key] else { continue }
            var table = ""
            histogram.outputPercentileDistribution(
                to: &table,
                outputValueUnitScalingRatio: 1e6,
                percentileTicksPerHalfDistance: 5
            )
            files.append((Self.tableSuffix(operation), table))
        }
        return files + [(Self.logSuffix, log)]
    }

    /// The suffixes of the files of a run that requests `operations`.
    package static func suffixes(_ operations: [Operation]) -> [String] {
        operations.map(tableSuffix) + [logSuffix]
    }

    private static let logSuffix = ".hlog"

    private static func tableSuffix(_ operation: Operation) -> String { ".\(operation.name).hgrm" }

    private var log: String {
        let began = Double(result.startMicroseconds) / 1e6
        let date = Date(timeIntervalSince1970: began).formatted(.iso8601)
        var log = """
            #[Histogram log format version 1.3]
            #[StartTime: \(NumberFormat.fixed(began, 3)) (seconds since epoch), \(date)]
            "StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"

            """
        for interval in result.intervals {
            let start = NumberFormat.fixed(max(0, interval.endSeconds - interval.seconds), 3)
            let length = NumberFormat.fixed(interval.seconds, 3)
            for operation in result.configuration.mix.operations {
                guard let histogram = interval.encoded[operation] else { continue }
                let maximum = NumberFormat.fixed(Double(histogram.maximum) / 1e6, 3)
                log += "Tag=\(operation.name),\(start),\(length),\(maximum),\(histogram.text)\n"
            }
        }
        return log
    }
}

/// The histogram of an interval as the interval log has it.
package struct LoggedHistogram: Sendable, Equatable {
    /// The largest value, in nanoseconds.
    package let maximum: UInt64
    /// The compressed histogram in base 64.
    package let text: String

    package init(_ histogram: LatencyHistogram) {
        maximum = histogram.max
        text = HistogramEncoding.base64(histogram)
    }
}
