internal import FeedAccounts
internal import FeedAdmin
internal import FeedJournal
internal import FeedRanking
internal import FeedState
internal import FeedTLS
internal import FeedTransport
internal import FoundationEssentials

/// The metrics of a running service; `docs/OPERATIONS.md` has a table of them, and a test compares both.
///
/// Reading them takes no lock that a vote waits for: the loops count, and this adds their counts up.
struct ServiceMetrics {
    /// The context of all loops.
    let context: ServiceContext
    /// The posts.
    let store: FeedStore
    /// Secures connections; nil without a secured address.
    let acceptor: TLSAcceptor?
    /// The sums of the counts of all loops.
    var statistics: ServiceStatistics { ServiceStatistics(loops: context.counters) }

    /// All metrics, as they are now.
    func families() -> [MetricFamily] {
        var families = [info]
        families += calls()
        families += connections()
        families += memory()
        if let state = context.state {
            families += commits(of: state)
            families += checkpoints(of: state)
            families += backups(of: state)
        }
        return families
    }

    private var info: MetricFamily {
        MetricFamily(
            "feed_service",
            .info,
            help: "The version that runs, and what an answer outlives.",
            samples: [
                MetricFamily.Sample(
                    1,
                    [
                        MetricFamily.Label("version", ServiceVersion.current),
                        MetricFamily.Label(
                            "durability",
                            context.state?.durability.rawValue ?? "none"
                        ),
                    ],
                    suffix: "_info"
                )
            ]
        )
    }
}

/// What clients asked for, and how long their answers took.
extension ServiceMetrics {
    /// The ends of the ranges of times that histograms have, in seconds.
    static let rangeEnds: [Double] = [
        0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
        2.5, 5,
        10,
    ]

    /// The metrics of calls.
    func calls() -> [MetricFamily] {
        let statistics = statistics
        let methods = Method.allCases.filter { statistics.requestCount($0) > 0 }
        return [
            MetricFamily(
                "feed_calls",
                .counter,
                help: "Calls answered, by method; a batch of votes is one call.",
                samples: methods.map { .total(Double(statistics.requestCount($0)), [.method($0)]) }
            ),
            MetricFamily(
                "feed_call_errors",
                .counter,
                help: "Calls answered with an error, by method.",
                samples: methods.map { .total(Double(statistics.errorCount($0)), [.method($0)]) }
            ),
            MetricFamily(
                "feed_errors",
                .counter,
                help: "Errors that calls got, by reason.",
                samples: Self.errorSamples(statistics.errorCounts())
            ),
            MetricFamily(
                "feed_call_duration_seconds",
                .histogram,
                unit: "seconds",
                help: "From the arrival of a call to its answer handed to the kernel, by method.",
                samples: methods.flatMap { method in
                    Self.samples(of: statistics.latency(method), [.method(method)])
                }
            ),
            MetricFamily(
                "feed_held_duration_seconds",
                .histogram,
                unit: "seconds",
                help: "How long answers were held until what they show was durable.",
                samples: Self.samples(of: statistics.heldTime, [])
            ),
            .gauge(
                "feed_held_writes",
                "Groups of answers that wait until what they show is durable.",
                statistics.heldWriteCount
            ),
            .counter(
                "feed_batched_votes",
                "Votes in batches, beside those of feed_calls_total{method=\"cast_vote\"}.",
                statistics.batchedVoteCount
            ),
            .counter(
                "feed_repeated_calls",
                "Numbered calls that had been executed before.",
                statistics.repeatedCallCount
            ),
            .counter(
                "feed_index_refreshes",
                "Stripes whose indexes were refreshed between requests.",
                statistics.refreshCount
            ),
            .counter(
                "feed_kept_pages_served",
                "Pages that were served as they were kept, as nothing on them had changed.",
                statistics.keptPageServedCount
            ),
            .counter(
                "feed_kept_pages_read",
                "Pages that were read anew and kept.",
                statistics.keptPageReadCount
            ),
            .gauge(
                "feed_kept_page_bytes",
                unit: "bytes",
                "Bytes of the pages that are kept.",
                statistics.keptPageByteCount
            ),
            .counter(
                "feed_stripe_contentions",
                "How often a stripe's lock was taken when a thread wanted it.",
                store.contentionCount
            ),
        ]
    }

    /// The reasons that alerts are about have a value from the start: Prometheus counts nothing of the
    /// first value of a counter.
    private static func errorSamples(
        _ counts: [(reason: String, count: UInt64)]
    ) -> [MetricFamily.Sample] {
        let missing = [
            "CLOCK_JUMPED", "INTERNAL", "NO_ROOM_FOR_POSTS", "OVERLOADED", "RATE_LIMITED",
            "READ_ONLY", "TOO_MANY_WATCHES",
        ]
        .filter { reason in !counts.contains { $0.reason == reason } }
        return (counts + missing.map { (reason: $0, count: 0) }).map {
            .total(Double($0.count), [MetricFamily.Label("reason", $0.reason)])
        }
    }

