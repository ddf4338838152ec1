/// How durable a record is when its append returns.
package enum Durability: String, Sendable, CaseIterable {
    /// On the disk: survives a power cut.
    case fsync

    /// With the operating system: survives a crash of this process, and nothing else.
    case os
}

/// What a segment journal is opened with.
package struct JournalConfiguration: Sendable {
    /// Names the data directory; the journal of another one is refused.
    package var instanceID: UInt64

    /// The instance that the data directory had before, while a change of instance is finished: the
    /// segments of both are taken, and get the new one.
    package var previousInstanceID: UInt64?

    /// A record that another file than the journal's knows to be durable.
    ///
    /// If there is one, the journal has begun, and its segments and its watermark must be there.
    package var known = JournalPosition.start

    /// When an append returns.
    package var durability = Durability.fsync

    /// The size of each file, 64 MiB; it is written to the header, so it may change between runs.
    package var segmentByteCount = 64 << 20

    /// How long a forgotten segment is kept, by the times of records, in microseconds; 0 keeps none.
    package var keptMicroseconds: UInt64 = 0

    /// When the disk counts as full.
    package var space = SpaceLimits()

    /// What records are checked by.
    package var hash = RecordHash.xxh3

    /// Draws the number that a segment's records are hashed with.
    ///
    /// Clients do not know it, so no text of theirs can pass for a record where what follows a torn
    /// one is searched for. And no two segments may have the same: files are used again, and what
    /// they held before must pass for nothing.
    package var drawSalt: @Sendable () -> UInt64 = { .random(in: .min ... .max) }

    /// The defaults, for one data directory.
    package init(instanceID: UInt64) {
        self.instanceID = instanceID
    }
}
