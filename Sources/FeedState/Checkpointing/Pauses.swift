internal import Glibc

/// Lets other threads run now and then in the middle of work that nobody waits for.
///
/// Where cores are few, the work delays the threads that answer: Linux may let a thread run to the
/// next tick, four milliseconds, before another one gets the core.
struct Pauses {
    /// How long the work continues between two pauses.
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
