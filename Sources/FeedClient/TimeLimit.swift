internal import FeedConcurrency

/// How long calls may take, from now on.
struct TimeLimit: Sendable {
    /// The time that the caller gave, at most a day.
    let timeout: Duration
    let deadline: MonotonicInstant

    /// A limit that begins at an instant, by default now.
    init(_ timeout: Duration, at start: MonotonicInstant = .now) {
        self.timeout = timeout.withinADay
        deadline = start.advanced(by: self.timeout)
    }

    /// What has passed of the time.
    var spent: Duration { timeout - max(.zero, deadline.duration(since: .now)) }
}

extension Duration {
    /// The duration, at least zero and at most a day.
    ///
    /// A day is no limit for a call, and far from the end of any clock.
    var withinADay: Duration { min(max(self, .zero), .seconds(86_400)) }

    /// The whole nanoseconds of a duration of at most a day.
    var nanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}

extension MonotonicInstant {
    /// The time from an earlier instant as a frame carries it, at least a millisecond: 0 would be the
    /// service's default.
    ///
    /// In integers, as a division of durations costs as much as finding a call.
    func wireMilliseconds(since earlier: MonotonicInstant) -> UInt32 {
        let nanoseconds = Int64(bitPattern: self.nanoseconds &- earlier.nanoseconds)
        return UInt32(clamping: max(1, nanoseconds / 1_000_000))
    }
}
