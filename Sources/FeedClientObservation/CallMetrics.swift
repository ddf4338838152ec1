internal import FeedConcurrency
internal import Metrics

/// The counters and timers of calls, which are made once for each method and outcome.
final class CallMetrics: Sendable {
    private struct Outcome: Hashable {
        let method: CallMethod
        let name: String
    }

    private let timers: [CallMethod: Timer]
    private let counters = Lock<[Outcome: Counter]>([:])

    /// Metrics of the factory that the program has set up.
    init() {
        timers = Dictionary(
            uniqueKeysWithValues: CallMethod.allCases.map { method in
                let dimensions = [("method", method.rawValue)]
                return (method, Timer(label: "feed_client_call_duration", dimensions: dimensions))
            }
        )
    }

    /// Counts and times a call.
    func note(_ method: CallMethod, _ outcome: String, _ duration: Duration) {
        timers[method]?.record(duration: duration)
        let outcome = Outcome(method: method, name: outcome)
        let counter = counters.withLock { counters in
            if let counter = counters[outcome] { return counter }
            let counter = Counter(
                label: "feed_client_calls",
                dimensions: [("method", method.rawValue), ("outcome", outcome.name)]
            )
            counters[outcome] = counter
            return counter
        }
        counter.increment()
    }
}
