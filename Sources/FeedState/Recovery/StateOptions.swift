package import FeedJournal

/// Where the durable state is, and how durable it is.
package struct StateOptions: Sendable {
    /// The directory where none is named, in the working directory.
    package static let defaultPath = "feed-data"

    /// The journal's bytes that are folded at once where the service is busy.
    ///
    /// Each fold writes a post's counts once, however many votes came for it: the more votes a fold
    /// is of, the less one costs. What is not folded has to be replayed at the next start.
    package static let defaultFoldByteCount = 64 << 20

    /// The data directory, made where there is none, its parent being there.
    package var path: String

    /// How many event loops log their effects.
    package var logCount: Int

    /// What the journal is opened with, save for its instance, which `state.db` names.
    package var journal = JournalConfiguration(instanceID: 0)

    /// What an answer outlives.
    package var durability: Durability {
        get { journal.durability }
        set { journal.durability = newValue }
    }

    /// The record after which a loss is accepted; nil accepts none.
    package var acceptedLoss: UInt64?

    /// Whether segments stay when they are folded, so that all can be replayed from the first.
    package var keepsJournal = false

    /// The journal's bytes that are folded at once.
    package var foldByteCount = Self.defaultFoldByteCount

    /// Puts something before the journal that commits go through, for tests of slow disks.
    package var filtersJournal: @Sendable (any WatchedJournal) -> any WatchedJournal = { $0 }

    /// The longest section of a log: a frame's posts, and what an effect has beside their texts.
    package var longestSectionByteCount = (1 << 20) + (128 << 10)

    /// The unjournaled bytes at which no more are let in.
    ///
    /// Each loop may be in the middle of a section then; with all of them a cut still fits into a
    /// record, and so into the ballast. Below a megabyte there are too many loops for that.
    package var maximumWaitingByteCount: Int {
        let sections = logCount * longestSectionByteCount
        return min(24 << 20, journal.maximumBodyByteCount - sections)
    }

    /// The defaults, for a directory.
    package init(path: String, logCount: Int) {
        self.path = path
        self.logCount = logCount
    }
}
