import Glibc

/// What a journal holds, read from the checkpointed position on.
///
/// All records up to `last` are whole and chained. Where `problem` is nil they are all that was
/// ever acknowledged, as far as can be proved; after them is nothing, what the file held before it
/// was used again, or a write that a power cut tore.
package struct RecoveryScan {
    /// Where the next record goes.
    enum End: Equatable {
        /// Into a segment, at an offset: its last record begins at `record`, and what is not zero
        /// after that ends at `content`.
        case segment(index: Int, record: Int, offset: Int, content: Int)

        /// Into a segment that has to be made, in place of all from an index on.
        case fresh(index: Int)

        /// The last segment that stays, as an index; -1 where none does.
        var lastKeptIndex: Int {
            switch self {
            case .segment(let index, record: _, offset: _, content: _): index
            case .fresh(let index): index - 1
            }
        }
    }

    /// All segments, wholly checkpointed ones among them.
    let segments: [Segment]

    /// The last record that is left: in the files, or the checkpointed one where that is later.
    package let last: JournalPosition

    /// The last whole record that was read, which may be before the checkpointed one; the
    /// checkpointed one where none was read.
    let lastFound: UInt64

    /// When `lastFound` was written, in microseconds since 1970; 0 where none was read.
    package let lastMicroseconds: UInt64

    /// Why the journal must not be continued unless its loss is accepted.
    package let problem: JournalError?

    /// Damage in records that are checkpointed already: it is no problem.
    package let checkpointedDamage: CheckpointedDamage?

    /// The first segment that is not wholly checkpointed.
    let start: Int

    let end: End
    let configuration: JournalConfiguration

    /// Whether there is a usable watermark.
    package let hasWatermark: Bool

    /// The last record that the watermark, the checkpoint or `state.db` knows to be durable.
    package let lastKnown: UInt64

    /// Reads the journal and changes nothing; what cannot be read at all is thrown, what is wrong
    /// becomes the problem.
    package init(
        _ files: any JournalFiles,
        _ configuration: JournalConfiguration,
        checkpointed: JournalPosition,
        acceptsAnyInstance: Bool = false,
        progress: (JournalProgress) -> Void = { _ in }
    ) throws(JournalError) {
        var scanner = try RecoveryScanner(
            files,
            configuration,
            checkpointed: checkpointed,
            acceptsAnyInstance: acceptsAnyInstance
        )
        try scanner.walkSegments(progress)
        let isBehind = scanner.last.number < checkpointed.number
        self.configuration = configuration
        segments = scanner.segments
        problem = scanner.problem ?? scanner.loss()
        lastFound = scanner.last.number
        lastMicroseconds = scanner.lastMicroseconds
        checkpointedDamage = scanner.checkpointedDamage
        start = scanner.start
        hasWatermark = scanner.watermark != nil
        lastKnown = scanner.lastKnown
        // The state has all up to the checkpoint; only the chain begins anew after it. A file that
        // is not read up to there may have whole records after it: it goes to quarantine.
        last = isBehind ? checkpointed : scanner.last
        end = isBehind ? .fresh(index: scanner.start) : scanner.end
    }

    /// The first record of the oldest segment that a directory has; nil where it has none.
    package static func firstRecord(_ files: any JournalFiles) throws(FileError) -> UInt64? {
        guard try files.names(in: ".").contains(SegmentLayout.directory) else { return nil }
        return try files.names(in: SegmentLayout.directory)
            .compactMap(SegmentLayout.firstNumber).min()
    }

    /// The file of a segment that was listed.
    static func open(
        _ files: any JournalFiles,
        _ segment: Segment
    ) throws(JournalError) -> any JournalFile {
        guard let file = try fileErrors({ () throws(FileError) in try files.open(segment.name) })
        else { throw .file(FileError("open", segment.name, code: ENOENT)) }
        return file
    }
}
