internal import FeedAccounts
internal import FeedConcurrency
internal import FeedLog
internal import FeedProto
internal import FeedRanking
internal import FeedState
internal import FoundationEssentials

// ServerStats, which is a contract with clients, of the numbers that the metrics are read from.

extension ServerStats {
    /// The numbers of a service at a revision; watchers, the disk and backups are for trusted callers alone.
    init(_ numbers: ServiceNumbers, at revision: UInt64, isTrusted: Bool) {
        let (context, store, statistics) = (numbers.context, numbers.store, numbers.statistics)
        self.init(
            serverName: ServiceVersion.serverName,
            startTimeMilliseconds: context.startTimeMilliseconds,
            connectionCount: context.openConnectionCount,
            postCount: store.postCount,
            revision: revision,
            methods: statistics.methods.map { MethodStats($0, statistics) },
            snapshotCount: UInt64(numbers.snapshots.count),
            snapshotByteCount: UInt64(numbers.snapshots.byteCount),
            watchCount: UInt64(context.watchAdmission.count),
            stripeContentionCount: store.contentionCount,
            acceptedConnectionCount: context.acceptedConnectionCount,
            refusedConnectionCount: context.refusedConnectionCount,
            slowFrameCount: statistics[.slowFrames],
            badFrameCount: statistics[.badFrames],
            bufferedByteCount: context.bufferedByteCount,
            acceptPauseCount: context.acceptPauseCount,
            durability: numbers.durability,
            journal: numbers.state.map {
                JournalStats($0, statistics[.heldWrites], isTrusted: isTrusted)
            },
            channelCount: UInt64(context.channels.count),
            evictedChannelCount: context.channels.evictedCount,
            repeatedCallCount: statistics[.repeatedCalls],
            overBudgetCloseCount: statistics[.overBudgetCloses],
            channelByteCount: UInt64(clamping: context.channels.byteCount),
            refusedChannelCount: context.channels.refusedCount,
            refusedDeviceCount: context.devices.refusedCount,
            accountCount: UInt64(context.accounts.accountCount),
            sessionCount: UInt64(context.accounts.sessionCount),
            queuedHashCount: UInt64(context.passwords.queuedCount),
            refusedSignInCount: numbers.refusedSignInCount,
            backups: isTrusted ? numbers.state.map { BackupStats($0.backups) } : nil,
            latencies: statistics.methods.compactMap { method in
                let counts = statistics.latency([method])
                return counts.count > 0 ? LatencyStats(method.name, counts) : nil
            },
            heldTime: numbers.state.map { _ in LatencyStats("", statistics.heldTime) },
            watchingPeers: isTrusted ? context.watchingPeers : [],
            postByteCount: UInt64(clamping: store.postByteCount),
            postLimitByteCount: UInt64(context.limits.posts.memoryByteCount),
            refusedPostCount: context.posts.refusedCount
        )
    }
}

extension ServiceContext {
    fileprivate var watchingPeers: [WatchingPeer] {
        watchAdmission.largest(8).map { peer, count in
            let key = peer.keyNumber.map { serviceKeys?.name(of: $0) ?? "a void key" }
            return WatchingPeer(peer: key ?? peer.hostText, watchCount: UInt64(count))
        }
    }
}

extension MethodStats {
    fileprivate init(_ method: Method, _ statistics: ServiceStatistics) {
        self.init(
            method: method.name,
            requestCount: statistics.requestCount(method),
            errorCount: statistics.errorCount(method),
            lastError: statistics.lastError(method)
        )
    }
}

extension LatencyStats {
    /// The percentiles of a call's times, or of those of the method named "".
    fileprivate init(_ method: String, _ counts: LatencyCounts) {
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

extension JournalStats {
    fileprivate init(_ numbers: StateNumbers, _ heldAnswerCount: UInt64, isTrusted: Bool) {
        let (state, journal, commits) = (numbers.state, numbers.journal, numbers.commits)
        self.init(
            executedPosition: max(state.logs.newestBatch, journal.durableBatch),
            durablePosition: journal.durableBatch,
            checkpointedPosition: state.checkpointThread.checkpointedRecord,
            commitCount: commits.commitCount,
            effectCount: commits.entryCount,
            medianCommitMicroseconds: commits.microseconds(percentile: 50),
            p99CommitMicroseconds: commits.microseconds(percentile: 99),
            maximumCommitMicroseconds: commits.maximumMicroseconds,
            byteCount: UInt64(clamping: journal.fileByteCount),
            heldAnswerCount: heldAnswerCount,
            oldestHeldMicroseconds: numbers.oldestWait.wholeMicroseconds,
            freeByteCount: isTrusted ? UInt64(clamping: journal.freeByteCount) : 0,
            isReadOnly: !journal.isWritable,
            checkpoints: CheckpointStats(
                backlogByteCount: UInt64(clamping: numbers.backlog.pendingByteCount),
                backlogLimitByteCount: UInt64(clamping: numbers.backlog.limitByteCount),
                refusedCount: journal.refusedByCheckpoints,
                underWayMicroseconds: numbers.checkpoints.timeUnderWay.wholeMicroseconds,
                longestStepMicroseconds: numbers.checkpoints.longestStepMicroseconds,
                isStalled: numbers.checkpoints.isStalled
            )
        )
    }
}

extension BackupStats {
    fileprivate init(_ status: BackupStatus) {
        self.init(
            isRunning: status.isRunning,
            copiedByteCount: UInt64(clamping: status.copiedByteCount),
            byteCount: UInt64(clamping: status.byteCount),
            failureCount: status.failureCount
        )
        if let complete = status.complete {
            lastName = complete.name
            lastTimeMilliseconds = complete.date.unixMilliseconds
            lastByteCount = UInt64(clamping: complete.byteCount)
            lastDurationMilliseconds = complete.duration.wholeMicroseconds / 1000
        }
        if let failure = status.failure {
            lastError = "\(failure.error)"
            lastErrorTimeMilliseconds = failure.date.unixMilliseconds
        }
        if let interval = status.interval { scheduleIntervalMilliseconds = UInt64(interval * 1000) }
        if let due = status.due { nextTimeMilliseconds = due.unixMilliseconds }
    }
}

extension Date {
    fileprivate var unixMilliseconds: Int64 { Int64((timeIntervalSince1970 * 1000).rounded()) }
}
