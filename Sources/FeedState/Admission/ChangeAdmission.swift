internal import Synchronization

struct ChangeAdmission {
    /// The share of its limit below which the backlog of checkpoints is reported as caught up.
    private static let caughtUpShare = 0.375

    private var disk: JournalAdmission
    private var checkpoints = CheckpointAdmission()
    private var lag = Episode()
    /// The refusals by then when the lag began.
    private var refusedBefore: UInt64 = 0

    init(maximumByteCount: Int) {
        disk = JournalAdmission(maximumByteCount: maximumByteCount)
    }

    var commitDelay: Duration { checkpoints.commitDelay }

    mutating func observe(byteCount: Int, took duration: Duration) {
        disk.observe(byteCount: byteCount, took: duration)
    }

    /// Sets the gate by the backlog, once a commit took so many bytes out of the logs; says whether
    /// checkpoints restrict what is let in, and what there is to report.
    mutating func set(
        _ gate: ChangeGate,
        _ backlog: CheckpointBacklog,
        committing byteCount: Int,
        at now: ContinuousClock.Instant
    ) -> (isRestricted: Bool, news: CheckpointNews?) {
        let limit = checkpoints.update(backlog, committing: byteCount, at: now)
        gate.set(
            byteCount: min(limit, disk.byteCount),
            isLimitedByCheckpoints: limit < disk.byteCount,
            retryTime: checkpoints.retryTime
        )
        return (limit < .max, news(gate, backlog, now))
    }

    private mutating func news(
        _ gate: ChangeGate,
        _ backlog: CheckpointBacklog,
        _ now: ContinuousClock.Instant
    ) -> CheckpointNews? {
        if !lag.isUnderWay { refusedBefore = gate.refusedByCheckpoints }
        let share = lag.isUnderWay ? Self.caughtUpShare : CheckpointAdmission.slowingShare
        let report = lag.observe(backlog.share >= share, at: now)
        let refusedCount = gate.refusedByCheckpoints - refusedBefore
        return switch report {
        case .lasts:
            .lagging(
                backlog,
                bytesPerSecond: Int(checkpoints.bytesPerSecond),
                refusedCount: refusedCount
            )
        case .ended(let duration): .caughtUp(after: duration, refusedCount: refusedCount)
        case nil: nil
        }
    }
}

/// How many bytes of log entries may wait for the journal: as many as it is expected to take soon.
///
/// A disk that has become slow must not be answered by a queue that grows. What waits is bounded by
/// what the disk takes in about a second, and the rest is refused before it is executed.
package struct JournalAdmission: Equatable {
    /// A commit that takes longer is worth a warning, and lowers what may wait for the next.
    package static let slowCommit = Duration.milliseconds(100)
    /// What may wait in any case, so that the disk's speed is still measured.
    package static let minimumByteCount = 64 << 10

    private let maximumByteCount: Int
    package private(set) var byteCount: Int

    package init(maximumByteCount: Int) {
        self.maximumByteCount = maximumByteCount
        byteCount = maximumByteCount
    }

    /// Takes note of a commit; one that was slow lowers the limit, and later ones raise it again.
    package mutating func observe(byteCount written: Int, took duration: Duration) {
        guard duration > Self.slowCommit else {
            byteCount = min(maximumByteCount, byteCount * 2)
            return
        }
        let perSecond = Double(written) / (duration / .seconds(1))
        byteCount = max(Self.minimumByteCount, min(byteCount, Int(perSecond)))
    }
}

/// How many bytes of changes may wait for the journal: set by its thread, looked at by all loops.
final class ChangeGate: Sendable {
    private let limit: Atomic<Int>
    /// Whether the limit is so low because checkpoints lag.
    private let isLimitedByCheckpoints = Atomic(false)
    private let retryMicroseconds = Atomic<UInt64>(0)
    private let refused = Atomic<UInt64>(0)

    init(byteCount: Int) {
        limit = Atomic(byteCount)
    }

    /// Whether so many bytes are too many for another change to be let in; an atomic load.
    @inline(__always)
    func isClosed(for waitingByteCount: Int) -> Bool {
        waitingByteCount > limit.load(ordering: .relaxed)
    }

    func cause(_ backlog: CheckpointBacklog) -> Congestion {
        guard isLimitedByCheckpoints.load(ordering: .relaxed) else { return .journal }
        let microseconds = retryMicroseconds.load(ordering: .relaxed)
        return .checkpoints(backlog, retryTime: .microseconds(Int64(clamping: microseconds)))
    }

    func set(byteCount: Int, isLimitedByCheckpoints: Bool, retryTime: Duration) {
        retryMicroseconds.store(retryTime.wholeMicroseconds, ordering: .relaxed)
        self.isLimitedByCheckpoints.store(isLimitedByCheckpoints, ordering: .relaxed)
        limit.store(byteCount, ordering: .relaxed)
    }

    func countRefusalByCheckpoints() { refused.wrappingAdd(1, ordering: .relaxed) }

    var refusedByCheckpoints: UInt64 { refused.load(ordering: .relaxed) }
}

package enum Congestion: Sendable, Equatable {
    case journal
    /// Checkpoints do not keep up with the journal; a client should wait for `retryTime`.
    case checkpoints(CheckpointBacklog, retryTime: Duration)
}
