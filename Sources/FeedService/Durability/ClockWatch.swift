internal import Synchronization

/// Compares the time of day with a clock that only counts on: where the two part by more than five
/// minutes, somebody has set the clock, and posts would be stamped with times that are not theirs.
///
/// It is looked at every second; what the clock is corrected by in such steps is followed.
package final class ClockWatch: Sendable {
    /// The jump that is not followed.
    package static let limitMilliseconds: Int64 = 5 * 60 * 1000

    /// The two clocks when they last agreed.
    private struct Agreement {
        var wallMilliseconds: Int64
        var monotonicMilliseconds: Int64
    }

    private let agreement = Mutex<Agreement?>(nil)
    private let jump = Atomic<Int64>(0)

    /// A watch that has not looked yet.
    package init() {}

    /// How far the time of day is from where it should be, in milliseconds; 0 where it can be gone
    /// by.
    package var jumpMilliseconds: Int64 { jump.load(ordering: .relaxed) }

    /// Looks at both clocks; true where the answer to "has it jumped?" has changed.
    package func observe(wallMilliseconds: Int64, monotonicMilliseconds: Int64) -> Bool {
        let now = Agreement(
            wallMilliseconds: wallMilliseconds,
            monotonicMilliseconds: monotonicMilliseconds
        )
        let difference: Int64 = agreement.withLock { last in
            guard let before = last else {
                last = now
                return 0
            }
            let passed = monotonicMilliseconds - before.monotonicMilliseconds
            let difference = wallMilliseconds - before.wallMilliseconds - passed
            guard abs(difference) <= Self.limitMilliseconds else { return difference }
            last = now
            return 0
        }
        let old = jump.exchange(difference, ordering: .relaxed)
        return (old == 0) != (difference == 0)
    }
}
