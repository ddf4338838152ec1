import Histogram

/// The files of `--hdr`: percentile tables to plot, and an interval log to merge.
package struct HistogramFiles {
    private let result: RunResult

    /// The files of `result`.
    package init(_ result: RunResult) {
        self.result = result
    }

    /// Each file's suffix and text: `.<operation>.hgrm` in the form of HdrHistogram's plotter, in
    /// milliseconds, and `.hlog`, its interval log 1.3, with one line per operation and the
    /// operation as the tag.
    package var texts: [(suffix: String, text: String)] {
        var log = """
            #[Histogram log format version 1.3]
            #[StartTime: 0.0 (seconds since epoch)]
            "StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"

            """
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
            files.append((".\(operation.name).hgrm", table))
            let length = NumberFormat.fixed(result.measuredSeconds, 3)
            let maximum = NumberFormat.fixed(Double(histogram.max) / 1e6, 3)
            let encoded = HistogramEncoding.base64(histogram)
            log += "Tag=\(operation.name),0.000,\(length),\(maximum),\(encoded)\n"
        }
        return files + [(".hlog", log)]
    }
}
