package import FeedProto

/// The state of the journal, as a part of what `stats` reports.
package struct JournalReport: Encodable, Equatable, Sendable {
    let executedPosition: UInt64
    let durablePosition: UInt64
    let foldedPosition: UInt64
    let commitCount: UInt64
    let effectCount: UInt64
    let commitP50Us: UInt64
    let commitP99Us: UInt64
    let commitMaxUs: UInt64
    let byteCount: UInt64
    let heldAnswerCount: UInt64
    let oldestHeldUs: UInt64
    let freeByteCount: UInt64
    let isReadOnly: Bool
    let unfoldedByteCount: UInt64
    let unfoldedLimitByteCount: UInt64
    let unfoldedRefusalCount: UInt64
    let checkpointUs: UInt64
    let checkpointSliceMaxUs: UInt64
    let isCheckpointStalled: Bool

    /// The report of a journal; zeros where there is none, so that programs find the same members
    /// everywhere.
    package init(_ stats: JournalStats?) {
        executedPosition = stats?.executedPosition ?? 0
        durablePosition = stats?.durablePosition ?? 0
        foldedPosition = stats?.checkpointedPosition ?? 0
        commitCount = stats?.commitCount ?? 0
        effectCount = stats?.effectCount ?? 0
        commitP50Us = stats?.medianCommitMicroseconds ?? 0
        commitP99Us = stats?.p99CommitMicroseconds ?? 0
        commitMaxUs = stats?.maximumCommitMicroseconds ?? 0
        byteCount = stats?.byteCount ?? 0
        heldAnswerCount = stats?.heldAnswerCount ?? 0
        oldestHeldUs = stats?.oldestHeldMicroseconds ?? 0
        freeByteCount = stats?.freeByteCount ?? 0
        isReadOnly = stats?.isReadOnly ?? false
        let checkpoints = stats?.checkpoints ?? CheckpointStats()
        unfoldedByteCount = checkpoints.backlogByteCount
        unfoldedLimitByteCount = checkpoints.backlogLimitByteCount
        unfoldedRefusalCount = checkpoints.refusedCount
        checkpointUs = checkpoints.underWayMicroseconds
        checkpointSliceMaxUs = checkpoints.longestStepMicroseconds
        isCheckpointStalled = checkpoints.isStalled
    }

    /// The lines for people; without the disk where the service has not told of it.
    func add(to fields: inout FieldList, hasDisk: Bool) {
        fields.add(
            "journal",
            "record \(executedPosition) (\(durablePosition) durable, \(foldedPosition) checkpointed)"
        )
        let mean = commitCount == 0 ? 0 : Double(effectCount) / Double(commitCount)
        fields.add("commits", "\(commitCount) of \((mean * 10).rounded() / 10) changes each")
        fields.add(
            "commit time",
            "p50 \(commitP50Us) µs, p99 \(commitP99Us) µs, at most \(commitMaxUs) µs"
        )
        fields.add("journal bytes", "\(byteCount)")
        fields.add("held answers", "\(heldAnswerCount), the oldest for \(oldestHeldUs) µs")
        if hasDisk { fields.add("free bytes", "\(freeByteCount)") }
        fields.add("read only", isReadOnly ? "yes: changes are refused for want of room" : "no")
        addCheckpoints(to: &fields)
    }

    private func addCheckpoints(to fields: inout FieldList) {
        fields.add(
            "unfolded bytes",
            "\(unfoldedByteCount) of at most \(unfoldedLimitByteCount), "
                + "\(unfoldedRefusalCount) changes refused for it"
        )
        let state =
            isCheckpointStalled
            ? "stalled: no room for state.db"
            : checkpointUs == 0 ? "none under way" : "under way for \(checkpointUs) µs"
        fields.add("checkpoint", "\(state), longest slice \(checkpointSliceMaxUs) µs")
    }
}
