package import FeedJournal

/// A loss of the journal, and what is left.
package struct StateLoss: Error, Equatable, Sendable {
    /// What is wrong: `damaged`, `missing`, `lost` or `missingWatermark`.
    package var problem: JournalError

    /// The last record that is left, in the journal or in `state.db`.
    package var left: UInt64

    /// The last record that is known to have been durable; it may be before `left`.
    package var known: UInt64

    /// The record up to which `state.db` has a part of the changes after `left`; nil where it has none.
    ///
    /// A checkpoint was under way then, so the posts that are left are of different moments.
    package var partlyCheckpointed: UInt64?

    /// Where the first record that is missing has to be; nil where the problem or no file tells.
    package var place: MissingPlace?

    /// What `partlyCheckpointed` means for an operator.
    package static func partlyCheckpointedNote(_ last: UInt64) -> String {
        "state.db has a part of the records up to \(last): some posts would be of a later moment than "
            + "others."
    }

    /// A problem, with what is left of the records.
    package init(
        problem: JournalError,
        left: UInt64,
        known: UInt64,
        partlyCheckpointed: UInt64? = nil,
        place: MissingPlace? = nil
    ) {
        self.place = place
        self.problem = problem
        self.left = left
        self.known = known
        self.partlyCheckpointed = partlyCheckpointed
    }
}
