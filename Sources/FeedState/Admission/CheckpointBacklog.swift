/// What is durable in the journal and not yet written to `state.db`.
package struct CheckpointBacklog: Sendable, Equatable {
    /// The bytes of log entries that wait, with those that the checkpoint under way has not written
    /// yet.
    package var pendingByteCount: Int

    /// The bytes at which changes are refused.
    package var limitByteCount: Int

    /// The bytes of log entries that checkpoints have written since the start; never falls.
    package var writtenByteCount: UInt64

    /// A backlog of so many bytes.
    package init(pendingByteCount: Int, limitByteCount: Int, writtenByteCount: UInt64 = 0) {
        self.pendingByteCount = pendingByteCount
        self.limitByteCount = limitByteCount
        self.writtenByteCount = writtenByteCount
    }

    /// The share of the limit that is used up; above 1 where the last changes went beyond it.
    package var share: Double {
        Double(pendingByteCount) / Double(max(1, limitByteCount))
    }
}
