/// A journal in files of one size, each named after its first record.
///
/// Bound to one thread at a time. Records lie one after the other, each a header and a body,
/// chained by their hashes; after the newest is nothing that passes for one. A record is written at
/// its end and synced before the append returns, so at most one, the last, can be torn.
/// `docs/STORAGE.md` has the formats and the rules.
package final class SegmentJournal: Journal {
    /// The segment that is written to.
    struct Current {
        let file: any JournalFile
        let header: SegmentHeader

        /// Where the next record goes; after it is nothing that passes for one.
        var offset: Int
    }

    /// Where the segments are, below the data directory.
    package static let directoryName = SegmentLayout.directory

    /// The file of the durable watermark.
    package static let watermarkName = DurableWatermark.name

    /// The file that is given up on a full disk.
    package static let ballastName = Ballast.name

    package internal(set) var last: JournalPosition

    /// When the last record was written, in microseconds; the next one is not before.
    package internal(set) var lastMicroseconds: UInt64

    /// How far the times of records are ahead of the clock in this run: so none stands still where the
    /// clock is behind the newest record.
    package var clockShift: UInt64 = 0

    let files: any JournalFiles
    let configuration: JournalConfiguration

    /// In order; the last is the current one.
    var segments: [Segment]

    var current: Current

    /// Damage in records that are checkpointed.
    ///
    /// The next checkpoint forgets the segment, whose file is not used again.
    package let checkpointedDamage: CheckpointedDamage?

    var watermark: DurableWatermark
    var space: JournalSpace

    /// All records up to this one are kept elsewhere.
    var forgotten: UInt64

    /// How long the journal was written to.
    var age: JournalAge

    /// The journal's age when the segment before one ended, read from that one's header.
    var knownEnd: (next: Segment, age: UInt64)?

    /// How many kept segments were removed before their time, as the disk ran low.
    package internal(set) var droppedSegmentCount = 0

    /// Why no append is taken any more.
    var failure: String?

    /// Opens the journal of a directory, or makes it where the directory is new.
    ///
    /// It is read from the record after `checkpointed`, and what a power cut has torn is cut off.
    /// Damage in records up to `checkpointed` alone costs nothing: see ``checkpointedDamage``. If
    /// more is missing the problem is thrown, unless `acceptedLoss` names the last record that is
    /// left; then all after it is moved to `quarantine/`, and the configuration's instance has to be
    /// a new one.
    package init(
        _ files: any JournalFiles,
        _ configuration: JournalConfiguration,
        checkpointed: JournalPosition = .start,
        acceptedLoss: UInt64? = nil,
        progress: (JournalProgress) -> Void = { _ in }
    ) throws(JournalError) {
        configuration.check()
        self.files = files
        self.configuration = configuration
        let scan = try Self.scan(
            files,
            configuration,
            checkpointed: checkpointed,
            acceptedLoss: acceptedLoss,
            progress
        )
        last = scan.last
        lastMicroseconds = scan.lastMicroseconds
        age = scan.age
        checkpointedDamage = scan.checkpointedDamage
        forgotten = checkpointed.number
        // Before anything is made, which may need the room.
        try fileErrors { () throws(FileError) in try SpareSegments.removeForgotten(files) }
        (segments, current) = try Self.repair(
            files,
            configuration,
            scan,
            isLossAccepted: acceptedLoss != nil
        )
        let position = last
        (watermark, space) = try fileErrors { () throws(FileError) in
            var watermark = try DurableWatermark(files, configuration.hash)
            // It is durable from here on: a watermark that is missing later was removed.
            try watermark.replace(with: position)
            try files.syncDirectory(".")
            return (watermark, try JournalSpace(files, configuration))
        }
        _ = try checkSpace()
    }

    package func replay(
        after number: UInt64,
        _ body: (JournalRecord, Span<UInt8>) -> Bool
    ) throws(JournalError) {
        let replay = SegmentReplay(
            files: files,
            segments: segments,
            last: last.number,
            hash: configuration.hash,
            checkpointedDamage: checkpointedDamage
        )
        try replay.run(after: number, body)
    }

    /// Looks at the free space, writes the ballast where it is due, and says what may be taken.
    ///
    /// To be called every second or so, on the journal's thread.
    package func checkSpace() throws(JournalError) -> SpaceWatch.Mode {
        try removeKept()
        return try fileErrors { () throws(FileError) in try space.check() }
    }
}

extension SegmentJournal {
    /// The bytes that the disk has free for us.
    package func freeByteCount() throws(JournalError) -> Int {
        try fileErrors { () throws(FileError) in try files.freeByteCount() }
    }

    /// The free bytes from which on changes are taken again, once they are not.
    package var writableByteCount: Int { space.writableByteCount }

    /// Whether the file is there that is given up on a full disk.
    package var hasBallast: Bool { space.hasBallast }

    /// Gives up what only keeps room: the files for segments to come, and the ballast.
    ///
    /// For when another file of the directory finds no room. All of it is made anew when there is
    /// room again.
    package func giveUpReserves() throws(JournalError) {
        while try removeKeptForRoom() {}
        try fileErrors { () throws(FileError) in try space.giveUp() }
    }

    /// Removes the files that only keep room: those for segments to come, and the ballast.
    ///
    /// For a start on a full disk, before there is a journal; all of them are made anew later.
    package static func removeReserves(_ files: any JournalFiles) throws(JournalError) {
        try fileErrors { () throws(FileError) in try JournalSpace.giveUp(files) }
    }

    /// The bytes of the segments, each as large as the current one, and of those to come.
    package var fileByteCount: Int {
        (segments.count + space.spareCount) * current.header.segmentByteCount
    }
}

@available(*, unavailable)
extension SegmentJournal: Sendable {}
