internal import FeedConcurrency
internal import FeedTransport

/// Takes the time of a loop's calls when their answers are with the kernel, and reports slow ones.
///
/// A write has one time, however many answers it has. So slow calls cost the others one comparison a
/// write.
struct CallTimer {
    /// Takes slow calls, their peer, how long they took and how long their answers were held, in
    /// nanoseconds.
    typealias Report = (AnsweredCalls.Run, SocketAddress, UInt64, UInt64) -> Void

    private let counters: LoopCounters
    /// The clock that tests move; nil is the system's clock.
    private let clock: ManualClock?
    /// A call that took longer is reported.
    private let slowNanoseconds: UInt64
    private let report: Report

    /// Counts into `counters`, and reports calls that took longer than `slowTime`; nil reports none.
    init(
        _ counters: LoopCounters,
        slowTime: Duration?,
        clock: ManualClock?,
        report: @escaping Report
    ) {
        self.counters = counters
        self.clock = clock
        self.report = report
        slowNanoseconds = slowTime.map { UInt64(clamping: Int64($0 / .nanoseconds(1))) } ?? .max
    }

    var now: MonotonicInstant { clock?.now ?? .now }

    /// Times calls whose answers have left, and were not held.
    func count(_ calls: borrowing AnsweredCalls, from recipient: Recipient) {
        guard !calls.isEmpty else { return }
        let nanoseconds = now.nanoseconds(since: calls.arrival)
        for run in calls.runs {
            counters.latency(run.method).count(run.count, nanoseconds: nanoseconds)
        }
        guard nanoseconds > slowNanoseconds else { return }
        for run in calls.runs { report(run, recipient.peer, nanoseconds, 0) }
    }

    /// Times calls whose answers were held until now, and have left.
    func count(
        _ runs: Span<AnsweredCalls.Run>,
        arrivedAt arrival: MonotonicInstant,
        heldSince: MonotonicInstant,
        from recipient: Recipient
    ) {
        let now = now
        let nanoseconds = now.nanoseconds(since: arrival)
        let held = now.nanoseconds(since: heldSince)
        var callCount = 0
        for index in runs.indices {
            let run = runs[index]
            counters.latency(run.method).count(run.count, nanoseconds: nanoseconds)
            callCount += run.count
        }
        counters.heldTime.count(callCount, nanoseconds: held)
        guard nanoseconds > slowNanoseconds else { return }
        for index in runs.indices { report(runs[index], recipient.peer, nanoseconds, held) }
    }
}

@available(*, unavailable)
extension CallTimer: Sendable {}

extension MonotonicInstant {
    /// The nanoseconds since an earlier instant; 0 since a later one.
    fileprivate func nanoseconds(since earlier: Self) -> UInt64 {
        nanoseconds > earlier.nanoseconds ? nanoseconds - earlier.nanoseconds : 0
    }
}
