internal import Synchronization

/// How long one kind of thing took on one loop; only that loop writes it, and statistics read it.
///
/// A single writer needs no read-modify-write: counting costs some loads and stores, however many
/// things took the same time.
package final class LatencyHistogram: Sendable {
    private let counts = InlineArray<432, Atomic<UInt64>> { _ in Atomic(0) }
    private let sum = Atomic<UInt64>(0)
    private let longest = Atomic<UInt64>(0)

    /// Nothing counted yet.
    package init() {}

    /// Counts things that took a time each; O(1).
    package func count(_ count: Int, nanoseconds: UInt64) {
        let number = UInt64(truncatingIfNeeded: count)
        let bucket = LatencyScale.bucket(of: nanoseconds)
        Self.add(number, to: counts[bucket])
        Self.add(number &* nanoseconds, to: sum)
        if nanoseconds > longest.load(ordering: .relaxed) {
            longest.store(nanoseconds, ordering: .relaxed)
        }
    }

    /// The things whose time is in a bucket of ``LatencyScale``.
    func count(inBucket bucket: Int) -> UInt64 { counts[bucket].load(ordering: .relaxed) }

    /// The sum of all times.
    var sumNanoseconds: UInt64 { sum.load(ordering: .relaxed) }

    /// The longest time.
    var maximumNanoseconds: UInt64 { longest.load(ordering: .relaxed) }

    private static func add(_ number: UInt64, to counter: borrowing Atomic<UInt64>) {
        counter.store(counter.load(ordering: .relaxed) &+ number, ordering: .relaxed)
    }
}
