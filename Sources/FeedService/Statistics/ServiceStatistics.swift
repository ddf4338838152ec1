internal import FeedProto

/// The sums of the counts of all loops.
struct ServiceStatistics {
    /// One loop's counts each.
    let loops: [LoopCounters]

    /// Connections that were closed because a frame was no message.
    var badFrameCount: UInt64 { loops.reduce(0) { $0 + $1.badFrameCount } }

    /// Connections that were closed because a frame took too long to arrive.
    var slowFrameCount: UInt64 { loops.reduce(0) { $0 + $1.slowFrameCount } }

    /// Connections that were closed because too much was held, and most of it for their hosts.
    var overBudgetCloseCount: UInt64 { loops.reduce(0) { $0 + $1.overBudgetCloseCount } }

    /// Calls that had been executed before and got the outcome of that.
    var repeatedCallCount: UInt64 { loops.reduce(0) { $0 + $1.repeatedCallCount } }

    /// The writes of answers that wait until the state they show is durable.
    var heldWriteCount: UInt64 { loops.reduce(0) { $0 + $1.heldWriteCount } }

    /// The votes in batches.
    var batchedVoteCount: UInt64 { loops.reduce(0) { $0 + $1.batchedVoteCount } }

    /// The stripes that were refreshed between requests.
    var refreshCount: UInt64 { loops.reduce(0) { $0 + $1.refreshCount } }

    /// The first pages that were served as they were kept.
    var keptPageServedCount: UInt64 { loops.reduce(0) { $0 + $1.keptPageServedCount } }

    /// The first pages that were read to be kept.
    var keptPageReadCount: UInt64 { loops.reduce(0) { $0 + $1.keptPageReadCount } }

    /// The bytes of the pages that are kept.
    var keptPageByteCount: UInt64 { loops.reduce(0) { $0 + $1.keptPageByteCount } }

    /// The requests of a call.
    func requestCount(_ method: Method) -> UInt64 {
        loops.reduce(0) { $0 + $1.requestCount(method) }
    }

    /// The refusals of a call.
    func errorCount(_ method: Method) -> UInt64 { loops.reduce(0) { $0 + $1.errorCount(method) } }

    /// How often each reason was given, the most frequent first.
    func errorCounts() -> [(reason: String, count: UInt64)] {
        var counts: [String: UInt64] = [:]
        for loop in loops { counts.merge(loop.reasonCounts, uniquingKeysWith: +) }
        return counts.map { (reason: $0.key, count: $0.value) }
            .sorted { ($1.count, $0.reason) < ($0.count, $1.reason) }
    }

    /// The calls that were made at least once.
    func methods() -> [MethodStats] {
        Method.allCases.compactMap { method in
            let requestCount = requestCount(method)
            guard requestCount > 0 else { return nil }
            return MethodStats(
                method: method.name,
                requestCount: requestCount,
                errorCount: errorCount(method),
                lastError: loops.lazy.compactMap { $0.lastError(method) }.first ?? ""
            )
        }
    }

    /// How long the answers of a call have taken.
    func latency(_ method: Method) -> LatencyCounts {
        LatencyCounts(loops.lazy.map { $0.latency(method) })
    }

    /// How long answers were held until what they show was durable.
    var heldTime: LatencyCounts { LatencyCounts(loops.lazy.map(\.heldTime)) }

    /// How long the answers of each call have taken that was answered at least once.
    func latencies() -> [LatencyStats] {
        Method.allCases.compactMap { method in
            guard requestCount(method) > 0 else { return nil }
            let counts = latency(method)
            return counts.count > 0 ? LatencyStats(method.name, counts) : nil
        }
    }
}

extension LatencyStats {
    /// The percentiles of a call's times, or of those of the method named "".
    init(_ method: String, _ counts: LatencyCounts) {
        self.init(
            method: method,
            answerCount: counts.count,
            medianNanoseconds: counts.nanoseconds(tenThousandths: 5_000),
            p90Nanoseconds: counts.nanoseconds(tenThousandths: 9_000),
            p99Nanoseconds: counts.nanoseconds(tenThousandths: 9_900),
            p999Nanoseconds: counts.nanoseconds(tenThousandths: 9_990),
            maximumNanoseconds: counts.maximumNanoseconds
        )
    }
}
