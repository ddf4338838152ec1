package import FeedConcurrency

/// The unit of time of watches: an event is late by two of them at most, and by four where many others
/// are due in its tick, and all watches of a list that are served in a tick share one read of the list.
package enum WatchTick {
    /// The length of a tick.
    package static let interval = Duration.milliseconds(10)
    /// The connections that a loop serves in one iteration, at most.
    static let portionConnectionCount = 8
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
