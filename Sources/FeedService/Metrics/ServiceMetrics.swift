internal import FeedAccounts
internal import FeedAdmin
internal import FeedConcurrency
internal import FeedLog
internal import FeedRanking
internal import FeedState
internal import FeedTLS
internal import FeedTransport
internal import FoundationEssentials

// Each metric is one entry here: its name, what it counts, and how it is read. A name ends with the unit. The
// comment above it says what is normal, and `scripts/codebase/metrics.py --write` puts that into the table of
// docs/OPERATIONS.md.

extension MetricFamily {
    /// All metrics; those of the process alone while no service runs.
    static func all(of process: ProcessNumbers, _ service: ServiceNumbers?) -> [MetricFamily] {
        process.readiness + (service?.metrics ?? []) + (service?.state?.metrics ?? [])
            + process.usage
    }
}

extension ProcessNumbers {
    /// Whether the service takes clients, and whether its log is read.
    fileprivate var readiness: [MetricFamily] {
        [
            // Normal: 1
            .gauge(
                "feed_ready",
                "Whether the service takes clients: 0 while it recovers, drains, refuses changes or fails.",
                isReady
            ),
            // Normal: 0
            .counter(
                "feed_log_left_out_lines",
                "Lines of the log that were left out because standard error was not read.",
                log?.leftOutCount ?? 0
            ),
            // Normal: below 1
            .gauge(
                "feed_log_waiting_seconds",
                "How long lines of the log have waited for the reader of standard error.",
                log?.waitingTime(at: .now) ?? .zero
            ),
        ]
    }

    /// What the process uses, under the names that Prometheus' own libraries have.
    fileprivate var usage: [MetricFamily] {
        [
            // Normal: your load
            .counter("process_cpu_seconds", "Processor time of the process.", cpuSeconds),
            // Normal: [Sizes](#sizes)
            .gauge("process_resident_memory_bytes", "Memory of the process.", residentByteCount),
            // Normal: [Sizes](#sizes)
            .gauge("process_open_fds", "Open files of the process.", openFileCount),
            // Normal: more than these
            .gauge("process_max_fds", "Files that the process may open.", openFileLimit),
            // Normal: unchanged
            .gauge(
                "process_start_time_seconds",
                "When the process began, since 1970.",
                startTimeSeconds
            ),
        ]
    }
}

extension ServiceNumbers {
    fileprivate var metrics: [MetricFamily] { calls + connections + memory + cluster }

    /// What clients asked for, and how long their answers took.
    private var calls: [MetricFamily] {
        [
            // Normal: the `version` that you deployed, `fsync`
            MetricFamily(
                "feed_service",
                .info,
                help: "The version that runs, and what an answer outlives.",
                samples: [
                    MetricFamily.Sample(
                        1,
                        [("version", ServiceVersion.current), ("durability", durability)],
                        suffix: "_info"
                    )
                ]
            ),
            // Normal: your load; a batch is one
            .counter(
                "feed_calls",
                "Calls answered, by method; a batch of votes is one call.",
                by: "method",
                statistics.methods.map { ($0.name, statistics.requestCount($0)) }
            ),
            // Normal: few
            .counter(
                "feed_call_errors",
                "Calls answered with an error, by method.",
                by: "method",
                statistics.methods.map { ($0.name, statistics.errorCount($0)) }
            ),
            // Normal: no OVERLOADED, READ_ONLY, CLOCK_JUMPED, INTERNAL
            .counter("feed_errors", "Errors that calls got, by reason.", by: "reason", errorCounts),
            // Normal: a commit and 1 to 2 ms
            MetricFamily(
                "feed_call_duration_seconds",
                .histogram,
                help: "From the arrival of a call to its answer handed to the kernel, by method.",
                samples: statistics.methods.flatMap {
                    statistics.latency([$0]).samples([("method", $0.name)])
                }
            ),
            // Normal: the same
            MetricFamily(
                "feed_held_duration_seconds",
                .histogram,
                help: "How long answers were held until what they show was durable.",
                samples: statistics.heldTime.samples([])
            ),
            // Normal: up to the connections
            .gauge(
                "feed_held_writes",
                "Groups of answers that wait until what they show is durable.",
                statistics[.heldWrites]
            ),
            // Normal: your load
            .counter(
                "feed_batched_votes",
                "Votes in batches, beside those of feed_calls_total{method=\"cast_vote\"}.",
                statistics[.batchedVotes]
            ),
            // Normal: 0, some after networks break
            .counter(
                "feed_repeated_calls",
                "Numbered calls that had been executed before.",
                statistics[.repeatedCalls]
            ),
            // Normal: rises with votes
            .counter(
                "feed_index_refreshes",
                "Stripes whose indexes were refreshed between requests.",
                statistics[.refreshes]
            ),
            // Normal: most first pages
            .counter(
                "feed_kept_pages_served",
                "Pages that were served as they were kept, as nothing on them had changed.",
                statistics[.keptPagesServed]
            ),
            // Normal: rises with votes
            .counter(
                "feed_kept_pages_read",
                "Pages that were read anew and kept.",
                statistics[.keptPagesRead]
            ),
            // Normal: below 4 MiB a loop
            .gauge(
                "feed_kept_page_bytes",
                "Bytes of the pages that are kept.",
                statistics[.keptPageBytes]
            ),
            // Normal: under a thousandth of votes
            .counter(
                "feed_stripe_contentions",
                "How often a stripe's lock was taken when a thread wanted it.",
                store.contentionCount
            ),
        ]
    }

