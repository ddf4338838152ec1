import Synchronization

/// A clock in Unix milliseconds that does not go back by a little, over one that may.
///
/// Only times that it has given itself hold it up, and only within `RankingLimits.maximumClockHold`:
/// where it has given later times than that, it takes the time that there is. No time from
/// elsewhere, as that of an imported or a restored post, moves it.
struct MonotonicClock: ~Copyable, Sendable {
    private let latest = Atomic<Int64>(.min)
    private let clock: @Sendable () -> Int64

    /// Takes a clock that may go back, in Unix milliseconds.
    init(_ clock: @escaping @Sendable () -> Int64) {
        self.clock = clock
    }

    /// The time now, or the latest given where that is ahead by the limit of the hold at most.
    ///
    /// Always within the bounds of a post's time. O(1).
    func now() -> Int64 {
        let time = min(max(clock(), 0), RankingLimits.maximumTimeMilliseconds)
        var last = latest.load(ordering: .relaxed)
        while true {
            if last > time, last - time <= RankingLimits.maximumClockHold { return last }
            let (isDone, found) = latest.weakCompareExchange(
                expected: last,
                desired: time,
                ordering: .relaxed
            )
            if isDone { return time }
            last = found
        }
    }
}
