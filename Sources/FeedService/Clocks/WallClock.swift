internal import FoundationEssentials

/// The time of day, which people and posts go by; deadlines go by the loop's monotonic clock.
enum WallClock {
    /// Milliseconds since 1970, without leap seconds.
    static func unixMilliseconds() -> Int64 {
        Int64(Date.now.timeIntervalSince1970 * 1000)
    }

    /// Milliseconds of a monotonic clock, since some time.
    static func monotonicMilliseconds() -> Int64 {
        Int64(ContinuousClock.now.duration(to: start) / .milliseconds(-1))
    }

    private static let start = ContinuousClock.now
}
