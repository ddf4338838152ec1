internal import ArgumentParser
internal import FeedClient
package import FeedProto

struct StatsCommand: ServiceCommand {
    static let isOfOneService = true

    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Shows how the service is doing."
    )

    @OptionGroup var options: ServiceOptions

    func perform(_ client: FeedClient) async throws -> any Report {
        StatsReport(try await client.stats())
    }
}

/// The state of the service.
///
/// What the service does not have is all zeros in the document, so that programs find the same members
/// everywhere.
package struct StatsReport: Report {
    private let stats: ServerStats

    package init(_ stats: ServerStats) { self.stats = stats }

    package var document: Document {
        [
            "server_name": stats.serverName, "start_time_ms": stats.startTimeMilliseconds,
            "durability": stats.durability, "post_count": stats.postCount,
            "revision": stats.revision, "connection_count": stats.connectionCount,
            "accepted_connection_count": stats.acceptedConnectionCount,
            "refused_connection_count": stats.refusedConnectionCount,
            "slow_frame_count": stats.slowFrameCount, "bad_frame_count": stats.badFrameCount,
            "buffered_byte_count": stats.bufferedByteCount,
            "accept_pause_count": stats.acceptPauseCount,
            "stripe_contention_count": stats.stripeContentionCount,
            "channel_count": stats.channelCount,
            "evicted_channel_count": stats.evictedChannelCount,
            "channel_byte_count": stats.channelByteCount,
            "refused_channel_count": stats.refusedChannelCount,
            "refused_device_count": stats.refusedDeviceCount,
            "post_byte_count": stats.postByteCount,
            "post_limit_byte_count": stats.postLimitByteCount,
            "refused_post_count": stats.refusedPostCount, "is_whole": stats.isWhole,
            "repeated_call_count": stats.repeatedCallCount,
            "over_budget_close_count": stats.overBudgetCloseCount,
            "account_count": stats.accountCount, "session_count": stats.sessionCount,
            "queued_hash_count": stats.queuedHashCount,
            "refused_sign_in_count": stats.refusedSignInCount,
            "snapshot_count": stats.snapshotCount,
            "snapshot_byte_count": stats.snapshotByteCount, "watch_count": stats.watchCount,
            "watching_peers": watchingPeers,
            "journal": (stats.journal ?? .zero).document,
            "backups": BackupStatsReport(stats.backups).document,
            "methods": stats.methods.map(Self.member),
            "latencies": stats.latencies.map(\.document),
            "held_time": (stats.heldTime ?? .zero).document,
        ]
    }

    private static func member(_ method: MethodStats) -> Document {
        [
            "method": method.method, "request_count": method.requestCount,
            "error_count": method.errorCount,
            // The reason of the last error; empty is none.
            "last_error": method.lastError,
        ]
    }

    /// Who has the most watches, as `10.0.0.7 (1300)`; empty if the service does not tell the caller.
    private var watchingPeers: [String] {
        stats.watchingPeers.map { "\($0.peer) (\($0.watchCount))" }
    }

    /// A line a counter, then tables of the methods.
    package func text(_ style: TextStyle) -> String {
        var fields = FieldList()
        addCounters(to: &fields, style)
        if stats.durability != "none" {
            (stats.journal ?? .zero).add(to: &fields, hasDisk: stats.isWhole)
            if stats.isWhole {
                BackupStatsReport(stats.backups).add(to: &fields, style)
            } else {
                fields.add("disk, backups", "told to callers with a key only")
            }
        }
        let columns: [TextColumn<MethodStats>] = [
            .text("METHOD") { $0.method }, .number("REQUESTS") { "\($0.requestCount)" },
            .number("ERRORS") { "\($0.errorCount)" }, .text("LAST ERROR") { $0.lastError },
        ]
        let table = TextTable(stats.methods, columns)
        return fields.rendered() + "\n" + table.rendered(style)
            + LatencyStats.table(stats.latencies, held: stats.heldTime, style)
    }

    private func addCounters(to fields: inout FieldList, _ style: TextStyle) {
        fields.add("service", stats.serverName)
        fields.add("started", style.time(stats.startTimeMilliseconds))
        fields.add("durability", stats.durability)
        fields.add("posts", "\(stats.postCount) (\(stats.refusedPostCount) refused)")
        let limit = stats.postLimitByteCount
        fields.add(
            "post bytes",
            "\(stats.postByteCount)" + (limit > 0 ? " of at most \(limit)" : "")
        )
        fields.add("revision", "\(stats.revision)")
        fields.add(
            "connections",
            "\(stats.connectionCount) (\(stats.acceptedConnectionCount) accepted, "
                + "\(stats.refusedConnectionCount) refused)"
        )
        fields.add("slow frames", "\(stats.slowFrameCount)")
        fields.add("bad frames", "\(stats.badFrameCount)")
        fields.add(
            "buffered bytes",
            "\(stats.bufferedByteCount) (\(stats.overBudgetCloseCount) connections closed for too many)"
        )
        fields.add("accept pauses", "\(stats.acceptPauseCount)")
        fields.add("lock contentions", "\(stats.stripeContentionCount)")
        fields.add(
            "channels",
            "\(stats.channelCount) (\(stats.evictedChannelCount) forgotten, "
                + "\(stats.refusedChannelCount) refused)"
        )
        fields.add("channel bytes", "\(stats.channelByteCount)")
        fields.add("refused devices", "\(stats.refusedDeviceCount)")
        fields.add("repeated calls", "\(stats.repeatedCallCount)")
        fields.add(
            "accounts",
            "\(stats.accountCount) (\(stats.sessionCount) sessions, "
                + "\(stats.refusedSignInCount) sign-ins refused, \(stats.queuedHashCount) waiting)"
        )
        fields.add("snapshots", "\(stats.snapshotCount) (\(stats.snapshotByteCount) bytes)")
        fields.add("watches", "\(stats.watchCount)" + watchingPeers.map { ", \($0)" }.joined())
    }
}

