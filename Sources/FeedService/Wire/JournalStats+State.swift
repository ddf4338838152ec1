internal import FeedLog
internal import FeedProto
internal import FeedRanking
internal import FeedState

extension JournalStats {
    /// The state of the journal now.
    init(_ state: DurableState, _ loops: ServiceStatistics) {
        let journal = state.journal
        let statistics = journal.statistics
        self.init(
            executedPosition: max(state.logs.newestBatch, journal.durableBatch),
            durablePosition: journal.durableBatch,
            checkpointedPosition: state.checkpointThread.checkpointedRecord,
            commitCount: statistics.commitCount,
            effectCount: statistics.entryCount,
            medianCommitMicroseconds: statistics.microseconds(percentile: 50),
            p99CommitMicroseconds: statistics.microseconds(percentile: 99),
            maximumCommitMicroseconds: statistics.maximumMicroseconds,
            byteCount: UInt64(clamping: journal.fileByteCount),
            heldAnswerCount: loops.heldWriteCount,
            oldestHeldMicroseconds: (journal.oldestWait ?? .zero).wholeMicroseconds,
            freeByteCount: UInt64(clamping: journal.freeByteCount),
            isReadOnly: !journal.isWritable,
            checkpoints: CheckpointStats(state)
        )
    }
}

extension CheckpointStats {
    /// The state of checkpoints now.
    init(_ state: DurableState) {
        let backlog = state.checkpointThread.backlog
        let statistics = state.checkpointThread.statistics
        self.init(
            backlogByteCount: UInt64(clamping: backlog.pendingByteCount),
            backlogLimitByteCount: UInt64(clamping: backlog.limitByteCount),
            refusedCount: state.journal.refusedByCheckpoints,
            underWayMicroseconds: statistics.timeUnderWay.wholeMicroseconds,
            longestStepMicroseconds: statistics.longestStepMicroseconds,
            isStalled: statistics.isStalled
        )
    }
}
