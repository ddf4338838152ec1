internal import FeedAdmin
internal import FeedJournal
internal import FeedRanking
internal import FeedState
internal import FeedTransport

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
