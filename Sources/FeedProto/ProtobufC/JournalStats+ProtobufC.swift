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
            isReadOnly: message.pointee.read_only != 0
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
    }
}