    /// The counts of errors.
    ///
    /// The reasons that alerts are about have one from the start: Prometheus counts nothing of the first
    /// value of a counter.
    private var errorCounts: [(String, UInt64)] {
        let counts = statistics.errorCounts()
        let missing = [
            "CLOCK_JUMPED", "INTERNAL", "NO_ROOM_FOR_POSTS", "OVERLOADED", "RATE_LIMITED",
            "READ_ONLY", "TOO_MANY_WATCHES",
        ].filter { reason in !counts.contains { $0.reason == reason } }
        return counts.map { ($0.reason, $0.count) } + missing.map { ($0, 0) }
    }

    private var connections: [MetricFamily] {
        [
            // Normal: below 10,000
            .gauge("feed_connections", "Open connections.", context.openConnectionCount),
            // Normal: rises slowly
            .counter(
                "feed_connections_accepted",
                "Connections accepted.",
                context.acceptedConnectionCount
            ),
            // Normal: 0
            .counter(
                "feed_connections_refused",
                "Connections turned away because there were too many.",
                context.refusedConnectionCount
            ),
            // Normal: near 0
            .counter(
                "feed_connections_closed",
                "Connections that the service closed, by reason.",
                by: "reason",
                [
                    ("bad_frame", statistics[.badFrames]), ("slow_frame", statistics[.slowFrames]),
                    ("over_budget", statistics[.overBudgetCloses]),
                    ("handshake", UInt64(acceptor?.failedCount ?? 0)),
                ]
            ),
            // Normal: 0
            .counter(
                "feed_accept_pauses",
                "How often accepting paused for want of a file descriptor.",
                context.acceptPauseCount
            ),
            // Normal: weeks ahead; 0 without TLS
            .gauge(
                "feed_tls_certificate_expiry_timestamp_seconds",
                "When the certificate of new TLS connections expires; 0 where there is none.",
                Double(acceptor?.context.expiry?.unixSeconds ?? 0)
            ),
            // Normal: 0
            .gauge(
                "feed_loop_stalled_seconds",
                "How long an event loop has stood still, from 2 s on; 0 where it turns.",
                by: "loop",
                statistics.loops.indices.map { ("\($0)", standing[.loop($0)] ?? .zero) }
            ),
            // Normal: a rate below 0.7
            .counter(
                "feed_loop_busy_seconds",
                "How long an event loop was not waiting.",
                by: "loop",
                statistics.loops.enumerated().map { ("\($0)", Double($1[.busyNanoseconds]) / 1e9) }
            ),
        ]
    }

    private var memory: [MetricFamily] {
        [
            // Normal: `posts` below its limit, `buffered` 96, `channels` and `snapshots` 64 MiB
            .gauge(
                "feed_memory_bytes",
                "Memory by kind: posts, held for connections, channels, snapshots.",
                by: "kind",
                [
                    ("posts", UInt64(clamping: store.postByteCount)),
                    ("buffered", context.bufferedByteCount),
                    ("channels", UInt64(clamping: context.channels.byteCount)),
                    ("snapshots", UInt64(clamping: snapshots.byteCount)),
                ]
            ),
            // Normal: 192 MiB
            .gauge(
                "feed_buffered_limit_bytes",
                "The bytes held for connections at which changes are refused.",
                context.limits.maximumBufferedByteCount
            ),
            // Normal: yours
            .gauge("feed_posts", "Posts in all feeds.", store.postCount),
            // Normal: half of the memory
            .gauge(
                "feed_post_limit_bytes",
                "The memory of posts at which new ones are refused; 0 is no limit.",
                context.limits.posts.memoryByteCount
            ),
            // Normal: 0
            .counter(
                "feed_posts_refused",
                "New posts and edits that were refused for a limit of posts.",
                context.posts.refusedCount
            ),
            // Normal: your readers
            .gauge("feed_snapshots", "Snapshots of STABLE lists.", snapshots.count),
            // Normal: below 12,000
            .gauge("feed_watches", "Watches of all connections.", context.watchAdmission.count),
            // Normal: clients of ten minutes
            .gauge("feed_channels", "Channels that are remembered.", context.channels.count),
            // Normal: 0
            .counter(
                "feed_channels_refused",
                "Hellos and calls that got no channel.",
                context.channels.refusedCount
            ),
            // Normal: 0
            .counter(
                "feed_devices_refused",
                "Ballots of new devices that were refused.",
                context.devices.refusedCount
            ),
            // Normal: below 2,000,000
            .gauge("feed_accounts", "Accounts, deleted ones too.", context.accounts.accountCount),
            // Normal: some per account
            .gauge("feed_sessions", "Sessions that have not ended.", context.accounts.sessionCount),
            // Normal: below 32
            .gauge(
                "feed_queued_hashes",
                "Passwords that wait to be hashed.",
                context.passwords.queuedCount
            ),
            // Normal: near 0
            .counter(
                "feed_sign_ins_refused",
                "Sign-ins that were refused without a look at the password.",
                refusedSignInCount
            ),
        ]
    }
}

