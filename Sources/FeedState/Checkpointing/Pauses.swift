internal import Glibc

/// Lets other threads run now and then in the middle of work that nobody waits for.
///
/// Where cores are few, a thread that works on keeps those that answer waiting: Linux may let it
/// run to the next tick, four milliseconds, before it looks who else could.
struct Pauses {
    /// How long the work goes on between two pauses.
    static let interval = Duration.microseconds(200)

    private var last = ContinuousClock.now

    /// Pauses if that is due, and says for how long; to be called often, where nobody waits for a
    /// lock.
    @discardableResult
    mutating func pauseIfDue(at now: ContinuousClock.Instant = .now) -> Duration {
        guard last.duration(to: now) >= Self.interval else { return .zero }
        sched_yield()
        last = .now
        return now.duration(to: last)
    }
}
