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
    private let lastErrors = Lock<[Int: String]>([:])

    /// Counts a request, answered well or not.
    func countRequest(_ method: Method) { increment(requests[method.rawValue]) }

    /// Counts a refusal and keeps its reason as the call's last error.
    func countError(_ method: Method, _ reason: String) {
        increment(errors[method.rawValue])
        lastErrors.withLock { $0[method.rawValue] = reason }
    }

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
    func lastError(_ method: Method) -> String? { lastErrors.withLock { $0[method.rawValue] } }

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
