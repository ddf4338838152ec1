/// The split latency in the JSON report; a part that is not known is null.
struct LatencySplitJSON: Encodable {
    let sampleCount: UInt64
    let otherClockCount: UInt64
    let there: OrNull<LatencyJSON>
    let execution: OrNull<LatencyJSON>
    let held: OrNull<LatencyJSON>
    let back: OrNull<LatencyJSON>
    let bothWays: OrNull<LatencyJSON>

    init(_ split: LatencySplit) {
        func latencies(_ part: LatencySplit.Part) -> OrNull<LatencyJSON> {
            OrNull(split.latencies(of: part).map { LatencyJSON($0, Self.percentiles) })
        }
        sampleCount = split.sampleCount
        otherClockCount = split.otherClockCount
        there = latencies(.there)
        execution = latencies(.execution)
        held = latencies(.held)
        back = latencies(.back)
        bothWays = latencies(.bothWays)
    }

    private static let percentiles: [Double] = [50, 90, 99, 99.9]
}
