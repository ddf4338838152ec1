internal import FeedAdmin
internal import FeedConcurrency
internal import FeedRanking
internal import FeedState
internal import FoundationEssentials

/// Takes a row of the dashboard's history each second: what has happened since the row before.
final class ServiceHistory: Sendable {
    /// What is shown of one moment; the counters are those of the start.
    private struct Moment {
        var instant: MonotonicInstant
        var voteCount: UInt64 = 0
        var callCount: UInt64 = 0
        var errorCount: UInt64 = 0
        var votes: LatencyCounts
        var calls: LatencyCounts
        var held: LatencyCounts
        var busyNanoseconds: [UInt64]
    }

    /// The columns, in the order of the rows' values.
    static let columns = [
        "votes_per_second", "calls_per_second", "errors_per_second", "vote_p50_seconds",
        "vote_p99_seconds", "vote_max_seconds", "call_p99_seconds", "held_p99_seconds",
        "commit_p50_seconds", "commit_p99_seconds", "checkpoint_lag_bytes",
        "checkpoint_lag_limit_bytes", "disk_free_bytes", "journal_bytes", "resident_bytes",
        "buffered_bytes", "busy_share", "connections", "oldest_held_seconds", "backup_age_seconds",
    ]

    private static let voteMethods: [Method] = [.castVote, .batchCastVotes]
    private static let otherMethods = Method.allCases.filter { !voteMethods.contains($0) }

    /// The rows.
    let history = History(columns)
    private let last = Lock<Moment?>(nil)

    /// Adds a row of what a service has done since the last call; the first call adds none.
    ///
    /// - Parameters:
    ///   - metrics: The service.
    ///   - now: The monotonic time.
    ///   - milliseconds: The time of day, in milliseconds since 1970.
    func take(_ metrics: ServiceMetrics, at now: MonotonicInstant, _ milliseconds: Int64) {
        let moment = Self.moment(metrics.statistics, at: now)
        let before = last.withLock { last in
            defer { last = moment }
            return last
        }
        guard let before, now > before.instant else { return }
        history.append(Self.row(moment, since: before, metrics, at: milliseconds), at: milliseconds)
    }

    private static func moment(
        _ statistics: ServiceStatistics,
        at now: MonotonicInstant
    ) -> Moment {
        func latency(_ methods: [Method]) -> LatencyCounts {
            LatencyCounts(methods.flatMap { method in statistics.loops.map { $0.latency(method) } })
        }
        return Moment(
            instant: now,
            voteCount: statistics.requestCount(.castVote) + statistics.batchedVoteCount,
            callCount: otherMethods.reduce(0) { $0 + statistics.requestCount($1) },
            errorCount: Method.allCases.reduce(0) { $0 + statistics.errorCount($1) },
            votes: latency(voteMethods),
            calls: latency(otherMethods),
            held: statistics.heldTime,
            busyNanoseconds: statistics.loops.map(\.busyNanoseconds)
        )
    }

    private static func row(
        _ moment: Moment,
        since before: Moment,
        _ metrics: ServiceMetrics,
        at milliseconds: Int64
    ) -> [Double] {
        let nanoseconds = Double(moment.instant.nanoseconds - before.instant.nanoseconds)
        func rate(_ count: KeyPath<Moment, UInt64>) -> Double {
            Double(moment[keyPath: count] &- before[keyPath: count]) / nanoseconds * 1e9
        }
        func seconds(_ counts: LatencyCounts, _ tenThousandths: UInt64) -> Double {
            guard counts.count > 0 else { return .nan }
            return Double(counts.nanoseconds(tenThousandths: tenThousandths)) / 1e9
        }
        let votes = moment.votes.since(before.votes)
        let busy = zip(moment.busyNanoseconds, before.busyNanoseconds).map { $0 &- $1 }.max() ?? 0
        let context = metrics.context
        let journal = context.state?.journal
        let backlog = context.state?.checkpointThread.backlog
        // Calls without an answer have waited so long already.
        let oldest = (journal?.oldestWait ?? .zero) / .seconds(1)
        func withOldest(_ value: Double) -> Double {
            oldest < 1 ? value : value.isNaN ? oldest : max(value, oldest)
        }
        let backup = context.state?.checkpointThread.backups.status.complete?.date
        return [
            rate(\.voteCount), rate(\.callCount), rate(\.errorCount),
            seconds(votes, 5_000), withOldest(seconds(votes, 9_900)),
            withOldest(seconds(votes, 10_000)),
            seconds(moment.calls.since(before.calls), 9_900),
            withOldest(seconds(moment.held.since(before.held), 9_900)),
            journal.map { Double($0.statistics.microseconds(percentile: 50)) / 1e6 } ?? .nan,
            journal.map { Double($0.statistics.microseconds(percentile: 99)) / 1e6 } ?? .nan,
            backlog.map { Double($0.pendingByteCount) } ?? .nan,
            backlog.map { Double($0.limitByteCount) } ?? .nan,
            journal.map { Double($0.freeByteCount) } ?? .nan,
            journal.map { Double($0.fileByteCount) } ?? .nan,
            ProcessUsage().residentByteCount, Double(context.bufferedByteCount),
            min(1, Double(busy) / nanoseconds), Double(context.openConnectionCount),
            journal == nil ? .nan : oldest,
            backup.map { Double(milliseconds) / 1000 - $0.timeIntervalSince1970 } ?? .nan,
        ]
    }
}