extension ServiceNumbers {
    /// The service as one of a cluster's; 0 without one.
    private var cluster: [MetricFamily] {
        let node = context.node
        let leads = node?.isLeading == true
        let applied = node == nil ? 0 : state?.journal.durableBatch ?? 0
        let proposed = leads ? (state?.state.logs.openBatch ?? 1) - 1 : applied
        return [
            // Normal: 1 on one service of a cluster
            .gauge("feed_cluster_leads", "Whether the service leads its cluster.", leads),
            // Normal: 1
            .gauge(
                "feed_cluster_has_leader",
                "Whether the service knows that its cluster has a leader; 1 without a cluster.",
                node?.hasLeader ?? true
            ),
            // Normal: rises with each election
            .gauge(
                "feed_cluster_term",
                "The term of the cluster, as the service knows it.",
                node?.term ?? 0
            ),
            // Normal: the same on all, within a moment
            .gauge(
                "feed_cluster_committed_index",
                "The newest record of which the service knows that it is committed.",
                max(applied, node?.heardIndex ?? 0)
            ),
            // Normal: the same
            .gauge(
                "feed_cluster_applied_index",
                "The newest record that the service has.",
                applied
            ),
            // Normal: the same on all; rises after an upgrade
            .gauge(
                "feed_cluster_level",
                "The level of log entries that the cluster's records have come to.",
                UInt64(state?.state.clusterLevel ?? 0)
            ),
            // Normal: below 0.2; 0 on the leader
            .gauge(
                "feed_cluster_heard_age_seconds",
                "The age of what a follower shows; -1 if it has heard nothing yet.",
                leads || node == nil ? 0 : node?.heardAge.map { $0 / .seconds(1) } ?? -1
            ),
            // Normal: up to 4
            .gauge(
                "feed_cluster_window",
                "Commit batches that were proposed and are not committed.",
                proposed - min(applied, proposed)
            ),
        ]
    }
}

extension LatencyCounts {
    /// The ends of the ranges of times that histograms have, in seconds.
    private static let rangeEnds: [Double] = [
        0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
        2.5, 5, 10,
    ]

    /// The values of a histogram.
    ///
    /// A fine bucket that has an end of a range inside counts for the next range: a time is at most a
    /// sixteenth above what its range says.
    fileprivate func samples(_ labels: [MetricFamily.Label]) -> [MetricFamily.Sample] {
        func range(_ end: String, _ count: UInt64) -> MetricFamily.Sample {
            let labels = labels + [("le", end)]
            return MetricFamily.Sample(Double(count), labels, suffix: "_bucket")
        }
        var samples: [MetricFamily.Sample] = []
        var bucket = 0
        var passed: UInt64 = 0
        for end in Self.rangeEnds {
            while let last = LatencyHistogram.lastNanosecond(of: bucket), Double(last) <= end * 1e9
            {
                passed += buckets[bucket]
                bucket += 1
            }
            samples.append(range("\(end)", passed))
        }
        return samples + [
            range("+Inf", count),
            MetricFamily.Sample(Double(count), labels, suffix: "_count"),
            MetricFamily.Sample(Double(sumNanoseconds) / 1e9, labels, suffix: "_sum"),
        ]
    }
}

extension StateNumbers {
    fileprivate var metrics: [MetricFamily] {
        commitMetrics + checkpointMetrics + backupMetrics
    }

