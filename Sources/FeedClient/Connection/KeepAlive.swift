package import FeedConcurrency

/// When to ask the service for a sign of life, and when to give it up; a value without a clock.
package struct KeepAlive {
    /// What to do now.
    package enum Action: Equatable {
        case nothing
        case ping
        case giveUp
    }

    private let interval: Duration
    private let timeout: Duration
    private var lastSent: MonotonicInstant
    private var lastHeard: MonotonicInstant
    private var pinged: MonotonicInstant?
    private var isOverdue = false

    /// The patience of a connection that opened at `now`.
    package init(interval: Duration, timeout: Duration, at now: MonotonicInstant) {
        self.interval = interval.withinADay
        self.timeout = timeout.withinADay
        lastSent = now
        lastHeard = now
    }

    /// How often to call ``check(at:)``: a late answer is late by at most half a wait.
    package var checkInterval: Duration { min(interval, timeout) / 4 }

    /// Something was sent to the service.
    package mutating func sent(at now: MonotonicInstant) {
        lastSent = now
    }

    /// Something came from the service: it lives.
    package mutating func heard(at now: MonotonicInstant) {
        lastHeard = now
        pinged = nil
        isOverdue = false
    }

    /// Says what to do; a ping that it asks for counts as sent.
    ///
    /// Silence of either side counts: the service listens for the client, and calls without any
    /// answer for so long hang on a connection that may be dead. A due answer is awaited until the
    /// next check: it may have arrived while this thread was held up, and is read in between.
    package mutating func check(at now: MonotonicInstant) -> Action {
        if let pinged {
            guard now.duration(since: pinged) >= timeout else { return .nothing }
            defer { isOverdue = true }
            return isOverdue ? .giveUp : .nothing
        }
        guard now.duration(since: min(lastSent, lastHeard)) >= interval else { return .nothing }
        pinged = now
        lastSent = now
        return .ping
    }
}
