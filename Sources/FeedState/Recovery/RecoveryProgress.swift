/// How far a start has come with what takes long.
package struct RecoveryProgress: Equatable, Sendable {
    /// What is being done.
    package enum Step: String, Sendable {
        /// The rows of the database are checked and loaded.
        case loading
        /// The segments of the journal are read and checked.
        case checking
        /// The records after the checkpoint are applied.
        case replaying
    }

    /// What is being done.
    package var step: Step
    /// How much of it is done: rows, bytes or records.
    package var completed: UInt64
    /// How much there is.
    package var total: UInt64
}
