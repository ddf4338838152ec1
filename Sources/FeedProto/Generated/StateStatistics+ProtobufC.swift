// Generated from proto/feed.proto by scripts/wire. Do not edit: run scripts/generate-proto.sh.

#if canImport(CFeedProto)

import CFeedProto

extension BackupStats: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__BackupStats>) {
        unsafe feed__v1__backup_stats__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__BackupStats>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            isRunning: message.pointee.running != 0,
            copiedByteCount: message.pointee.copied_bytes,
            byteCount: message.pointee.total_bytes,
            lastName: reader.text(message.pointee.last_name, "last_name"),
            lastTimeMilliseconds: message.pointee.last_time_ms,
            lastByteCount: message.pointee.last_bytes,
            lastDurationMilliseconds: message.pointee.last_duration_ms,
            lastError: reader.text(message.pointee.last_error, "last_error"),
            lastErrorTimeMilliseconds: message.pointee.last_error_time_ms,
            failureCount: message.pointee.failures,
            scheduleIntervalMilliseconds: message.pointee.schedule_interval_ms,
            nextTimeMilliseconds: message.pointee.next_time_ms
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__BackupStats>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.running = isRunning ? 1 : 0
        unsafe message.pointee.copied_bytes = copiedByteCount
        unsafe message.pointee.total_bytes = byteCount
        unsafe message.pointee.last_name = arena.text(lastName)
        unsafe message.pointee.last_time_ms = lastTimeMilliseconds
        unsafe message.pointee.last_bytes = lastByteCount
        unsafe message.pointee.last_duration_ms = lastDurationMilliseconds
        unsafe message.pointee.last_error = arena.text(lastError)
        unsafe message.pointee.last_error_time_ms = lastErrorTimeMilliseconds
        unsafe message.pointee.failures = failureCount
        unsafe message.pointee.schedule_interval_ms = scheduleIntervalMilliseconds
        unsafe message.pointee.next_time_ms = nextTimeMilliseconds
    }
}

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
            checkpointedPosition: message.pointee.folded_position,
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
        unsafe message.pointee.folded_position = checkpointedPosition
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
            backlogByteCount: message.pointee.unfolded_bytes,
            backlogLimitByteCount: message.pointee.unfolded_limit_bytes,
            refusedCount: message.pointee.unfolded_refusals,
            underWayMicroseconds: message.pointee.checkpoint_us,
            longestStepMicroseconds: message.pointee.checkpoint_slice_max_us,
            isStalled: message.pointee.checkpoint_stalled != 0
        )
    }

    fileprivate func write(to message: UnsafeMutablePointer<Feed__V1__JournalStats>) {
        unsafe message.pointee.unfolded_bytes = backlogByteCount
        unsafe message.pointee.unfolded_limit_bytes = backlogLimitByteCount
        unsafe message.pointee.unfolded_refusals = refusedCount
        unsafe message.pointee.checkpoint_us = underWayMicroseconds
        unsafe message.pointee.checkpoint_slice_max_us = longestStepMicroseconds
        unsafe message.pointee.checkpoint_stalled = isStalled ? 1 : 0
    }
}

extension MethodStats: @unsafe WireMessage {
    static func initialize(_ message: UnsafeMutablePointer<Feed__V1__MethodStats>) {
        unsafe feed__v1__method_stats__init(message)
    }

    init(
        _ message: UnsafeMutablePointer<Feed__V1__MethodStats>,
        _ reader: WireReader
    ) throws(MessageError) {
        try unsafe self.init(
            method: reader.text(message.pointee.method, "method"),
            requestCount: message.pointee.num_requests,
            errorCount: message.pointee.num_errors,
            lastError: reader.text(message.pointee.last_error, "last_error")
        )
    }

    func write(
        to message: UnsafeMutablePointer<Feed__V1__MethodStats>,
        _ arena: borrowing MessageArena
    ) {
        unsafe message.pointee.method = arena.text(method)
        unsafe message.pointee.num_requests = requestCount
        unsafe message.pointee.num_errors = errorCount
        unsafe message.pointee.last_error = arena.text(lastError)
    }
}

#endif
