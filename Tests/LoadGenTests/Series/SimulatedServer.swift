import Histogram
import LoadGen

/// A server that answers one request after another, each in the same time, without a clock: a run
/// against it is computed.
struct SimulatedServer {
    /// The requests that it answers a second.
    var capacity: Double
    /// The rate that the generator can send; it is saturated beyond.
    var generatorLimit = Double.infinity
    /// The rates of the runs so far, 0 in a closed loop.
    private(set) var rates: [Double] = []

    init(capacity: Double) { self.capacity = capacity }

    /// What a run of a configuration measures.
    mutating func run(_ configuration: RunConfiguration) -> RunReport {
        rates.append(configuration.ratePerSecond ?? 0)
        var result = RunReport(configuration: configuration, environment: Environment())
        result.openedConnectionCount = configuration.clientCount
        result.measuredSeconds = configuration.duration.map { $0 / .seconds(1) } ?? 1
        result.loopIdleShares = [0.5]
        let end = result.measuredSeconds * 1e9
        let service = 1e9 / capacity
        var histogram = LatencyScale.makeHistogram()
        var freeAt = 0.0
        var answeredCount: UInt64 = 0
        guard let rate = configuration.ratePerSecond else {
            histogram.record(UInt64(service), count: UInt64(capacity * result.measuredSeconds))
            result.totals.latencies[LatencyKey(.vote, .service)] = histogram
            result.count(UInt64(capacity * result.measuredSeconds))
            return result
        }
        if rate > generatorLimit { result.loopIdleShares = [0.02] }
        var plan = ArrivalPlan(
            configuration.arrival,
            ratePerSecond: rate,
            thread: 0,
            threadCount: 1,
            seed: configuration.seed
        )
        while Double(plan.nextNanoseconds) < end {
            let due = Double(plan.nextNanoseconds)
            freeAt = max(freeAt, due) + service
            histogram.record(UInt64(freeAt - due))
            if freeAt <= end { answeredCount += 1 }
            plan.advance()
        }
        if histogram.totalCount > 0 {
            result.totals.latencies[LatencyKey(.vote, .response)] = histogram
        }
        result.count(answeredCount)
        return result
    }
}

extension RunReport {
    /// Counts requests that were sent and answered.
    fileprivate mutating func count(_ requests: UInt64) {
        totals.measuredRequestCount = requests
        totals.measuredAnswers[0] = requests
        totals.outcomes.sent = requests
        totals.outcomes.ok = requests
    }
}
