internal import FeedAdmin
internal import FeedRanking

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
