/// A record's place in the journal, and the hash that stands for all up to it.
package struct JournalPosition: Equatable, Hashable, Sendable {
    /// Records are numbered from 1, without gaps.
    package var number: UInt64

    /// The record's hash, which covers the hash of the one before.
    package var hash: UInt64

    /// Before the first record.
    package static let start = JournalPosition(number: 0, hash: 0)

    /// The place of a record.
    package init(number: UInt64, hash: UInt64) {
        self.number = number
        self.hash = hash
    }
}

/// What the journal knows of a record that it replays, beside its body.
package struct JournalRecord: Equatable, Sendable {
    /// Where it stands.
    package let position: JournalPosition

    /// How many entries its writer said the body has.
    package let count: UInt32

    /// When it was written, in microseconds of its writer's clock; never before the last one's.
    package let microseconds: UInt64
}
