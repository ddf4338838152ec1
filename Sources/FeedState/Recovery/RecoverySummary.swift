package import FeedJournal

/// What a start found in a data directory.
package struct RecoverySummary: Sendable, Equatable {
    /// Whether the directory was made.
    package var isNew = false
    /// The records of the journal that were replayed, and the log entries in them.
    package var recordCount: UInt64 = 0
    package var entryCount: UInt64 = 0
    /// The last record of the journal.
    package var last = JournalPosition.start
    /// The last record that was left when a loss was accepted, which made the instance a new one.
    package var acceptedLoss: UInt64?
    /// Damage in records of the journal that `state.db` has already, in words; nil where there is none.
    package var checkpointedDamage: String?
    /// The files in `quarantine/` that the acceptance of that loss has made.
    package var quarantined: [String] = []
    /// How far the clock is from the last record that was found, where that is more than five minutes.
    package var clockStep: ClockSteps.Step?
    /// The highest account number that was skipped: no account gets it or one below it; 0 where none was.
    package var skippedAccountID: UInt64 = 0
    /// Whether the disk was so full that the ballast was given up, and is still.
    package var gaveUpBallast = false
}