    /// The values of a histogram.
    ///
    /// A fine bucket that has an end of a range inside counts for the next range: a time is at most a
    /// sixteenth above what its range says.
    private static func samples(
        of counts: LatencyCounts,
        _ labels: [MetricFamily.Label]
    ) -> [MetricFamily.Sample] {
        var samples: [MetricFamily.Sample] = []
        var bucket = 0
        var passed: UInt64 = 0
        for end in rangeEnds {
            while let last = LatencyScale.lastNanosecond(of: bucket), Double(last) <= end * 1e9 {
                passed += counts.buckets[bucket]
                bucket += 1
            }
            samples.append(
                MetricFamily.Sample(
                    Double(passed),
                    labels + [MetricFamily.Label("le", "\(end)")],
                    suffix: "_bucket"
                )
            )
        }
        samples.append(
            MetricFamily.Sample(
                Double(counts.count),
                labels + [MetricFamily.Label("le", "+Inf")],
                suffix: "_bucket"
            )
        )
        samples.append(MetricFamily.Sample(Double(counts.count), labels, suffix: "_count"))
        let sum = Double(counts.sumNanoseconds) / 1e9
        samples.append(MetricFamily.Sample(sum, labels, suffix: "_sum"))
        return samples
    }
}

extension MetricFamily.Label {
    /// The label of a method.
    fileprivate static func method(_ method: Method) -> Self { Self("method", method.name) }
}

/// Connections, loops, and what is kept for clients.
extension ServiceMetrics {
    /// The metrics of connections and loops.
    func connections() -> [MetricFamily] {
        let statistics = statistics
        return [
            .gauge("feed_connections", "Open connections.", context.openConnectionCount),
            .counter(
                "feed_connections_accepted",
                "Connections accepted.",
                context.acceptedConnectionCount
            ),
            .counter(
                "feed_connections_refused",
                "Connections turned away because there were too many.",
                context.refusedConnectionCount
            ),
            MetricFamily(
                "feed_connections_closed",
                .counter,
                help: "Connections that the service closed, by reason.",
                samples: [
                    closed("bad_frame", statistics.badFrameCount),
                    closed("slow_frame", statistics.slowFrameCount),
                    closed("over_budget", statistics.overBudgetCloseCount),
                    closed("handshake", UInt64(acceptor?.failedCount ?? 0)),
                ]
            ),
            .counter(
                "feed_accept_pauses",
                "How often accepting paused for want of a file descriptor.",
                context.acceptPauseCount
            ),
            .seconds(
                "feed_tls_certificate_expiry_timestamp_seconds",
                "When the certificate of new TLS connections expires; 0 where there is none.",
                Double(acceptor?.context.expiry?.unixSeconds ?? 0)
            ),
            MetricFamily(
                "feed_loop_stalled_seconds",
                .gauge,
                unit: "seconds",
                help: "How long an event loop has stood still, from 2 s on; 0 where it turns.",
                samples: context.counters.indices.map { number in
                    let time = context.stalls.times[.loop(number)] ?? .zero
                    return MetricFamily.Sample(
                        time / .seconds(1),
                        [MetricFamily.Label("loop", "\(number)")]
                    )
                }
            ),
            MetricFamily(
                "feed_loop_busy_seconds",
                .counter,
                unit: "seconds",
                help: "How long an event loop was not waiting.",
                samples: context.counters.enumerated().map { number, counters in
                    .total(
                        Double(counters.busyNanoseconds) / 1e9,
                        [MetricFamily.Label("loop", "\(number)")]
                    )
                }
            ),
        ]
    }

    private func closed(_ reason: String, _ count: UInt64) -> MetricFamily.Sample {
        .total(Double(count), [MetricFamily.Label("reason", reason)])
    }

    /// The metrics of what is kept in memory.
    func memory() -> [MetricFamily] {
        let snapshots = store.snapshotUsage
        return [
            MetricFamily(
                "feed_memory_bytes",
                .gauge,
                unit: "bytes",
                help: "Memory by kind: posts, held for connections, channels, snapshots.",
                samples: [
                    memory("posts", UInt64(clamping: store.postByteCount)),
                    memory("buffered", context.bufferedByteCount),
                    memory("channels", UInt64(clamping: context.channels.byteCount)),
                    memory("snapshots", UInt64(clamping: snapshots.byteCount)),
                ]
            ),
            .gauge(
                "feed_buffered_limit_bytes",
                unit: "bytes",
                "The bytes held for connections at which changes are refused.",
                context.limits.maximumBufferedByteCount
            ),
            .gauge("feed_posts", "Posts in all feeds.", store.postCount),
            .gauge(
                "feed_post_limit_bytes",
                unit: "bytes",
                "The memory of posts at which new ones are refused; 0 is no limit.",
                context.limits.posts.memoryByteCount
            ),
            .counter(
                "feed_posts_refused",
                "New posts and edits that were refused for a limit of posts.",
                context.posts.refusedCount
            ),
            .gauge("feed_snapshots", "Snapshots of STABLE lists.", snapshots.count),
            .gauge("feed_watches", "Watches of all connections.", context.watchAdmission.count),
            .gauge("feed_channels", "Channels that are remembered.", context.channels.count),
            .counter(
                "feed_channels_refused",
                "Hellos and calls that got no channel.",
                context.channels.refusedCount
            ),
            .counter(
                "feed_devices_refused",
                "Ballots of new devices that were refused.",
                context.devices.refusedCount
            ),
            .gauge("feed_accounts", "Accounts.", context.accounts.accountCount),
            .gauge("feed_sessions", "Sessions that have not ended.", context.accounts.sessionCount),
            .gauge(
                "feed_queued_hashes",
                "Passwords that wait to be hashed.",
                context.passwords.queuedCount
            ),
            .counter(
                "feed_sign_ins_refused",
                "Sign-ins that were refused without a look at the password.",
                context.signInLimits.refusedCount + context.passwords.refusedCount
            ),
        ]
    }

    private func memory(_ kind: String, _ byteCount: UInt64) -> MetricFamily.Sample {
        MetricFamily.Sample(Double(byteCount), [MetricFamily.Label("kind", kind)])
    }
}

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
