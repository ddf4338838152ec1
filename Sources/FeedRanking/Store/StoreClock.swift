import Synchronization

/// The clock that times the creations and edits of posts, over a clock that may go back.
///
/// Times are Unix milliseconds.
///
/// The clock stands still while the time that it gave last is ahead, by at most
/// `RankingLimits.maximumClockHold`. Where the time given last is further ahead, the clock goes
/// back. Times of imported and restored posts do not move it.
struct CreationClock: ~Copyable, Sendable {
    private let latest = Atomic<Int64>(.min)
    private let clock: @Sendable () -> Int64

    init(_ clock: @escaping @Sendable () -> Int64) { self.clock = clock }

    /// The time of the clock within the bounds of a post's time; it is not held.
    func peek() -> Int64 { min(max(clock(), 0), RankingLimits.maximumTimeMilliseconds) }

    /// The time now, or the time given last where it is ahead by the limit at most.
    ///
    /// Always within the bounds of a post's time. O(1).
    func now() -> Int64 {
        let time = peek()
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

/// The clock that ends windows, over a clock that may go back.
///
/// It stands still and goes back as `CreationClock` does, but it has its own latest time, so that
/// reads do not hold still the times of new posts. Each time that it goes back begins an era: posts
/// that have left a window may be within it again.
struct WindowClock: ~Copyable, Sendable {
    private let clock: CreationClock
    private let newest = Atomic<Int64>(0)
    private let eras = Atomic<UInt64>(0)

    init(_ clock: @escaping @Sendable () -> Int64) { self.clock = CreationClock(clock) }

    /// The time now, and the number of its era; O(1).
    func now() -> (milliseconds: Int64, era: UInt64) {
        let time = clock.now()
        let last = newest.exchange(time, ordering: .relaxed)
        if time < last - RankingLimits.maximumClockHold { eras.wrappingAdd(1, ordering: .relaxed) }
        return (time, eras.load(ordering: .relaxed))
    }
}
