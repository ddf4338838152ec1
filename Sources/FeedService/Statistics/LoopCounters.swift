internal import FeedConcurrency
internal import Synchronization

/// The counts of one loop; only that loop writes them, and statistics read them.
///
/// A single writer needs no read-modify-write, so that counting costs a load and a store.
final class LoopCounters: Sendable {
    /// What is counted beside calls.
    enum Count: Int {
        /// Connections closed because a frame was no message.
        case badFrames
        /// Connections closed because a frame did not arrive whole in time.
        case slowFrames
        /// Connections closed because too much was held, and most of it for their hosts.
        case overBudgetCloses
        /// Calls that had been executed before and got the outcome of that.
        case repeatedCalls
        case batchedVotes
        /// Stripes that were refreshed between requests.
        case refreshes
        /// First pages that were served as they were kept.
        case keptPagesServed
        /// First pages that were read to be kept.
        case keptPagesRead
        /// The bytes of the pages that are kept.
        case keptPageBytes
        /// Writes of answers that are held, when a commit batch last began or was released.
        case heldWrites
        /// How long the loop had not waited when it was last asked, in nanoseconds.
        case busyNanoseconds
    }

    fileprivate struct Reasons {
        var last: [Int: String] = [:]
        /// How often each was given.
        var counts: [String: UInt64] = [:]
    }

    fileprivate let requests = InlineArray<32, Atomic<UInt64>> { _ in Atomic(0) }
    fileprivate let errors = InlineArray<32, Atomic<UInt64>> { _ in Atomic(0) }
    private let others = InlineArray<16, Atomic<UInt64>> { _ in Atomic(0) }
    fileprivate let reasons = Lock(Reasons())
    private let latencies = Method.allCases.map { _ in LatencyHistogram() }
    /// How long answers were held until what they show was durable.
    let heldTime = LatencyHistogram()

    /// Counts requests of one method, answered well or not.
    func countRequests(_ method: Method, _ count: Int = 1) {
        Self.add(count, to: requests[method.rawValue])
    }

    /// Counts a refusal and keeps its reason as the call's last error.
    func countError(_ method: Method, _ reason: String) {
        Self.add(1, to: errors[method.rawValue])
        reasons.withLock { reasons in
            reasons.last[method.rawValue] = reason
            reasons.counts[reason, default: 0] += 1
        }
    }

    func count(_ what: Count, _ number: Int = 1) { Self.add(number, to: others[what.rawValue]) }

    /// Sets what is no sum.
    func set(_ what: Count, to value: Int) {
        others[what.rawValue].store(UInt64(value), ordering: .relaxed)
    }

    /// Sets how long the loop has not waited since its start.
    func setBusyTime(_ time: Duration) {
        let (seconds, attoseconds) = time.components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        set(.busyNanoseconds, to: max(0, Int(nanoseconds)))
    }

    subscript(what: Count) -> UInt64 { others[what.rawValue].load(ordering: .relaxed) }

    /// How long the answers of a call have taken.
    func latency(_ method: Method) -> LatencyHistogram { latencies[method.rawValue] }

    private static func add(_ number: Int, to counter: borrowing Atomic<UInt64>) {
        let sum = counter.load(ordering: .relaxed) &+ UInt64(truncatingIfNeeded: number)
        counter.store(sum, ordering: .relaxed)
    }
}

/// The sums of the counts of all loops.
struct ServiceStatistics {
    let loops: [LoopCounters]

    subscript(what: LoopCounters.Count) -> UInt64 { loops.reduce(0) { $0 + $1[what] } }

    func requestCount(_ method: Method) -> UInt64 {
        loops.reduce(0) { $0 + $1.requests[method.rawValue].load(ordering: .relaxed) }
    }

    /// The calls that were made at least once.
    var methods: [Method] { Method.allCases.filter { requestCount($0) > 0 } }

    func errorCount(_ method: Method) -> UInt64 {
        loops.reduce(0) { $0 + $1.errors[method.rawValue].load(ordering: .relaxed) }
    }

    /// The reason of a call's last refusal; empty if it had none.
    func lastError(_ method: Method) -> String {
        loops.lazy.compactMap { $0.reasons.withLock { $0.last[method.rawValue] } }.first ?? ""
    }

    /// How often each reason was given, the most frequent first.
    func errorCounts() -> [(reason: String, count: UInt64)] {
        var counts: [String: UInt64] = [:]
        for loop in loops { counts.merge(loop.reasons.withLock { $0.counts }, uniquingKeysWith: +) }
        return counts.map { (reason: $0.key, count: $0.value) }
            .sorted { ($1.count, $0.reason) < ($0.count, $1.reason) }
    }

    /// How long the answers of some calls have taken.
    func latency(_ methods: [Method]) -> LatencyCounts {
        LatencyCounts(methods.flatMap { method in loops.map { $0.latency(method) } })
    }

    /// How long answers were held until what they show was durable.
    var heldTime: LatencyCounts { LatencyCounts(loops.lazy.map(\.heldTime)) }
}
