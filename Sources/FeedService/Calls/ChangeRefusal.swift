internal import FeedConcurrency
internal import FeedProto
internal import FeedState

/// Why the service takes no changes now.
extension ServiceContext {
    /// The refusal of all changes now; nil if they are taken.
    ///
    /// Costs a few atomic loads.
    var refusalOfChanges: Status? {
        if isOverloaded { return .overloaded(limit: limits.maximumBufferedByteCount) }
        if clock.jumpMilliseconds != 0 { return .clockJumped(by: clock.jumpMilliseconds) }
        guard let journal = state?.journal else { return nil }
        if !journal.isWritable { return .readOnly(journal) }
        switch journal.congestion {
        case nil: return nil
        case .journal: return .journalBehind
        case .checkpoints(let backlog, let retryTime):
            return .checkpointsBehind(backlog, retryTime: retryTime)
        }
    }

    /// Counts a refused change if checkpoints are the reason.
    func countRefusal() {
        guard let journal = state?.journal, case .checkpoints = journal.congestion else { return }
        journal.countRefusalByCheckpoints()
    }
}

extension Status {
    /// The disk has too little room for more changes.
    static func readOnly(_ journal: JournalThread) -> Status {
        .readOnly(
            freeByteCount: journal.freeByteCount,
            writableByteCount: journal.writableByteCount
        )
    }

    /// Checkpoints do not keep up with the admitted changes.
    fileprivate static func checkpointsBehind(
        _ backlog: CheckpointBacklog,
        retryTime: Duration
    ) -> Status {
        Status(
            code: .resourceExhausted,
            reason: .overloaded,
            message: "\(backlog.pendingByteCount) bytes of changes wait to be written to the "
                + "state database, of at most \(backlog.limitByteCount); changes are slowed from "
                + "half of them on, and reads are served.",
            retryAfterMilliseconds: UInt32(clamping: retryTime.millisecondsRoundedDown)
        )
    }
}
