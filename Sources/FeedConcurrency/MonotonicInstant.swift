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
