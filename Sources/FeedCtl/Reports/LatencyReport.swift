package import FeedProto

/// How long the answers of a method have taken, as a part of what `stats` reports.
package struct LatencyReport: Encodable, Equatable, Sendable {
    let method: String
    let answerCount: UInt64
    let p50Ns: UInt64
    let p90Ns: UInt64
    let p99Ns: UInt64
    let p999Ns: UInt64
    let maxNs: UInt64

    /// The report of some answers; zeros where there are none, so that programs find the same members
    /// everywhere.
    package init(_ stats: LatencyStats?) {
        method = stats?.method ?? ""
        answerCount = stats?.answerCount ?? 0
        p50Ns = stats?.medianNanoseconds ?? 0
        p90Ns = stats?.p90Nanoseconds ?? 0
        p99Ns = stats?.p99Nanoseconds ?? 0
        p999Ns = stats?.p999Nanoseconds ?? 0
        maxNs = stats?.maximumNanoseconds ?? 0
    }

    /// A table of the methods, and of the time that answers were held; empty where nothing is timed.
    static func table(
        _ latencies: [LatencyReport],
        held: LatencyReport,
        _ style: TextStyle
    ) -> String {
        guard !latencies.isEmpty else { return "" }
        var table = TextTable([
            .text("TIME OF ANSWERS"), .number("ANSWERS"), .number("P50"), .number("P90"),
            .number("P99"), .number("P99.9"), .number("MAXIMUM"),
        ])
        for latency in latencies { table.append(latency.row(latency.method)) }
        if held.answerCount > 0 { table.append(held.row("held until durable")) }
        return "\n" + table.rendered(style)
    }

    private func row(_ name: String) -> [String] {
        [name, "\(answerCount)"]
            + [p50Ns, p90Ns, p99Ns, p999Ns, maxNs].map(Self.text)
    }

    /// A time in microseconds, milliseconds or seconds, with a decimal where it is small.
    static func text(_ nanoseconds: UInt64) -> String {
        let units: [(name: String, nanoseconds: UInt64)] = [
            ("s", 1_000_000_000), ("ms", 1_000_000), ("µs", 1_000),
        ]
        let unit = units.first { nanoseconds >= $0.nanoseconds } ?? units[2]
        let tenths = nanoseconds / (unit.nanoseconds / 10)
        let number = tenths < 1_000 ? "\(tenths / 10).\(tenths % 10)" : "\(tenths / 10)"
        return "\(number) \(unit.name)"
    }
}
