#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The clocks of the system, and the one way to sleep.
///
/// Intervals inside a module are measured with the standard library's `ContinuousClock`, whose
/// instants cannot be mixed up with times of day.
package enum SystemClock {
    /// Nanoseconds of the monotonic clock, which no correction of the time of day moves.
    package static func monotonicNanoseconds() -> UInt64 { read(monotonic) }

    /// Nanoseconds of the clock that runs on while the machine is suspended, which all processes read alike.
    package static func bootNanoseconds() -> UInt64 { read(boot) }

    // Darwin's CLOCK_MONOTONIC runs on while the machine sleeps.
    #if canImport(Darwin)
    private static var monotonic: clockid_t { CLOCK_UPTIME_RAW }
    private static var boot: clockid_t { CLOCK_MONOTONIC_RAW }
    #else
    private static var monotonic: clockid_t { CLOCK_MONOTONIC }
    private static var boot: clockid_t { CLOCK_BOOTTIME }
    #endif

    /// Microseconds since 1970, without leap seconds.
    package static func unixMicroseconds() -> UInt64 { read(CLOCK_REALTIME) / 1_000 }

    /// Milliseconds since 1970, without leap seconds.
    package static func unixMilliseconds() -> Int64 { Int64(read(CLOCK_REALTIME) / 1_000_000) }

    /// Milliseconds of a clock that no correction moves and that runs while the machine sleeps, since
    /// some time in this process.
    package static func continuousMilliseconds() -> Int64 {
        Int64(ContinuousClock.now.duration(to: start) / .milliseconds(-1))
    }

    private static let start = ContinuousClock.now

    /// Suspends the calling thread for at least some time; returns at once for zero or less.
    package static func sleep(for duration: Duration) {
        guard duration > .zero else { return }
        var time = timespec(nanoseconds(duration))
        var rest = time
        // A signal ends a sleep early, and the system then writes the rest.
        while unsafe nanosleep(&time, &rest) != 0, errno == EINTR { time = rest }
    }

    /// The monotonic clock's reading after some time, at most the largest one.
    static func monotonicNanoseconds(after duration: Duration) -> UInt64 {
        let (sum, isOver) = monotonicNanoseconds().addingReportingOverflow(nanoseconds(duration))
        return isOver ? UInt64(Int64.max) : min(sum, UInt64(Int64.max))
    }

    /// A clock's reading in nanoseconds; 0 below zero, and at most the largest `Int64`, which is a moment in
    /// the year 2262 of the time of day.
    package static func nanoseconds(seconds: Int, _ nanoseconds: Int) -> UInt64 {
        let (product, isOver) = UInt64(clamping: seconds)
            .multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isSumOver) = product.addingReportingOverflow(UInt64(clamping: nanoseconds))
        return isOver || isSumOver ? UInt64(Int64.max) : min(sum, UInt64(Int64.max))
    }

    private static func nanoseconds(_ duration: Duration) -> UInt64 {
        let (seconds, attoseconds) = duration.components
        let (product, isOver) = UInt64(clamping: seconds).multipliedReportingOverflow(
            by: 1_000_000_000
        )
        guard !isOver else { return UInt64(Int64.max) }
        return min(product, UInt64(Int64.max)) + UInt64(clamping: attoseconds) / 1_000_000_000
    }

    private static func read(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        let code = unsafe clock_gettime(clock, &time)
        precondition(code == 0, "The system has no such clock.")
        return nanoseconds(seconds: time.tv_sec, time.tv_nsec)
    }
}

extension timespec {
    /// A time in nanoseconds.
    init(_ nanoseconds: UInt64) {
        self.init(
            tv_sec: time_t(nanoseconds / 1_000_000_000),
            tv_nsec: Int(nanoseconds % 1_000_000_000)
        )
    }
}

// Public, because the load generator reads and subtracts several for every batch: the compiler
// inlines this across modules and would not inline a `package` type.

/// A point of the monotonic clock, which cannot be set.
public struct MonotonicInstant: Sendable, Hashable, Comparable {
    /// Nanoseconds since some moment before the process began.
    public var nanoseconds: UInt64

    /// The instant now; the clock is read anew.
    package static var now: Self { Self(nanoseconds: SystemClock.monotonicNanoseconds()) }

    /// The instant of that many nanoseconds.
    public init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    /// Whether `left` comes before.
    public static func < (left: Self, right: Self) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The time from an earlier instant to this one; negative if that one is later.
    public func duration(since earlier: Self) -> Duration {
        .nanoseconds(Int64(bitPattern: nanoseconds &- earlier.nanoseconds))
    }

    /// The instant that much later.
    public func advanced(by duration: Duration) -> Self {
        let (seconds, attoseconds) = duration.components
        let change = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        return Self(nanoseconds: nanoseconds &+ UInt64(bitPattern: change))
    }
}

extension Duration {
    /// The milliseconds of a duration that is not negative, rounded down.
    package var millisecondsRoundedDown: Int64 {
        components.seconds * 1_000 + components.attoseconds / Self.attosecondsPerMillisecond
    }

    /// The milliseconds of a duration that is not negative, rounded up: no timer fires early.
    package var millisecondsRoundedUp: Int64 {
        let (seconds, attoseconds) = components
        let unit = Self.attosecondsPerMillisecond
        return seconds * 1_000 + (attoseconds + unit - 1) / unit
    }

    private static var attosecondsPerMillisecond: Int64 { 1_000_000_000_000_000 }
}
