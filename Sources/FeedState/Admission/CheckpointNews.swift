/// What the log says of checkpoints that slow changes.
package enum CheckpointNews: Sendable, Equatable {
    /// Changes are slowed, or refused where the backlog has reached its limit.
    case lagging(CheckpointBacklog, bytesPerSecond: Int, refusedCount: UInt64)

    /// Changes are taken at full speed again: it took so long, and so many were refused.
    case caughtUp(after: Duration, refusedCount: UInt64)

    /// The disk has no room for `state.db`; the journal keeps the records.
    case stalled(StateError)

    /// `state.db` is written again, after so long.
    case resumed(after: Duration)
}