    /// Commits, the journal and its disk.
    private var commitMetrics: [MetricFamily] {
        [
            // Normal: up to 1,000 a second
            .counter("feed_commits", "Commits, each one write and one sync.", commits.commitCount),
            // Normal: your load
            .counter("feed_commit_changes", "Log entries in all commits.", commits.entryCount),
            // Normal: your load
            .counter("feed_commit_bytes", "Bytes of all commits.", commits.byteCount),
            // Normal: under 0.01 on an SSD
            MetricFamily(
                "feed_commit_duration_seconds",
                .summary,
                help: "Time of a commit, with percentiles of the latest 1,024.",
                samples: [
                    commitSample(commits.microseconds(percentile: 50), [("quantile", "0.5")]),
                    commitSample(commits.microseconds(percentile: 99), [("quantile", "0.99")]),
                    MetricFamily.Sample(Double(commits.commitCount), suffix: "_count"),
                    commitSample(commits.sumMicroseconds, suffix: "_sum"),
                ]
            ),
            // Normal: under 0.1
            .gauge(
                "feed_commit_longest_seconds",
                "The longest commit since the start.",
                Double(commits.maximumMicroseconds) / 1e6
            ),
            // Normal: under 0.1; clients wait so long
            .gauge(
                "feed_oldest_held_seconds",
                "How long the oldest change that is not durable has waited.",
                oldestWait
            ),
            // Normal: 256 to 384 MiB and kept segments
            .gauge("feed_journal_bytes", "Bytes of the journal's files.", journal.fileByteCount),
            // Normal: over 1 GiB
            .gauge(
                "feed_disk_free_bytes",
                "Free bytes of the data directory's disk.",
                journal.freeByteCount
            ),
            // Normal: 0
            .gauge(
                "feed_read_only",
                "Whether changes are refused because the disk has too little room.",
                !journal.isWritable
            ),
        ]
    }

    private func commitSample(
        _ microseconds: UInt64,
        _ labels: [MetricFamily.Label] = [],
        suffix: String = ""
    ) -> MetricFamily.Sample {
        MetricFamily.Sample(Double(microseconds) / 1e6, labels, suffix: suffix)
    }

    private var checkpointMetrics: [MetricFamily] {
        [
            // Normal: a few MiB; from 160 MiB on changes are slowed
            .gauge(
                "feed_checkpoint_lag_bytes",
                "Bytes that are durable and not yet in state.db.",
                backlog.pendingByteCount
            ),
            // Normal: 320 MiB
            .gauge(
                "feed_checkpoint_lag_limit_bytes",
                "The lag at which all changes are refused; from half of it on some are.",
                backlog.limitByteCount
            ),
            // Normal: 0
            .counter(
                "feed_checkpoint_refused_changes",
                "Changes refused because checkpoints do not keep up.",
                journal.refusedByCheckpoints
            ),
            // Normal: seconds
            .gauge(
                "feed_checkpoint_running_seconds",
                "How long the checkpoint under way has taken; 0 where none is.",
                checkpoints.timeUnderWay
            ),
            // Normal: 0
            .gauge(
                "feed_checkpoint_stood_still_seconds",
                "How long a step of a checkpoint has not returned, from 10 s on; 0 else.",
                standing[.checkpoint] ?? .zero
            ),
            // Normal: under 1
            .gauge(
                "feed_checkpoint_longest_step_seconds",
                "The longest step of a checkpoint since the start.",
                Double(checkpoints.longestStepMicroseconds) / 1e6
            ),
            // Normal: 0
            .gauge(
                "feed_checkpoint_stalled",
                "Whether state.db finds no room on the disk.",
                checkpoints.isStalled
            ),
        ]
    }

    private var backupMetrics: [MetricFamily] {
        [
            // Normal: 0
            .gauge("feed_backup_running", "Whether a backup is under way.", backups.isRunning),
            // Normal: 0
            .gauge(
                "feed_backup_stood_still_seconds",
                "How long a call of the backup under way has not returned, from 10 s on; 0 else.",
                standing[.backup] ?? .zero
            ),
            // Normal: within two `--backup-every`, or 26 h
            .gauge(
                "feed_backup_last_timestamp_seconds",
                "When the newest complete backup was made; 0 where there is none.",
                backups.complete?.date.timeIntervalSince1970 ?? 0
            ),
            // Normal: as `state.db`; 0 if an earlier run made it
            .gauge(
                "feed_backup_last_bytes",
                "Bytes of the newest complete backup; 0 where an earlier run made it.",
                backups.complete?.byteCount ?? 0
            ),
            // Normal: 0
            .gauge(
                "feed_backup_failed",
                "Whether the last backup since the start failed.",
                backups.failure != nil
            ),
        ]
    }
}
