package import FeedJournal

/// What `state.db` knows of the other files of its data directory, in the one row of `directory`.
///
/// The row belongs to an instance. A restored state has another one, so the row of its backup means
/// nothing to it; a file of version 0.1 has no such table.
package struct DirectoryRecord: Equatable, Sendable {
    /// A record of the journal that was durable at the last start.
    ///
    /// From then on the journal and its watermark must be there.
    package var known: JournalPosition

    /// What told `state.db` from a copy at the last start; nil where the file system cannot say.
    package var identity: FileIdentity?

    /// The instance before this one, while the change of instance is not finished; else nil.
    package var previousInstanceID: UInt64?

    /// The last record that is left of an acceptance of loss that is not finished; nil where none
    /// is under way.
    package var acceptedLoss: UInt64?

    /// A record that was durable, beside a file.
    package init(known: JournalPosition, identity: FileIdentity? = nil) {
        self.known = known
        self.identity = identity
    }
}
