public import FeedClient
internal import FeedConcurrency
public import FeedProto
internal import Metrics
internal import Tracing

/// A client each of whose calls is a span and is counted and timed, in front of any other client.
///
/// Spans go to the tracer of swift-distributed-tracing, and metrics to the factory of swift-metrics, that
/// the program has set up. Without one of them, its part does nothing. A program that needs neither uses
/// its client as it is, and pays nothing.
///
/// ```swift
/// let client = ObservedFeedClient(try FeedClient(to: "127.0.0.1:7433"))
/// try await client.vote(on: 300, .up)    // the span "feed.CastVote"
/// ```
///
/// | Metric | Dimensions |
/// | --- | --- |
/// | `feed_client_calls` (counter) | `method`, and `outcome`: `ok`, or the name of the error |
/// | `feed_client_call_duration` (timer) | `method` |
public struct ObservedFeedClient<Base: FeedCalling>: FeedCalling {
    private let base: Base
    private let metrics: CallMetrics

    /// A client in front of another one.
    public init(_ base: Base) {
        self.init(base, CallMetrics())
    }

    private init(_ base: Base, _ metrics: CallMetrics) {
        self.base = base
        self.metrics = metrics
    }

    /// What the service answered to the last Hello.
    public var service: HelloResponse? { base.service }

    /// Who is signed in now; nil is nobody.
    public var user: User? { base.user }

    /// The user of now, and each one that follows.
    public var userChanges: AsyncStream<User?> { base.userChanges }

    /// Lets the other client answer, and notes how that ended.
    public func answer(
        to request: Request,
        minimumRevision: UInt64,
        timeout: Duration?
    ) async throws(FeedClientError) -> Answer {
        let method = request.name
        let span = startSpan("feed.\(method)", ofKind: .client)
        let start = ContinuousClock.now
        defer { span.end() }
        do throws(FeedClientError) {
            let answer = try await base.answer(
                to: request,
                minimumRevision: minimumRevision,
                timeout: timeout
            )
            metrics.note(method, "ok", start.duration(to: .now))
            return answer
        } catch {
            metrics.note(method, error.name, start.duration(to: .now))
            span.recordError(error)
            span.setStatus(SpanStatus(code: .error, message: error.name))
            throw error
        }
    }

    /// The same client, whose calls act for a user.
    public func acting(for userID: UserID) -> Self {
        Self(base.acting(for: userID), metrics)
    }

    /// Closes the other client.
    public func close() async { await base.close() }
}

extension ObservedFeedClient: FeedWatching where Base: FeedWatching {
    /// The other client's watch, which is neither a span nor counted: it has no end of its own.
    public func watch(_ watch: PostWatch, interval: Duration?) -> WatchSequence {
        base.watch(watch, interval: interval)
    }
}

extension FeedClientError {
    /// The name of the error; of a refusal, its reason.
    fileprivate var name: String {
        switch self {
        case .refused(let status): status.reason.rawValue
        case .badAddress: "bad_address"
        case .cannotConnect: "cannot_connect"
        case .unknownHost: "unknown_host"
        case .inDoubt: "in_doubt"
        case .connectionLost: "connection_lost"
        case .deadlinePassed: "deadline_passed"
        case .cancelled: "cancelled"
        case .closed: "closed"
        case .requestTooLarge: "request_too_large"
        case .protocolViolation: "protocol_violation"
        }
    }
}

/// The counters and timers of calls, each made with the first call that it is of.
private final class CallMetrics: Sendable {
    private struct Outcome: Hashable {
        let method: String
        let name: String
    }

    private let timers = Lock<[String: Timer]>([:])
    private let counters = Lock<[Outcome: Counter]>([:])

    /// Counts and times a call.
    func note(_ method: String, _ outcome: String, _ duration: Duration) {
        let timer = timers.withLock {
            $0.value(of: method) {
                Timer(label: "feed_client_call_duration", dimensions: [("method", method)])
            }
        }
        timer.record(duration: duration)
        let counter = counters.withLock {
            $0.value(of: Outcome(method: method, name: outcome)) {
                let dimensions = [("method", method), ("outcome", outcome)]
                return Counter(label: "feed_client_calls", dimensions: dimensions)
            }
        }
        counter.increment()
    }
}

extension Dictionary {
    /// The value of a key, made and kept if there is none.
    fileprivate mutating func value(of key: Key, make: () -> Value) -> Value {
        if let value = self[key] { return value }
        let value = make()
        self[key] = value
        return value
    }
}
