package import FeedProto

/// The state of the service, as `stats` reports it.
package struct StatsReport: Report, Equatable {
    /// One method.
    struct Row: Encodable, Equatable, Sendable {
        let method: String
        let requestCount: UInt64
        let errorCount: UInt64
        /// The reason of the last error; empty is none.
        let lastError: String
    }

    let serverName: String
    let startTimeMs: Int64
    let durability: String
    let postCount: UInt64
    let revision: UInt64
    let connectionCount: UInt64
    let acceptedConnectionCount: UInt64
    let refusedConnectionCount: UInt64
    let slowFrameCount: UInt64
    let badFrameCount: UInt64
    let bufferedByteCount: UInt64
    let acceptPauseCount: UInt64
    let stripeContentionCount: UInt64
    let channelCount: UInt64
    let evictedChannelCount: UInt64
    let channelByteCount: UInt64
    let refusedChannelCount: UInt64
    let refusedDeviceCount: UInt64
    let postByteCount: UInt64
    let postLimitByteCount: UInt64
    let refusedPostCount: UInt64
    /// Whether the caller is told of the disk and of backups.
    let isWhole: Bool
    let repeatedCallCount: UInt64
    let overBudgetCloseCount: UInt64
    let accountCount: UInt64
    let sessionCount: UInt64
    let queuedHashCount: UInt64
    let refusedSignInCount: UInt64
    let snapshotCount: UInt64
    let snapshotByteCount: UInt64
    let watchCount: UInt64
    /// Who has the most watches, as `10.0.0.7 (1300)`; empty where the service does not tell the caller.
    let watchingPeers: [String]
    /// All zeros where nothing is journaled.
    let journal: JournalReport
    /// All zeros where nothing outlives the process.
    let backups: BackupStatsReport
    let methods: [Row]
    let latencies: [LatencyReport]
    /// All zeros where no answer was held until it was durable.
    let heldTime: LatencyReport

    /// The report of the service's counters.
    package init(_ stats: ServerStats) {
        serverName = stats.serverName
        startTimeMs = stats.startTimeMilliseconds
        durability = stats.durability
        postCount = stats.postCount
        revision = stats.revision
        connectionCount = stats.connectionCount
        acceptedConnectionCount = stats.acceptedConnectionCount
        refusedConnectionCount = stats.refusedConnectionCount
        slowFrameCount = stats.slowFrameCount
        badFrameCount = stats.badFrameCount
        bufferedByteCount = stats.bufferedByteCount
        acceptPauseCount = stats.acceptPauseCount
        stripeContentionCount = stats.stripeContentionCount
        channelCount = stats.channelCount
        evictedChannelCount = stats.evictedChannelCount
        channelByteCount = stats.channelByteCount
        refusedChannelCount = stats.refusedChannelCount
        refusedDeviceCount = stats.refusedDeviceCount
        postByteCount = stats.postByteCount
        postLimitByteCount = stats.postLimitByteCount
        refusedPostCount = stats.refusedPostCount
        isWhole = stats.durability == "none" || stats.backups != nil
        repeatedCallCount = stats.repeatedCallCount
        overBudgetCloseCount = stats.overBudgetCloseCount
        accountCount = stats.accountCount
        sessionCount = stats.sessionCount
        queuedHashCount = stats.queuedHashCount
        refusedSignInCount = stats.refusedSignInCount
        snapshotCount = stats.snapshotCount
        snapshotByteCount = stats.snapshotByteCount
        watchCount = stats.watchCount
        watchingPeers = stats.watchingPeers.map { "\($0.peer) (\($0.watchCount))" }
        journal = JournalReport(stats.journal)
        backups = BackupStatsReport(stats.backups)
        methods = stats.methods.map { method in
            Row(
                method: method.method,
                requestCount: method.requestCount,
                errorCount: method.errorCount,
                lastError: method.lastError
            )
        }
        latencies = stats.latencies.map(LatencyReport.init)
        heldTime = LatencyReport(stats.heldTime)
    }

    /// A line a counter, then a table of the methods.
    package func text(_ style: TextStyle) -> String {
        var fields = FieldList()
        fields.add("service", serverName)
        fields.add("started", style.time(startTimeMs))
        fields.add("durability", durability)
        fields.add("posts", "\(postCount) (\(refusedPostCount) refused)")
        let limit = postLimitByteCount > 0 ? " of at most \(postLimitByteCount)" : ""
        fields.add("post bytes", "\(postByteCount)\(limit)")
        fields.add("revision", "\(revision)")
        fields.add(
            "connections",
            "\(connectionCount) (\(acceptedConnectionCount) accepted, \(refusedConnectionCount) refused)"
        )
        fields.add("slow frames", "\(slowFrameCount)")
        fields.add("bad frames", "\(badFrameCount)")
        fields.add(
            "buffered bytes",
            "\(bufferedByteCount) (\(overBudgetCloseCount) connections closed for too many)"
        )
        fields.add("accept pauses", "\(acceptPauseCount)")
        fields.add("lock contentions", "\(stripeContentionCount)")
        fields.add(
            "channels",
            "\(channelCount) (\(evictedChannelCount) forgotten, \(refusedChannelCount) refused)"
        )
        fields.add("channel bytes", "\(channelByteCount)")
        fields.add("refused devices", "\(refusedDeviceCount)")
        fields.add("repeated calls", "\(repeatedCallCount)")
        fields.add(
            "accounts",
            "\(accountCount) (\(sessionCount) sessions, \(refusedSignInCount) sign-ins refused, "
                + "\(queuedHashCount) waiting)"
        )
        fields.add("snapshots", "\(snapshotCount) (\(snapshotByteCount) bytes)")
        let peers = watchingPeers.map { ", \($0)" }.joined()
        fields.add("watches", "\(watchCount)\(peers)")
        if durability != "none" {
            journal.add(to: &fields, hasDisk: isWhole)
            if isWhole {
                backups.add(to: &fields, style)
            } else {
                fields.add("disk, backups", "told to callers with a key only")
            }
        }
        var table = TextTable([
            .text("METHOD"), .number("REQUESTS"), .number("ERRORS"), .text("LAST ERROR"),
        ])
        for method in methods {
            table.append([
                method.method, "\(method.requestCount)", "\(method.errorCount)", method.lastError,
            ])
        }
        return fields.rendered() + "\n" + table.rendered(style)
            + LatencyReport.table(latencies, held: heldTime, style)
    }
}
