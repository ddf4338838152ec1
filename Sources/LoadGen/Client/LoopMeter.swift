import FeedConcurrency
import FeedTransport

/// Ends the intervals of a thread's load and measures how long its loop slept while measuring.
///
/// The kernel counts how long a thread ran or waited for a core. It slept for the rest. Running time may
/// leave out what the host took, so the average of all cores is subtracted for that. What the host took
/// while the thread waited counts twice, so that the idle share may be too low. libuv can measure
/// sleeps, too. It would call the kernel once more before each sleep, at the generator's cost.
final class LoopMeter {
    /// What the thread and the machine had done up to an instant.
    private struct Reading {
        let instant: UInt64
        let account: ProcessSample.Task
        let machine: MachineSample
    }

    private var phases: Phases?
    private var timer: LoopTimer?
    private var number = 0
    private var start: Reading?
    private var end: Reading?

    /// Calls `close` with the number of each interval at its end.
    func schedule(_ phases: Phases, _ loop: EventLoop, _ close: @escaping (Int) -> Void) {
        self.phases = phases
        arm(loop, close)
    }

    /// Starts to measure with the load where there is no warm-up.
    func loadBegan() {
        guard let phases, phases.measureFromNanoseconds == phases.startNanoseconds else { return }
        start = read()
    }

    /// Ends the last interval.
    func finish(_ close: (Int) -> Void) {
        timer?.cancel()
        if start != nil && end == nil { end = read() }
        close(number)
    }

    /// The share of the measured time that the loop slept; nil where the kernel does not count it.
    var idleShare: Double? {
        guard let start, let end, end.instant > start.instant else { return nil }
        let awakeAtStart = min(start.account.awakeNanoseconds, end.account.awakeNanoseconds)
        let awake = Double(end.account.awakeNanoseconds - awakeAtStart)
        let elapsed = Double(end.instant - start.instant)
        let stolen = MachineUsage(from: start.machine, to: end.machine).stealShare
        // Accounts are as of the kernel's last tick, so that a short run may seem to have been awake for
        // longer than it took.
        return max(0, 1 - awake / elapsed - stolen)
    }

    private func read() -> Reading? {
        guard let account = ProcessSample.Task.ofThisThread, let machine = MachineSample() else {
            return nil
        }
        return Reading(
            instant: MonotonicInstant.now.nanoseconds,
            account: account,
            machine: machine
        )
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
        if boundary == phases.measureFromNanoseconds { start = read() }
        if boundary >= phases.measureUntilNanoseconds, end == nil, start != nil { end = read() }
    }
}
