package import FeedProto

/// How long calls took in the service, by its own clock and since it started.
///
/// The service times a call from the arrival of its frame to its answer handed to the kernel. What
/// a client waits beyond that is the way there and back: the network, the kernels, and the time
/// until the client reads.
package struct ServerTimes: Sendable, Equatable {
    /// The calls of a load that were timed, in the order of the operations.
    package var calls: [LatencyStats]
    /// How long answers were held until they were durable; nil where none is.
    package var held: LatencyStats?

    /// The times of some calls.
    package init(calls: [LatencyStats], held: LatencyStats?) {
        self.calls = calls
        self.held = held
    }

    /// The times of the calls that `configuration` makes, in what the service says of itself.
    init(_ stats: ServerStats, _ configuration: RunConfiguration) {
        let methods = configuration.mix.operations.map { operation in
            switch operation {
            case .vote: configuration.batchVoteCount > 1 ? "batch_cast_votes" : "cast_vote"
            case .create: "create_post"
            case .list, .page: "list_posts"
            case .get: "get_post"
            }
        }
        calls = Set(methods).sorted().compactMap { method in
            stats.latencies.first { $0.method == method }
        }
        held = stats.heldTime
    }

    /// The line of the report; nil where no call was timed.
    var text: String? {
        guard !calls.isEmpty else { return nil }
        let times = calls.map { "\($0.method) \(Self.percentiles($0))" }
        let held = held.map { "of it held until durable \(Self.percentiles($0))" }
        return (times + [held].compactMap(\.self)).joined(separator: "   ")
    }

    private static func percentiles(_ stats: LatencyStats) -> String {
        """
        p50 \(NumberFormat.milliseconds(Double(stats.medianNanoseconds)))  \
        p99 \(NumberFormat.milliseconds(Double(stats.p99Nanoseconds)))  \
        p99.9 \(NumberFormat.milliseconds(Double(stats.p999Nanoseconds))) ms
        """
    }
}

/// The times by method; those of `held` are of all methods.
extension ServerTimes: JSONDescribed {
    package static let members: [Member<ServerTimes>] = [
        .written("calls") { times in
            Dictionary(
                times.calls.map { ($0.method, Milliseconds(stats: $0)) },
                uniquingKeysWith: { first, _ in first }
            )
        },
        .written("held") { $0.held.map(Milliseconds.init) },
    ]

    private struct Milliseconds: JSONDescribed {
        let stats: LatencyStats

        static let members: [Member<Milliseconds>] = [
            .written("count") { $0.stats.answerCount },
            .written("p50") { Double($0.stats.medianNanoseconds) / 1e6 },
            .written("p90") { Double($0.stats.p90Nanoseconds) / 1e6 },
            .written("p99") { Double($0.stats.p99Nanoseconds) / 1e6 },
            .written("p999") { Double($0.stats.p999Nanoseconds) / 1e6 },
            .written("max") { Double($0.stats.maximumNanoseconds) / 1e6 },
        ]
    }
}
