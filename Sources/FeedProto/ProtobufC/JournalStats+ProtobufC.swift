import CFeedProto

extension JournalStats: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__JournalStats>) {
        unsafe feed__v1__journal_stats__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__JournalStats>,
        _ reader: WireReader
    ) {
        unsafe self.init(
            executedPosition: message.pointee.executed_position,
            durablePosition: message.pointee.durable_position,
            foldedPosition: message.pointee.folded_position,
            commitCount: message.pointee.commits,
            effectCount: message.pointee.commit_effects,
            medianCommitMicroseconds: message.pointee.commit_p50_us,
            p99CommitMicroseconds: message.pointee.commit_p99_us,
            maximumCommitMicroseconds: message.pointee.commit_max_us,
            byteCount: message.pointee.journal_bytes,
            heldAnswerCount: message.pointee.held_answers,
            oldestHeldMicroseconds: message.pointee.oldest_held_us,
            freeByteCount: message.pointee.free_bytes,
            isReadOnly: message.pointee.read_only != 0,
            checkpoints: CheckpointStats(message)
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__JournalStats>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.executed_position = executedPosition
        unsafe message.pointee.durable_position = durablePosition
        unsafe message.pointee.folded_position = foldedPosition
        unsafe message.pointee.commits = commitCount
        unsafe message.pointee.commit_effects = effectCount
        unsafe message.pointee.commit_p50_us = medianCommitMicroseconds
        unsafe message.pointee.commit_p99_us = p99CommitMicroseconds
        unsafe message.pointee.commit_max_us = maximumCommitMicroseconds
        unsafe message.pointee.journal_bytes = byteCount
        unsafe message.pointee.held_answers = heldAnswerCount
        unsafe message.pointee.oldest_held_us = oldestHeldMicroseconds
        unsafe message.pointee.free_bytes = freeByteCount
        unsafe message.pointee.read_only = isReadOnly ? 1 : 0
        unsafe checkpoints.write(to: message)
    }
}

extension CheckpointStats {
    fileprivate init(_ message: UnsafeMutablePointer<Feed__V1__JournalStats>) {
        unsafe self.init(
            unfoldedByteCount: message.pointee.unfolded_bytes,
            unfoldedLimitByteCount: message.pointee.unfolded_limit_bytes,
            refusedCount: message.pointee.unfolded_refusals,
            underWayMicroseconds: message.pointee.checkpoint_us,
            longestSliceMicroseconds: message.pointee.checkpoint_slice_max_us,
            isStalled: message.pointee.checkpoint_stalled != 0
        )
    }

    fileprivate func write(to message: UnsafeMutablePointer<Feed__V1__JournalStats>) {
        unsafe message.pointee.unfolded_bytes = unfoldedByteCount
        unsafe message.pointee.unfolded_limit_bytes = unfoldedLimitByteCount
        unsafe message.pointee.unfolded_refusals = refusedCount
        unsafe message.pointee.checkpoint_us = underWayMicroseconds
        unsafe message.pointee.checkpoint_slice_max_us = longestSliceMicroseconds
        unsafe message.pointee.checkpoint_stalled = isStalled ? 1 : 0
    }
}
