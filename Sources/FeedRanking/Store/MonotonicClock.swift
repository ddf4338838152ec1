import Synchronization

/// A clock in Unix milliseconds that never goes back, over one that may.
struct MonotonicClock: ~Copyable, Sendable {
    private let latest = Atomic<Int64>(.min)
    private let clock: @Sendable () -> Int64

    /// Takes a clock that may go back, in Unix milliseconds.
    init(_ clock: @escaping @Sendable () -> Int64) {
        self.clock = clock
    }

    /// Lets no time be given out before this one.
    func raise(to milliseconds: Int64) {
        if milliseconds > latest.load(ordering: .relaxed) {
            latest.max(milliseconds, ordering: .relaxed)
        }
    }

    /// The latest time given out; `Int64.min` before the first.
    var latestGiven: Int64 { latest.load(ordering: .relaxed) }

    /// The time now, or the latest given out where the clock is behind it.
    func now() -> Int64 {
        latest.max(clock(), ordering: .relaxed).newValue
    }
}
