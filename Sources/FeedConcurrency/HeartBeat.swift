internal import Synchronization

/// When a thread has gone on last: it notes that, and any thread reads for how long it has not.
package final class HeartBeat: Sendable {
    /// In nanoseconds of the monotonic clock; 0 where nothing is under way.
    private let last = Atomic<UInt64>(0)

    /// Nothing is under way.
    package init() {}

    /// It goes on, to a call that may not return.
    package func beat() { last.store(SystemClock.monotonicNanoseconds(), ordering: .relaxed) }

    /// Nothing is under way any more.
    package func end() { last.store(0, ordering: .relaxed) }

    /// How long ago the last beat was; nil where nothing is under way.
    package var standingTime: Duration? {
        let last = last.load(ordering: .relaxed)
        guard last != 0 else { return nil }
        let now = SystemClock.monotonicNanoseconds()
        return now < last ? .zero : .nanoseconds(Int64(clamping: now - last))
    }
}
