/// What the journal's thread knows of the disk and of checkpoints, to set the gate by.
struct ChangeAdmission {
    /// The share of its limit below which the backlog of checkpoints is reported as caught up.
    private static let caughtUpShare = 0.375

    private var disk: JournalAdmission
    private var checkpoints = CheckpointAdmission()
    private var lag = Episode()
    /// The refusals by then when the lag began.
    private var refusedBefore: UInt64 = 0

    /// For a disk of usual speed, so many bytes may wait.
    init(maximumByteCount: Int) {
        disk = JournalAdmission(maximumByteCount: maximumByteCount)
    }

    /// How long the next commit should wait, so that checkpoints keep up.
    var commitDelay: Duration { checkpoints.commitDelay }

    /// Takes note of a commit.
    mutating func observe(byteCount: Int, took duration: Duration) {
        disk.observe(byteCount: byteCount, took: duration)
    }

    /// Sets the gate by the backlog, once a commit took so many bytes out of the logs.
    ///
    /// - Returns: Whether checkpoints restrict what is let in, and what there is to report.
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
