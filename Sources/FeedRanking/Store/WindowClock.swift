import Synchronization

/// The clock that ends windows, over a clock that may go back.
///
/// It stands still and goes back as `CreationClock` does, but it has its own latest time, so that
/// reads do not hold still the times of new posts. Each time that it goes back begins an era: posts
/// that have left a window may be within it again.
struct WindowClock: ~Copyable, Sendable {
    private let clock: CreationClock
    private let newest = Atomic<Int64>(0)
    private let eras = Atomic<UInt64>(0)

    /// Takes a clock that may go back, in Unix milliseconds.
    init(_ clock: @escaping @Sendable () -> Int64) {
        self.clock = CreationClock(clock)
    }

    /// The time now, and the number of its era; O(1).
    func now() -> (milliseconds: Int64, era: UInt64) {
        let time = clock.now()
        let last = newest.exchange(time, ordering: .relaxed)
        if time < last - RankingLimits.maximumClockHold {
            eras.wrappingAdd(1, ordering: .relaxed)
        }
        return (time, eras.load(ordering: .relaxed))
    }
}
