internal import FeedAccounts
internal import FeedAdmin
internal import FeedRanking
internal import FeedTLS
internal import FeedTransport

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
