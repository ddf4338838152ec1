import FeedTransport

/// Ends the intervals of a thread's load and measures how long its loop slept while measuring.
///
/// Intervals are whole seconds counted from the end of the warm-up, back and forth, so that none lies
/// in both phases.
final class LoopMeter {
    private let idle: () -> Duration
    private var phases: Phases?
    private var timer: LoopTimer?
    private var number = 0
    private var boundary: UInt64 = 0
    private var start: (instant: UInt64, idle: Duration)?
    private var end: (instant: UInt64, idle: Duration)?

    /// A meter of `loop`.
    init(_ loop: EventLoop) {
        idle = { [unowned loop] in loop.idleTime }
    }

    /// Calls `close` with the number of each interval at its end.
    func schedule(_ phases: Phases, _ loop: EventLoop, _ close: @escaping (Int) -> Void) {
        self.phases = phases
        let warmup = phases.measureFromNanoseconds - phases.startNanoseconds
        let first = warmup % Self.intervalNanoseconds
        boundary = phases.startNanoseconds + (first == 0 ? Self.intervalNanoseconds : first)
        if warmup == 0 { start = (phases.startNanoseconds, idle()) }
        arm(loop, close)
    }

    /// Ends the last interval.
    func finish(_ loop: EventLoop, _ close: (Int) -> Void) {
        timer?.cancel()
        if start != nil && end == nil { end = (EventLoop.clock.nanoseconds, idle()) }
        close(number)
    }

    /// The share of the measured time that the loop slept.
    var idleShare: Double? {
        guard let start, let end, end.instant > start.instant else { return nil }
        return Double((end.idle - start.idle).nanoseconds) / Double(end.instant - start.instant)
    }

    private func arm(_ loop: EventLoop, _ close: @escaping (Int) -> Void) {
        let now = EventLoop.clock.nanoseconds
        let delay = boundary > now ? boundary - now : 0
        timer = loop.addTimer(after: .nanoseconds(Int64(delay))) { [unowned self, unowned loop] in
            pass(close)
            arm(loop, close)
        }
    }

    private func pass(_ close: (Int) -> Void) {
        close(number)
        number += 1
        let now = EventLoop.clock.nanoseconds
        if boundary == phases?.measureFromNanoseconds { start = (now, idle()) }
        if let until = phases?.measureUntilNanoseconds, boundary >= until, end == nil, start != nil {
            end = (now, idle())
        }
        boundary += Self.intervalNanoseconds
    }

    private static let intervalNanoseconds: UInt64 = 1_000_000_000
}