extension ServerStats {
    /// Whether the caller is told of the disk and of backups.
    var isWhole: Bool { durability == "none" || backups != nil }
}

extension JournalStats {
    fileprivate var document: Document {
        [
            "executed_position": executedPosition, "durable_position": durablePosition,
            "folded_position": checkpointedPosition, "commit_count": commitCount,
            "effect_count": effectCount, "commit_p50_us": medianCommitMicroseconds,
            "commit_p99_us": p99CommitMicroseconds, "commit_max_us": maximumCommitMicroseconds,
            "byte_count": byteCount, "held_answer_count": heldAnswerCount,
            "oldest_held_us": oldestHeldMicroseconds, "free_byte_count": freeByteCount,
            "is_read_only": isReadOnly,
            "unfolded_byte_count": checkpoints.backlogByteCount,
            "unfolded_limit_byte_count": checkpoints.backlogLimitByteCount,
            "unfolded_refusal_count": checkpoints.refusedCount,
            "checkpoint_us": checkpoints.underWayMicroseconds,
            "checkpoint_slice_max_us": checkpoints.longestStepMicroseconds,
            "is_checkpoint_stalled": checkpoints.isStalled,
        ]
    }

    /// The lines for people; without the disk if the service has not told of it.
    fileprivate func add(to fields: inout FieldList, hasDisk: Bool) {
        fields.add(
            "journal",
            "record \(executedPosition) (\(durablePosition) durable, "
                + "\(checkpointedPosition) checkpointed)"
        )
        let count = commitCount
        let mean = count == 0 ? 0 : Double(effectCount) / Double(count)
        fields.add("commits", "\(count) of \((mean * 10).rounded() / 10) changes each")
        fields.add(
            "commit time",
            "p50 \(medianCommitMicroseconds) µs, p99 \(p99CommitMicroseconds) µs, "
                + "at most \(maximumCommitMicroseconds) µs"
        )
        fields.add("journal bytes", "\(byteCount)")
        fields.add(
            "held answers",
            "\(heldAnswerCount), the oldest for \(oldestHeldMicroseconds) µs"
        )
        if hasDisk { fields.add("free bytes", "\(freeByteCount)") }
        fields.add("read only", isReadOnly ? "yes: changes are refused for want of room" : "no")
        fields.add(
            "unfolded bytes",
            "\(checkpoints.backlogByteCount) of at most \(checkpoints.backlogLimitByteCount), "
                + "\(checkpoints.refusedCount) changes refused for it"
        )
        let time = checkpoints.underWayMicroseconds
        let state =
            checkpoints.isStalled
            ? "stalled: no room for state.db"
            : time == 0 ? "none under way" : "under way for \(time) µs"
        fields.add(
            "checkpoint",
            "\(state), longest slice \(checkpoints.longestStepMicroseconds) µs"
        )
    }
}

