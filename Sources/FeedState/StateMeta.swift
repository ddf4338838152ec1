package import FeedJournal

/// What `state.db` knows of itself, in its one row of `meta`.
package struct StateMeta: Equatable, Sendable {
    /// Names the data directory; a restored or a new one has another.
    package var instanceID: UInt64

    /// The last record of the journal whose log entries are all in the tables.
    package var checkpointed: JournalPosition = .start

    /// The last record of which some log entries are in the tables, or `checkpointed`.
    ///
    /// They differ where a checkpoint has not ended: the loaded rows are of no one moment then,
    /// until the journal is replayed up to here.
    package var checkpointing: JournalPosition = .start

    /// The key that page tokens are signed with, 16 random bytes.
    package var pageTokenKey: PageTokenKey

    /// The highest id given to a post as of `checkpointed`.
    package var highestID: UInt64 = 0

    /// The highest revision given as of `checkpointed`.
    package var highestRevision: UInt64 = 0

    /// The number that the next channel gets.
    package var nextChannel: UInt64 = 1

    /// The system's boot id when the service last started; empty before the first start.
    package var bootID = ""

    /// How durable an answer of the last run was, by `Durability`'s raw value; empty before it.
    package var durability = ""

    /// The key that page tokens are signed with.
    package struct PageTokenKey: Equatable, Sendable {
        /// The first eight bytes.
        package var high: UInt64
        /// The last eight bytes.
        package var low: UInt64

        /// A key of these bytes.
        package init(high: UInt64, low: UInt64) {
            self.high = high
            self.low = low
        }
    }

    /// The meta of a new data directory.
    package init(instanceID: UInt64, pageTokenKey: PageTokenKey) {
        self.instanceID = instanceID
        self.pageTokenKey = pageTokenKey
    }

    /// The meta of a new data directory, with a random name and a random key.
    package static func random() -> StateMeta {
        StateMeta(
            instanceID: .random(in: 1 ... .max),
            pageTokenKey: PageTokenKey(
                high: .random(in: .min ... .max),
                low: .random(in: .min ... .max)
            )
        )
    }

    /// Makes this another state: what clients hold of the one before means nothing here.
    ///
    /// The page tokens of the old instance end with it, as their key does.
    package mutating func becomeAnotherInstance() {
        let other = StateMeta.random()
        instanceID = other.instanceID
        pageTokenKey = other.pageTokenKey
    }

    /// Whether a checkpoint has begun and not ended.
    package var isCheckpointing: Bool { checkpointing.number > checkpointed.number }
}
