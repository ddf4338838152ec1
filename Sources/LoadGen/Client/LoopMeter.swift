import FeedConcurrency
import FeedTransport

/// Ends the intervals of a thread's load and measures how long its loop slept while measuring.
///
/// The kernel's account of the thread says how long it slept. libuv can measure sleeps, too. It would
/// call the kernel once more before each sleep, at the generator's cost.
final class LoopMeter {
    private var phases: Phases?
    private var timer: LoopTimer?
    private var number = 0
    private var start: LoopReading?
    private var end: LoopReading?

    /// Calls `close` with the number of each interval at its end.
    func schedule(_ phases: Phases, _ loop: EventLoop, _ close: @escaping (Int) -> Void) {
        self.phases = phases
        arm(loop, close)
    }

    /// Starts to measure with the load where there is no warm-up.
    func loadBegan() {
        guard let phases, phases.measureFromNanoseconds == phases.startNanoseconds else { return }
        start = .ofThisThread
    }

    /// Ends the last interval.
    func finish(_ close: (Int) -> Void) {
        timer?.cancel()
        if start != nil && end == nil { end = .ofThisThread }
        close(number)
    }

    /// The share of the measured time that the loop slept; nil where the kernel does not count it.
    var idleShare: Double? {
        guard let start, let end else { return nil }
        return start.idleShare(until: end)
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
        if boundary == phases.measureFromNanoseconds { start = .ofThisThread }
        if boundary >= phases.measureUntilNanoseconds, end == nil, start != nil { end = .ofThisThread }
    }
}
