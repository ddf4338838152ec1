internal import FeedConcurrency
internal import Synchronization

/// Statistics of checkpoints: the checkpoint thread alone writes them, any thread reads them.
package final class CheckpointStatistics: Sendable {
    /// In nanoseconds of the monotonic clock; 0 where none is under way.
    private let began = Atomic<UInt64>(0)
    private let longestStep = Atomic<UInt64>(0)
    private let stalled = Atomic(false)

    /// The thread's; it goes on a few times a second, also where no checkpoint is under way.
    let heartBeat = HeartBeat()

    /// For how long the checkpoint thread has not come to its next step; nil where it does not run.
    package var standingTime: Duration? { heartBeat.standingTime }

    /// No checkpoint yet.
    package init() {}

    /// How long the checkpoint under way has taken; zero where none is.
    package var timeUnderWay: Duration {
        let began = began.load(ordering: .relaxed)
        let now = SystemClock.monotonicNanoseconds()
        return began == 0 || now < began ? .zero : .nanoseconds(Int64(clamping: now - began))
    }

    /// The longest step since the start, with its sync, in microseconds.
    package var longestStepMicroseconds: UInt64 { longestStep.load(ordering: .relaxed) }

    /// Whether the last step found no room on the disk.
    package var isStalled: Bool { stalled.load(ordering: .relaxed) }

    /// A checkpoint begins.
    func begin() { began.store(SystemClock.monotonicNanoseconds(), ordering: .relaxed) }

    /// A step was written, or found no room.
    func countStep(took duration: Duration, isLast: Bool, isStalled: Bool) {
        longestStep.max(duration.wholeMicroseconds, ordering: .relaxed)
        stalled.store(isStalled, ordering: .relaxed)
        if isLast { began.store(0, ordering: .relaxed) }
    }
}
