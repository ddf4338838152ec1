internal import Synchronization

/// How many bytes of changes may wait for the journal: set by its thread, looked at by all loops.
final class ChangeGate: Sendable {
    private let limit: Atomic<Int>
    /// Whether the limit is so low because checkpoints lag.
    private let isLimitedByCheckpoints = Atomic(false)
    private let retryMicroseconds = Atomic<UInt64>(0)
    private let refused = Atomic<UInt64>(0)

    /// A gate that lets so many bytes wait.
    init(byteCount: Int) {
        limit = Atomic(byteCount)
    }

    /// Whether so many bytes are too many for another change to be let in; an atomic load.
    @inline(__always)
    func isClosed(for waitingByteCount: Int) -> Bool {
        waitingByteCount > limit.load(ordering: .relaxed)
    }

    /// Why it is closed, where it is.
    func cause(_ backlog: CheckpointBacklog) -> Congestion {
        guard isLimitedByCheckpoints.load(ordering: .relaxed) else { return .journal }
        let microseconds = retryMicroseconds.load(ordering: .relaxed)
        return .checkpoints(backlog, retryTime: .microseconds(Int64(clamping: microseconds)))
    }

    /// Lets so many bytes wait from now on.
    func set(byteCount: Int, isLimitedByCheckpoints: Bool, retryTime: Duration) {
        retryMicroseconds.store(retryTime.wholeMicroseconds, ordering: .relaxed)
        self.isLimitedByCheckpoints.store(isLimitedByCheckpoints, ordering: .relaxed)
        limit.store(byteCount, ordering: .relaxed)
    }

    /// Counts a change that was refused because checkpoints lag.
    func countRefusalByCheckpoints() { refused.wrappingAdd(1, ordering: .relaxed) }

    /// How many those were.
    var refusedByCheckpoints: UInt64 { refused.load(ordering: .relaxed) }
}
