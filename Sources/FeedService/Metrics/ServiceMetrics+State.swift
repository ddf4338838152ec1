internal import FeedAdmin
internal import FeedState
internal import FoundationEssentials

/// Commits, checkpoints, the disk and backups.
extension ServiceMetrics {
    /// The metrics of commits and of the journal.
    func commits(of state: DurableState) -> [MetricFamily] {
        let journal = state.journal
        let statistics = journal.statistics
        return [
            .counter(
                "feed_commits",
                "Commits, each one write and one sync.",
                statistics.commitCount
            ),
            .counter(
                "feed_commit_changes",
                "Log entries in all commits.",
                statistics.entryCount
            ),
            .counter(
                "feed_commit_bytes",
                unit: "bytes",
                "Bytes of all commits.",
                statistics.byteCount
            ),
            MetricFamily(
                "feed_commit_duration_seconds",
                .summary,
                unit: "seconds",
                help: "Time of a commit, with percentiles of the latest 1,024.",
                samples: [50.0, 99.0].map { percentile in
                    MetricFamily.Sample(
                        Double(statistics.microseconds(percentile: percentile)) / 1e6,
                        [MetricFamily.Label("quantile", percentile == 50 ? "0.5" : "0.99")]
                    )
                } + [
                    MetricFamily.Sample(Double(statistics.commitCount), suffix: "_count"),
                    MetricFamily.Sample(
                        Double(statistics.sumMicroseconds) / 1e6,
                        suffix: "_sum"
                    ),
                ]
            ),
            .seconds(
                "feed_commit_longest_seconds",
                "The longest commit since the start.",
                Double(statistics.maximumMicroseconds) / 1e6
            ),
            .seconds(
                "feed_oldest_held_seconds",
                "How long the oldest change that is not durable has waited.",
                (journal.oldestWait ?? .zero) / .seconds(1)
            ),
            .gauge(
                "feed_journal_bytes",
                unit: "bytes",
                "Bytes of the journal's files.",
                journal.fileByteCount
            ),
            .gauge(
                "feed_disk_free_bytes",
                unit: "bytes",
                "Free bytes of the data directory's disk.",
                journal.freeByteCount
            ),
            .flag(
                "feed_read_only",
                "Whether changes are refused because the disk has too little room.",
                !journal.isWritable
            ),
        ]
    }

    /// The metrics of checkpoints.
    func checkpoints(of state: DurableState) -> [MetricFamily] {
        let backlog = state.checkpointThread.backlog
        let statistics = state.checkpointThread.statistics
        return [
            .gauge(
                "feed_checkpoint_lag_bytes",
                unit: "bytes",
                "Bytes that are durable and not yet in state.db.",
                backlog.pendingByteCount
            ),
            .gauge(
                "feed_checkpoint_lag_limit_bytes",
                unit: "bytes",
                "The lag at which all changes are refused; from half of it on some are.",
                backlog.limitByteCount
            ),
            .counter(
                "feed_checkpoint_refused_changes",
                "Changes refused because checkpoints do not keep up.",
                state.journal.refusedByCheckpoints
            ),
            .seconds(
                "feed_checkpoint_running_seconds",
                "How long the checkpoint under way has taken; 0 where none is.",
                statistics.timeUnderWay / .seconds(1)
            ),
            .seconds(
                "feed_checkpoint_stood_still_seconds",
                "How long a step of a checkpoint has not returned, from 10 s on; 0 else.",
                (context.stalls.times[.checkpoint] ?? .zero) / .seconds(1)
            ),
            .seconds(
                "feed_checkpoint_longest_step_seconds",
                "The longest step of a checkpoint since the start.",
                Double(statistics.longestStepMicroseconds) / 1e6
            ),
            .flag(
                "feed_checkpoint_stalled",
                "Whether state.db finds no room on the disk.",
                statistics.isStalled
            ),
        ]
    }

    /// The metrics of backups.
    func backups(of state: DurableState) -> [MetricFamily] {
        let status = state.checkpointThread.backups.status
        let complete = status.complete
        return [
            .flag("feed_backup_running", "Whether a backup is under way.", status.isRunning),
            .seconds(
                "feed_backup_stood_still_seconds",
                "How long a call of the backup under way has not returned, from 10 s on; 0 else.",
                (context.stalls.times[.backup] ?? .zero) / .seconds(1)
            ),
            .seconds(
                "feed_backup_last_timestamp_seconds",
                "When the newest complete backup was made; 0 where there is none.",
                complete?.date.timeIntervalSince1970 ?? 0
            ),
            .gauge(
                "feed_backup_last_bytes",
                unit: "bytes",
                "Bytes of the newest complete backup; 0 where an earlier run made it.",
                complete?.byteCount ?? 0
            ),
            .flag(
                "feed_backup_failed",
                "Whether the last backup since the start failed.",
                status.failure != nil
            ),
        ]
    }
}
