package import FeedJournal

/// A journal whose room is looked at.
package protocol WatchedJournal: Journal {
    /// Whether more may be let in; to be called every second or so.
    func checkSpace() throws(JournalError) -> SpaceWatch.Mode

    /// The bytes that its disk has free.
    func freeByteCount() throws(JournalError) -> Int

    /// The free bytes from which on more may be let in again, once it may not.
    var writableByteCount: Int { get }

    /// Whether the file is there that is given up on a full disk.
    var hasBallast: Bool { get }

    /// The bytes that its files take.
    var fileByteCount: Int { get }
}

extension SegmentJournal: WatchedJournal {}

/// Something that is given to another thread whole: the giver uses it no more.
///
/// `Sendable` without the compiler's proof: a journal and a database share the directory that they
/// are in, which is a descriptor and so any thread's.
package struct Handed<Value>: @unchecked Sendable {
    /// What is given; for the thread that it was given to.
    package let value: Value

    /// Gives something away.
    package init(_ value: Value) {
        self.value = value
    }
}
