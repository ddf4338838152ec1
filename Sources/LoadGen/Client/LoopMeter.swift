import FeedConcurrency
import FeedTransport

/// Ends the intervals of a thread's load and measures how long its loop slept while measuring.
///
/// An instant and the sleep up to it are read together, so no loop sleeps longer than it measures.
final class LoopMeter {
    private let idle: () -> Duration
    private var phases: Phases?
    private var timer: LoopTimer?
    private var number = 0
    private var start: (instant: UInt64, idle: Duration)?
    private var end: (instant: UInt64, idle: Duration)?

    /// A meter of `loop`.
    init(_ loop: EventLoop) {
        idle = { [unowned loop] in loop.idleTime }
    }

    /// Calls `close` with the number of each interval at its end.
    func schedule(_ phases: Phases, _ loop: EventLoop, _ close: @escaping (Int) -> Void) {
        self.phases = phases
        arm(loop, close)
    }

    /// Starts to measure with the load where there is no warm-up.
    func loadBegan() {
        guard let phases, phases.measureFromNanoseconds == phases.startNanoseconds else { return }
        start = (MonotonicInstant.now.nanoseconds, idle())
    }

    /// Ends the last interval.
    func finish(_ close: (Int) -> Void) {
        timer?.cancel()
        if start != nil && end == nil { end = (MonotonicInstant.now.nanoseconds, idle()) }
        close(number)
    }

    /// The share of the measured time that the loop slept.
    var idleShare: Double? {
        guard let start, let end, end.instant > start.instant else { return nil }
        return Double((end.idle - start.idle).nanoseconds) / Double(end.instant - start.instant)
    }

    private func arm(_ loop: EventLoop, _ close: @escaping (Int) -> Void) {
        guard let boundary = phases?.intervalEnd(number) else { return }
        let now = MonotonicInstant.now.nanoseconds
        let delay = boundary > now ? boundary - now : 0
        // Without a timer the rest of the run is one long interval.
        timer = try? loop.addTimer(after: .nanoseconds(Int64(delay))) {
            [unowned self, unowned loop] in
            pass(close)
            arm(loop, close)
        }
    }

    private func pass(_ close: (Int) -> Void) {
        guard let phases else { return }
        let boundary = phases.intervalEnd(number)
        close(number)
        number += 1
        let now = MonotonicInstant.now.nanoseconds
        if boundary == phases.measureFromNanoseconds { start = (now, idle()) }
        if boundary >= phases.measureUntilNanoseconds, end == nil, start != nil {
            end = (now, idle())
        }
    }
}
