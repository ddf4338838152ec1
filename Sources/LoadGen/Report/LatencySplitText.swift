/// The split latency in the text report.
enum LatencySplitText {
    /// A table with a row for each part; one line where no measured call has times.
    static func lines(_ split: LatencySplit, percentiles: [Double]) -> [String] {
        guard split.sampleCount > 0 else {
            return ["  --split: no measured call was answered with the service's times."]
        }
        let parts: [LatencySplit.Part] =
            split.isOneClock ? [.there, .execution, .held, .back] : [.execution, .held, .bothWays]
        let rows = parts.compactMap { part in
            split.latencies(of: part).map {
                LatencyTable.Row(name: part.name, histogram: $0, note: part.note)
            }
        }
        let count = NumberFormat.count(split.sampleCount)
        let clock = split.isOneClock ? "" : "; the service has another clock"
        let table = LatencyTable(title: "Split [ms]", rows: rows, percentiles: percentiles)
        return table.lines(["(\(count) calls, one in \(CallSampler.sampledEvery)\(clock))"])
    }
}

extension LatencySplit.Part {
    /// The name in the text report.
    fileprivate var name: String {
        switch self {
        case .there: "on the way there"
        case .execution: "executing"
        case .held: "held"
        case .back: "on the way back"
        case .bothWays: "both ways"
        }
    }

    /// What the name leaves out.
    fileprivate var note: String {
        switch self {
        case .there, .execution, .back: ""
        case .held: "until durable"
        case .bothWays: "there and back together"
        }
    }
}
