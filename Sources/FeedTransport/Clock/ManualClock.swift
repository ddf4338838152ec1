package import FeedConcurrency

/// A clock that stands still until it is advanced, for loops whose timers and deadlines must pass
/// exactly when a test says so.
///
/// Loops get it in their ``TransportConfiguration``.
package final class ManualClock: Sendable {
    private struct State: Sendable {
        var now = MonotonicInstant(nanoseconds: 0)
        var listeners: [@Sendable (MonotonicInstant) -> Void] = []
    }

    private let state = Lock(State())

    package init() {}

    package var now: MonotonicInstant { state.withLock { $0.now } }

    /// Advances the clock.
    ///
    /// Each loop then fires the timers that are due, one after another, before any work that is
    /// posted to it later.
    package func advance(by duration: Duration) {
        let (now, listeners) = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            return (state.now, state.listeners)
        }
        for listener in listeners { listener(now) }
    }

    /// Calls `listener` with each new instant of the clock from now on.
    func notify(_ listener: @escaping @Sendable (MonotonicInstant) -> Void) {
        state.withLock { $0.listeners.append(listener) }
    }
}

/// The timers of one loop on a ``ManualClock``, bound to the loop's thread.
final class ManualTimers {
    private struct Timer {
        let number: Int
        var due: MonotonicInstant
        let interval: Duration?
        let body: () -> Void
    }

    /// The loop's current instant; while timers fire, the instant at which the timer was due.
    private(set) var now: MonotonicInstant
    /// The timers, in the order in which they were added.
    private var timers: [Timer] = []
    private var lastNumber = 0

    init(at now: MonotonicInstant) { self.now = now }

    /// Adds a timer; returns its number, to cancel it.
    func add(
        after milliseconds: UInt64,
        every interval: UInt64?,
        _ body: @escaping () -> Void
    ) -> Int {
        lastNumber += 1
        timers.append(
            Timer(
                number: lastNumber,
                due: now.advanced(by: .milliseconds(milliseconds)),
                interval: interval.map { .milliseconds($0) },
                body: body
            )
        )
        return lastNumber
    }

    func remove(_ number: Int) { timers.removeAll { $0.number == number } }

    func removeAll() { timers = [] }

    /// Fires the timers due until `end`, in the order of their instants; O(timers) for each.
    func run(through end: MonotonicInstant) {
        while let place = timers.indices.min(by: { timers[$0].due < timers[$1].due }),
            timers[place].due <= end
        {
            let timer = timers[place]
            now = max(now, timer.due)
            if let interval = timer.interval {
                timers[place].due = timer.due.advanced(by: interval)
            } else {
                timers.remove(at: place)
            }
            timer.body()
        }
        now = max(now, end)
    }
}