extension LatencyStats {
    fileprivate var document: Document {
        [
            "method": method, "answer_count": answerCount, "p50_ns": medianNanoseconds,
            "p90_ns": p90Nanoseconds, "p99_ns": p99Nanoseconds, "p999_ns": p999Nanoseconds,
            "max_ns": maximumNanoseconds,
        ]
    }

    /// A table of the methods, and of the time that answers were held; empty if nothing is timed.
    fileprivate static func table(
        _ latencies: [LatencyStats],
        held: LatencyStats?,
        _ style: TextStyle
    ) -> String {
        guard !latencies.isEmpty else { return "" }
        var rows = latencies
        if var held, held.answerCount > 0 {
            held.method = "held until durable"
            rows.append(held)
        }
        let columns: [TextColumn<LatencyStats>] = [
            .text("TIME OF ANSWERS") { $0.method }, .number("ANSWERS") { "\($0.answerCount)" },
            .number("P50") { text($0.medianNanoseconds) },
            .number("P90") { text($0.p90Nanoseconds) },
            .number("P99") { text($0.p99Nanoseconds) },
            .number("P99.9") { text($0.p999Nanoseconds) },
            .number("MAXIMUM") { text($0.maximumNanoseconds) },
        ]
        return "\n" + TextTable(rows, columns).rendered(style)
    }

    /// A time in microseconds, milliseconds or seconds, with a decimal if it is small.
    private static func text(_ nanoseconds: UInt64) -> String {
        let units: [(name: String, nanoseconds: UInt64)] = [
            ("s", 1_000_000_000), ("ms", 1_000_000), ("µs", 1_000),
        ]
        let unit = units.first { nanoseconds >= $0.nanoseconds } ?? units[2]
        let tenths = nanoseconds / (unit.nanoseconds / 10)
        let number = tenths < 1_000 ? "\(tenths / 10).\(tenths % 10)" : "\(tenths / 10)"
        return "\(number) \(unit.name)"
    }
}

extension JournalStats {
    fileprivate static let zero = JournalStats(
        executedPosition: 0,
        durablePosition: 0,
        checkpointedPosition: 0,
        commitCount: 0,
        effectCount: 0,
        medianCommitMicroseconds: 0,
        p99CommitMicroseconds: 0,
        maximumCommitMicroseconds: 0,
        byteCount: 0,
        heldAnswerCount: 0,
        oldestHeldMicroseconds: 0,
        freeByteCount: 0,
        isReadOnly: false
    )
}

extension LatencyStats {
    fileprivate static let zero = LatencyStats(
        method: "",
        answerCount: 0,
        medianNanoseconds: 0,
        p90Nanoseconds: 0,
        p99Nanoseconds: 0,
        p999Nanoseconds: 0,
        maximumNanoseconds: 0
    )
}
