package import FeedConcurrency

/// The unit of time of watches: an event is late by so much, or by three times as much beside many
/// others, and all watches of a list that are served in a tick share one read of the list.
package enum WatchTick {
    /// The length of a tick.
    package static let interval = Duration.milliseconds(10)
    private static let nanoseconds: UInt64 = 10_000_000

    /// The number of the tick that an instant is in.
    package static func number(of instant: MonotonicInstant) -> UInt64 {
        instant.nanoseconds / nanoseconds
    }

    /// The number of the first tick that begins at an instant or later.
    package static func number(from instant: MonotonicInstant) -> UInt64 {
        (instant.nanoseconds + nanoseconds - 1) / nanoseconds
    }
}
