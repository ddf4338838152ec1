internal import FeedConcurrency
internal import Synchronization

/// The counts of one loop; only that loop writes them, and statistics read them.
///
/// A single writer needs no read-modify-write, so that counting costs a load and a store.
final class LoopCounters: Sendable {
    private let requests = InlineArray<32, Atomic<UInt64>> { _ in Atomic(0) }
    private let errors = InlineArray<32, Atomic<UInt64>> { _ in Atomic(0) }
    private let badFrames = Atomic<UInt64>(0)
    private let heldWrites = Atomic<UInt64>(0)
    private let slowFrames = Atomic<UInt64>(0)
    private let overBudgetCloses = Atomic<UInt64>(0)
    private let repeatedCalls = Atomic<UInt64>(0)
    private let batchedVotes = Atomic<UInt64>(0)
    private let refreshes = Atomic<UInt64>(0)
    private let keptPagesServed = Atomic<UInt64>(0)
    private let keptPagesRead = Atomic<UInt64>(0)
    private let keptPageBytes = Atomic<UInt64>(0)
    private let busyTime = Atomic<UInt64>(0)
    private let reasons = Lock(Reasons())
    private let latencies = Method.allCases.map { _ in LatencyHistogram() }
    /// How long answers were held until what they show was durable.
    let heldTime = LatencyHistogram()

    /// The reasons of refusals.
    private struct Reasons {
        /// The last one of each call.
        var last: [Int: String] = [:]
        /// How often each was given.
        var counts: [String: UInt64] = [:]
    }

    /// Counts requests of one method, answered well or not.
    func countRequests(_ method: Method, _ count: Int = 1) {
        let counter = requests[method.rawValue].load(ordering: .relaxed)
        requests[method.rawValue].store(
            counter &+ UInt64(truncatingIfNeeded: count),
            ordering: .relaxed
        )
    }

    /// How long the answers of a call have taken.
    func latency(_ method: Method) -> LatencyHistogram { latencies[method.rawValue] }

    /// Counts a refusal and keeps its reason as the call's last error.
    func countError(_ method: Method, _ reason: String) {
        increment(errors[method.rawValue])
        reasons.withLock { reasons in
            reasons.last[method.rawValue] = reason
            reasons.counts[reason, default: 0] += 1
        }
    }

    /// How often each reason was given.
    var reasonCounts: [String: UInt64] { reasons.withLock { $0.counts } }

    /// Counts votes in a batch.
    func countBatchedVotes(_ count: Int) {
        batchedVotes.store(
            batchedVotes.load(ordering: .relaxed) &+ UInt64(truncatingIfNeeded: count),
            ordering: .relaxed
        )
    }

    /// The votes in batches.
    var batchedVoteCount: UInt64 { batchedVotes.load(ordering: .relaxed) }

    /// Counts a stripe that was refreshed between requests.
    func countRefresh() { increment(refreshes) }

    /// The stripes that were refreshed between requests.
    var refreshCount: UInt64 { refreshes.load(ordering: .relaxed) }

    /// Counts a first page that was served as it was kept.
    func countKeptPageServed() { increment(keptPagesServed) }

    /// The first pages that were served as they were kept.
    var keptPageServedCount: UInt64 { keptPagesServed.load(ordering: .relaxed) }

    /// Counts a first page that was read to be kept, when all kept pages have so many bytes.
    func countKeptPageRead(byteCount: Int) {
        increment(keptPagesRead)
        keptPageBytes.store(UInt64(byteCount), ordering: .relaxed)
    }

    /// The first pages that were read to be kept.
    var keptPageReadCount: UInt64 { keptPagesRead.load(ordering: .relaxed) }

    /// The bytes of the pages that are kept.
    var keptPageByteCount: UInt64 { keptPageBytes.load(ordering: .relaxed) }

    /// Sets how long the loop has not waited since its start.
    func setBusyTime(_ time: Duration) {
        let (seconds, attoseconds) = time.components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        busyTime.store(UInt64(clamping: nanoseconds), ordering: .relaxed)
    }

    /// How long the loop had not waited when it was last asked, in nanoseconds.
    var busyNanoseconds: UInt64 { busyTime.load(ordering: .relaxed) }

    /// Counts a frame that was no message, which ended its connection.
    func countBadFrame() { increment(badFrames) }

    /// Counts a frame that did not arrive whole in time, which ended its connection.
    func countSlowFrame() { increment(slowFrames) }

    /// Counts a connection that was closed because too much was held.
    func countOverBudgetClose() { increment(overBudgetCloses) }

    /// The connections that were closed because too much was held.
    var overBudgetCloseCount: UInt64 { overBudgetCloses.load(ordering: .relaxed) }

    /// Counts a call that had been executed before.
    func countRepeatedCall() { increment(repeatedCalls) }

    /// The number of calls that had been executed before.
    var repeatedCallCount: UInt64 { repeatedCalls.load(ordering: .relaxed) }

    /// The number of requests of a call.
    func requestCount(_ method: Method) -> UInt64 {
        requests[method.rawValue].load(ordering: .relaxed)
    }

    /// The number of refusals of a call.
    func errorCount(_ method: Method) -> UInt64 { errors[method.rawValue].load(ordering: .relaxed) }

    /// The reason of a call's last refusal on this loop.
    func lastError(_ method: Method) -> String? { reasons.withLock { $0.last[method.rawValue] } }

    /// The number of frames that were no message.
    var badFrameCount: UInt64 { badFrames.load(ordering: .relaxed) }

    /// The number of frames that arrived too slowly.
    var slowFrameCount: UInt64 { slowFrames.load(ordering: .relaxed) }

    /// Sets the number of writes of answers that the loop holds.
    func setHeldWrites(_ count: Int) { heldWrites.store(UInt64(count), ordering: .relaxed) }

    /// The number of writes of answers that the loop holds, when a commit batch last began or was
    /// released.
    var heldWriteCount: UInt64 { heldWrites.load(ordering: .relaxed) }

    private func increment(_ counter: borrowing Atomic<UInt64>) {
        counter.store(counter.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }
}
