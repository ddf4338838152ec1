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

    /// The calls that were made at least once.
    func methods() -> [MethodStats] {
        Method.allCases.compactMap { method in
            let requestCount = loops.reduce(0) { $0 + $1.requestCount(method) }
            guard requestCount > 0 else { return nil }
            return MethodStats(
                method: method.name,
                requestCount: requestCount,
                errorCount: loops.reduce(0) { $0 + $1.errorCount(method) },
                lastError: loops.lazy.compactMap { $0.lastError(method) }.first ?? ""
            )
        }
    }
}
