import FeedConcurrency

/// How long calls may take, from now on.
struct TimeLimit: Sendable {
    /// The time that the caller gave, at most a day.
    let timeout: Duration
    /// When it is over.
    let deadline: MonotonicInstant

    /// A limit that begins at an instant, by default now.
    init(_ timeout: Duration, at start: MonotonicInstant = .now) {
        self.timeout = timeout.withinADay
        deadline = start.advanced(by: self.timeout)
    }
}
