/// Why no more changes may be let in for now.
package enum Congestion: Sendable, Equatable {
    /// The disk does not keep up with the journal.
    case journal

    /// Checkpoints do not keep up with the journal; a client should wait for `retryTime`.
    case checkpoints(CheckpointBacklog, retryTime: Duration)
}
