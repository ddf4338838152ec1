/// Why no more changes may be let in for now.
package enum Congestion: Sendable, Equatable {
    /// The disk does not keep up with the journal.
    case journal

    /// Checkpoints do not keep up with the journal; a client should wait for `retryTime`.
    case checkpoints(CheckpointBacklog, retryTime: Duration)
}

/// What there is to tell of checkpoints that hold up changes.
package enum CheckpointNews: Sendable, Equatable {
    /// Changes are slowed, or refused where the backlog has reached its limit.
    case lagging(CheckpointBacklog, bytesPerSecond: Int, refusedCount: UInt64)

    /// Changes are taken at full speed again: it took so long, and so many were refused.
    case caughtUp(after: Duration, refusedCount: UInt64)

    /// `state.db` cannot be written for want of room; the journal keeps what waits.
    case stalled(StateError)

    /// `state.db` is written again, after so long.
    case resumed(after: Duration)
}
