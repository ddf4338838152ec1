/// The runs of a series in the JSON report.
struct SeriesJSON: Encodable {
    let kind: String
    let goal: OrNull<String>
    let capacityPerSecond: OrNull<Double>
    let generatorLimit: Bool
    let atLeastPerSecond: OrNull<Double>
    let busyMachine: Bool
    let perSecond: OrNull<Estimate>
    let p99Ms: OrNull<Estimate>
    let serverSecondsPerMillion: OrNull<Estimate>
    let runs: [Entry]

    init(_ series: SeriesResult) {
        kind = series.kind.rawValue
        goal = OrNull(series.goal)
        capacityPerSecond = OrNull(finite: series.isBusy ? nil : series.capacity)
        atLeastPerSecond = OrNull(finite: series.isBusy ? series.capacity : nil)
        busyMachine = series.isBusy
        generatorLimit = series.isGeneratorLimit
        let entries = series.kind == .runs ? series.entries : []
        perSecond = OrNull(MeanEstimate(entries.map(\.achieved)).map { Estimate($0) })
        p99Ms = OrNull(
            MeanEstimate(entries.compactMap { $0.latencies.map { $0.p99 / 1e6 } })
                .map { Estimate($0) }
        )
        serverSecondsPerMillion = OrNull(
            MeanEstimate(entries.compactMap(\.serverSecondsPerMillion)).map { Estimate($0) }
        )
        runs = series.entries.map(Entry.init)
    }

    /// A mean over the runs and half of its 95% interval.
    struct Estimate: Encodable {
        let mean: OrNull<Double>
        let halfWidth: OrNull<Double>

        init(_ estimate: MeanEstimate) {
            mean = OrNull(finite: estimate.mean)
            halfWidth = OrNull(finite: estimate.halfWidth)
        }
    }

    /// One run.
    struct Entry: Encodable {
        let phase: String
        let offeredPerSecond: OrNull<Double>
        let perSecond: OrNull<Double>
        let p50Ms: OrNull<Double>
        let p99Ms: OrNull<Double>
        let p999Ms: OrNull<Double>
        let maxMs: OrNull<Double>
        let errorShare: OrNull<Double>
        let serverSecondsPerMillion: OrNull<Double>
        let outcome: OrNull<String>
        let reasons: [String]
        let exit: Int32

        init(_ entry: SeriesResult.Entry) {
            phase = entry.phase
            offeredPerSecond = OrNull(finite: entry.offered)
            perSecond = OrNull(finite: entry.achieved)
            p50Ms = OrNull(finite: entry.latencies.map { $0.p50 / 1e6 })
            p99Ms = OrNull(finite: entry.latencies.map { $0.p99 / 1e6 })
            p999Ms = OrNull(finite: entry.latencies.map { $0.p999 / 1e6 })
            maxMs = OrNull(finite: entry.latencies.map { $0.max / 1e6 })
            errorShare = OrNull(finite: entry.errorShare)
            serverSecondsPerMillion = OrNull(finite: entry.serverSecondsPerMillion)
            outcome = OrNull(entry.outcome)
            reasons = entry.reasons
            exit = entry.exitStatus.rawValue
        }
    }
}
