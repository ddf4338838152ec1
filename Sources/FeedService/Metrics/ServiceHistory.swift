internal import FeedAdmin
internal import FeedConcurrency
internal import FeedState
internal import FoundationEssentials

/// Takes a row of the dashboard's history each second: what has happened since the row before.
final class ServiceHistory: Sendable {
    private struct Column: Sendable {
        let name: String
        let read: @Sendable (Interval) -> Double

        /// A column; where there is no value the row has none.
        init<Value: MetricValue>(
            _ name: String,
            _ read: @escaping @Sendable (Interval) -> Value?
        ) {
            self.name = name
            self.read = { read($0)?.metricValue ?? .nan }
        }
    }

    private static let columns: [Column] = [
        Column("votes_per_second") { $0.rate(\.voteCount) },
        Column("calls_per_second") { $0.rate(\.callCount) },
        Column("errors_per_second") { $0.rate(\.errorCount) },
        Column("vote_p50_seconds") { $0.time(\.votes, 5_000) },
        Column("vote_p99_seconds") { $0.waitingTime(\.votes, 9_900) },
        Column("vote_max_seconds") { $0.waitingTime(\.votes, 10_000) },
        Column("call_p99_seconds") { $0.time(\.calls, 9_900) },
        Column("held_p99_seconds") { $0.waitingTime(\.held, 9_900) },
        Column("commit_p50_seconds") {
            $0.state.map { Double($0.commits.microseconds(percentile: 50)) / 1e6 }
        },
        Column("commit_p99_seconds") {
            $0.state.map { Double($0.commits.microseconds(percentile: 99)) / 1e6 }
        },
        Column("checkpoint_lag_bytes") { $0.state?.backlog.pendingByteCount },
        Column("checkpoint_lag_limit_bytes") { $0.state?.backlog.limitByteCount },
        Column("disk_free_bytes") { $0.state?.journal.freeByteCount },
        Column("journal_bytes") { $0.state?.journal.fileByteCount },
        Column("resident_bytes") { _ in ProcessNumbers().residentByteCount },
        Column("buffered_bytes") { $0.service.context.bufferedByteCount },
        Column("busy_share") { $0.busyShare },
        Column("connections") { $0.service.context.openConnectionCount },
        Column("oldest_held_seconds") { $0.oldestWait },
        Column("backup_age_seconds") { row in
            row.state?.backups.complete.map {
                Double(row.milliseconds) / 1000 - $0.date.timeIntervalSince1970
            }
        },
    ]

    /// The counts at one moment, from which those since another one follow.
    private struct Moment {
        let instant: MonotonicInstant
        let voteCount: UInt64
        let callCount: UInt64
        let errorCount: UInt64
        let votes: LatencyCounts
        let calls: LatencyCounts
        let held: LatencyCounts
        let busyNanoseconds: [UInt64]

        init(_ statistics: ServiceStatistics, at now: MonotonicInstant) {
            let voteMethods: [Method] = [.castVote, .batchCastVotes]
            let otherMethods = Method.allCases.filter { !voteMethods.contains($0) }
            instant = now
            voteCount = statistics.requestCount(.castVote) + statistics[.batchedVotes]
            callCount = otherMethods.reduce(0) { $0 + statistics.requestCount($1) }
            errorCount = Method.allCases.reduce(0) { $0 + statistics.errorCount($1) }
            votes = statistics.latency(voteMethods)
            calls = statistics.latency(otherMethods)
            held = statistics.heldTime
            busyNanoseconds = statistics.loops.map { $0[.busyNanoseconds] }
        }
    }

    /// What a row is read from: the counts of now and of the row before, and the numbers of now.
    private struct Interval {
        let before: Moment
        let now: Moment
        let service: ServiceNumbers
        let milliseconds: Int64
        /// How long calls without an answer have waited already; nil without durable state.
        let oldestWait: Duration?

        var state: StateNumbers? { service.state }
        var nanoseconds: Double {
            Double(now.instant.nanoseconds - before.instant.nanoseconds)
        }

        func rate(_ count: KeyPath<Moment, UInt64>) -> Double {
            Double(now[keyPath: count] &- before[keyPath: count]) / nanoseconds * 1e9
        }

        /// The time that such a share of things took at most; nil without any.
        func time(_ counts: KeyPath<Moment, LatencyCounts>, _ tenThousandths: UInt64) -> Double? {
            let part = now[keyPath: counts].since(before[keyPath: counts])
            guard part.count > 0 else { return nil }
            return Double(part.nanoseconds(tenThousandths: tenThousandths)) / 1e9
        }

        /// The same, or how long calls without an answer have waited, from a second on.
        func waitingTime(
            _ counts: KeyPath<Moment, LatencyCounts>,
            _ tenThousandths: UInt64
        ) -> Double? {
            let time = time(counts, tenThousandths)
            guard let oldest = oldestWait?.metricValue, oldest >= 1 else { return time }
            return max(time ?? oldest, oldest)
        }

        /// The share of the time that the busiest loop was not waiting.
        var busyShare: Double {
            let busy = zip(now.busyNanoseconds, before.busyNanoseconds).map { $0 &- $1 }.max() ?? 0
            return min(1, Double(busy) / nanoseconds)
        }
    }

    let history = History(columns.map(\.name))
    private let last = Lock<Moment?>(nil)

    /// Adds a row of what a service has done since the last call; the first call adds none.
    func take(_ service: ServiceNumbers, at now: MonotonicInstant, _ milliseconds: Int64) {
        let moment = Moment(service.statistics, at: now)
        let before = last.withLock { last in
            defer { last = moment }
            return last
        }
        guard let before, now > before.instant else { return }
        let interval = Interval(
            before: before,
            now: moment,
            service: service,
            milliseconds: milliseconds,
            oldestWait: service.state?.oldestWait
        )
        history.append(Self.columns.map { $0.read(interval) }, at: milliseconds)
    }
}
