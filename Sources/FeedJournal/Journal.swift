/// A log of batches that outlives the process; its caller defines what a batch means.
///
/// Each call blocks until the storage has answered. One thread makes all calls.
package protocol Journal: AnyObject {
    var last: JournalPosition { get }

    /// Adds a batch and returns once it is as durable as the journal promises.
    ///
    /// `count` is how many entries the caller has put into the body, and `microseconds` its time,
    /// raised to the last record's if it is before that. After an error, the
    /// batch may be found again or not, and every later append fails; only a record that is too
    /// large changes nothing.
    func append(
        _ body: Span<UInt8>,
        count: UInt32,
        at microseconds: UInt64
    ) throws(StorageError) -> JournalPosition

    /// Gives the records after a position in order, until `body` says false or none is left.
    func replay(
        after number: UInt64,
        _ body: (JournalRecord, Span<UInt8>) -> Bool
    ) throws(StorageError)

    /// Learns that all records up to a number are kept elsewhere, durably, and need not be replayed.
    func forget(through number: UInt64) throws(StorageError)

    /// Learns that what forgotten records say is to leave the files soon.
    func erase() throws(StorageError)
}

/// A record's place in the journal, and the hash that stands for all up to it.
package struct JournalPosition: Equatable, Hashable, Sendable {
    /// Records are numbered from 1, without gaps.
    package var number: UInt64
    /// The record's hash, which covers the hash of the one before.
    package var hash: UInt64

    package static let start = JournalPosition(number: 0, hash: 0)

    package init(number: UInt64, hash: UInt64) {
        self.number = number
        self.hash = hash
    }
}

/// What the journal knows of a record that it replays, beside its body.
package struct JournalRecord: Equatable, Sendable {
    package let position: JournalPosition
    /// How many entries its writer said the body has.
    package let count: UInt32
    /// When it was written, in microseconds of its writer's clock; never before the last one's.
    package let microseconds: UInt64
}

/// How durable a record is when its append returns.
package enum Durability: String, Sendable, CaseIterable {
    /// On the disk: survives a power cut.
    case fsync
    /// With the operating system: survives a crash of this process, and nothing else.
    case os
    /// On the disks of most machines of a cluster, and with the operating system here: synced by
    /// ``SyncMark`` a little later. A power cut may take the end of the journal, which a start cuts off
    /// where it is spoiled, and gets again from the others.
    case replicated
}

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
    package var durability = Durability.fsync
    /// The size of each file, 64 MiB; it is written to the header, so it may change between runs.
    package var segmentByteCount = 64 << 20
    /// How long a forgotten segment is kept, by the times of records, in microseconds; 0 keeps none.
    package var keptMicroseconds: UInt64 = 0
    package var space = SpaceLimits()
    package var hash = RecordHash.xxh3

    /// Draws the number that a segment's records are hashed with.
    ///
    /// Clients do not know it, so no text of theirs can pass for a record where what follows a torn
    /// one is searched for. And no two segments may have the same: files are used again, and what
    /// they held before must pass for nothing.
    package var drawSalt: @Sendable () -> UInt64 = { .random(in: .min ... .max) }

    package init(instanceID: UInt64) { self.instanceID = instanceID }
}

/// How long a journal was written to, in microseconds: a time that no wrong clock adds to.
///
/// It goes on by the time between two records of one run of the service. A longer gap counts as a minute:
/// so a clock that is set adds no more, and a service at rest keeps its segments longer, which have few
/// bytes. The time between two runs counts nothing, as only a clock tells it.
package struct JournalAge: Equatable {
    /// The most that the time between two records counts: a minute.
    private static let longestGap: UInt64 = 60_000_000

    package private(set) var microseconds: UInt64
    /// The clock at the last record of this run; nil before the first one.
    private var last: UInt64?

    /// The age that was found, before the first record of a run.
    package init(_ microseconds: UInt64) { self.microseconds = microseconds }

    /// A record of this run is written, at a reading of the clock.
    package mutating func add(recordAt clock: UInt64) {
        if let last, clock > last { microseconds += min(clock - last, Self.longestGap) }
        last = clock
    }

    /// A record is found a time after the one before it, which may be of an earlier run: a gap that is
    /// longer than one within a run may count is none.
    package mutating func add(foundGap gap: UInt64) {
        if gap <= Self.longestGap { microseconds += gap }
    }
}
