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

    /// How many kept segments were removed before their time, as the disk ran low.
    var droppedSegmentCount: Int { get }
}

extension WatchedJournal {
    package var droppedSegmentCount: Int { 0 }
}

extension SegmentJournal: WatchedJournal {}
