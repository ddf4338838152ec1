internal import Glibc

/// What ``Pauses`` reads the time with and lets other threads run with; tests put their own in place.
package struct PauseHooks: Sendable {
    /// The time.
    package var now: @Sendable () -> ContinuousClock.Instant = { .now }
    /// Lets other threads run.
    package var yield: @Sendable () -> Void = { sched_yield() }

    /// The system's clock and its yield.
    package init() {}
}

/// Lets other threads run now and then in the middle of work that nobody waits for.
///
/// Where cores are few, the work delays the threads that answer: Linux may let a thread run to the
/// next tick, four milliseconds, before another one gets the core.
struct Pauses {
    /// How long the work continues between two pauses.
    static let interval = Duration.microseconds(200)

    private let hooks: PauseHooks
    private var last: ContinuousClock.Instant

    /// Pauses of work that begins now.
    init(_ hooks: PauseHooks) {
        self.hooks = hooks
        last = hooks.now()
    }

    /// Pauses if that is due, and says for how long; to be called often, where nobody waits for a
    /// lock.
    @discardableResult
    mutating func pauseIfDue() -> Duration { pauseIfDue(at: hooks.now()) }

    /// The same where the caller has read the time.
    @discardableResult
    mutating func pauseIfDue(at now: ContinuousClock.Instant) -> Duration {
        guard last.duration(to: now) >= Self.interval else { return .zero }
        hooks.yield()
        last = hooks.now()
        return now.duration(to: last)
    }
}
