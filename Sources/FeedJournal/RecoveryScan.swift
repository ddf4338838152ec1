import Glibc

/// What a journal holds, read from the checkpointed position on.
///
/// All records up to `last` are whole and chained. If `problem` is nil they are all that was
/// ever acknowledged, as far as can be proved; after them is nothing, what the file held before it
/// was used again, or a write that a power cut tore.
package struct RecoveryScan {
    enum End: Equatable {
        /// Into a segment, at an offset: its last record begins at `record`, and what is not zero
        /// after that ends at `content`.
        case segment(index: Int, record: Int, offset: Int, content: Int)
        /// Into a segment that has to be made, in place of all from an index on.
        case fresh(index: Int)

        /// The last segment that stays, as an index; -1 if none does.
        var lastKeptIndex: Int {
            switch self {
            case .segment(let index, record: _, offset: _, content: _): index
            case .fresh(let index): index - 1
            }
        }
    }

    /// All segments, wholly checkpointed ones among them.
    let segments: [Segment]
    /// The last record that is left: in the files, or the checkpointed one if that is later.
    package let last: JournalPosition
    /// The last whole record that was read, which may be before the checkpointed one; the
    /// checkpointed one if none was read.
    let lastFound: UInt64
    /// When `lastFound` was written, in microseconds since 1970; 0 if none was read.
    package let lastMicroseconds: UInt64
    /// When the checkpointed record was written, in microseconds since 1970; nil if no file says it.
    package let checkpointedMicroseconds: UInt64?
    /// How long the journal was written to, up to `lastFound`.
    let age: JournalAge
    /// Why the journal must not be continued unless its loss is accepted.
    package let problem: StorageError?
    /// Damage in records that are checkpointed already: it is no problem.
    package let checkpointedDamage: CheckpointedDamage?
    /// The first segment that is not wholly checkpointed.
    let start: Int

    let end: End
    let configuration: JournalConfiguration
    package let hasWatermark: Bool
    package let lastKnown: UInt64

    /// Reads the journal and changes nothing; what cannot be read at all is thrown, what is wrong
    /// becomes the problem.
    package init(
        _ files: any JournalFiles,
        _ configuration: JournalConfiguration,
        checkpointed: JournalPosition,
        acceptsAnyInstance: Bool = false,
        progress: (JournalProgress) -> Void = { _ in }
    ) throws(StorageError) {
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
        checkpointedMicroseconds = scanner.checkpointedMicroseconds
        age = scanner.age
        checkpointedDamage = scanner.checkpointedDamage
        start = scanner.start
        hasWatermark = scanner.watermark != nil
        lastKnown = scanner.lastKnown
        // The state has all up to the checkpoint; only the chain begins anew after it. A file that
        // is not read up to there may have whole records after it: it goes to quarantine.
        last = isBehind ? checkpointed : scanner.last
        end = isBehind ? .fresh(index: scanner.start) : scanner.end
    }

    /// The first record of the oldest segment that a directory has; nil if it has none.
    package static func firstRecord(_ files: any JournalFiles) throws(StorageError) -> UInt64? {
        try firsts(files).min()
    }

    /// The end of a journal, and what its newest segment says of it.
    package struct Newest {
        package let instanceID: UInt64
        /// The last whole record there, or the one before the segment.
        package let number: UInt64
        /// When that was written, in microseconds since 1970.
        package let microseconds: UInt64
    }

    /// The end of a journal; nil if a directory has none.
    ///
    /// Reads one segment.
    package static func newest(_ files: any JournalFiles) throws(StorageError) -> Newest? {
        guard let first = try firsts(files).max() else { return nil }
        var reader = try SegmentReader(open(files, Segment(first: first)), first: first, .xxh3)
        while case .record = reader.next() {}
        return Newest(
            instanceID: reader.header.instanceID,
            number: reader.last.number,
            microseconds: reader.lastMicroseconds
        )
    }

    /// The first records of all segments, in any order.
    static func firsts(_ files: any JournalFiles) throws(StorageError) -> [UInt64] {
        // A state that was just restored has no journal yet.
        guard try files.names(in: ".").contains(SegmentLayout.directory) else { return [] }
        return try files.names(in: SegmentLayout.directory).compactMap(SegmentLayout.firstNumber)
    }

    /// Whether the journal has the record after a position, by the hash of the record there; reads one
    /// segment.
    package static func continues(
        _ files: any JournalFiles,
        _ position: JournalPosition
    ) throws(StorageError) -> Bool {
        guard var reader = try reader(behind: position, files) else { return false }
        guard case .record = reader.next() else { return false }
        return true
    }

    /// When a record was written, in microseconds since 1970; nil if the journal does not have it.
    ///
    /// Reads one segment.
    package static func microseconds(
        of position: JournalPosition,
        _ files: any JournalFiles
    ) throws(StorageError) -> UInt64? {
        try reader(behind: position, files)?.lastMicroseconds
    }

    /// A reader of the segment that has the record after a position, if one has it; nil if none has the
    /// record at the position, or begins after it.
    private static func reader(
        behind position: JournalPosition,
        _ files: any JournalFiles
    ) throws(StorageError) -> SegmentReader? {
        let first = try firsts(files).filter { $0 <= position.number + 1 }.max()
        guard let first else { return nil }
        var reader = try SegmentReader(open(files, Segment(first: first)), first: first, .xxh3)
        while reader.last.number < position.number {
            guard case .record = reader.next() else { return nil }
        }
        return reader.last == position ? reader : nil
    }

    /// The records of segments that no start needs, as they are kept for a time: what is damaged or missing
    /// of them first; nil if they are whole up to those that a start reads.
    package func keptProblem(_ files: any JournalFiles) throws(StorageError) -> StorageError? {
        for index in segments.indices.prefix(start) {
            let end = segments[index + 1].first - 1
            do throws(StorageError) {
                var reader = try SegmentReader(
                    Self.open(files, segments[index]),
                    first: segments[index].first,
                    configuration.hash
                )
                while reader.last.number < end {
                    guard case .record = reader.next() else {
                        throw .damagedRecord(
                            file: reader.name,
                            offset: reader.offset,
                            record: reader.last.number + 1,
                            reason: "it cannot be read"
                        )
                    }
                }
            } catch {
                guard case .damagedRecord = error else { throw error }
                return error
            }
        }
        return nil
    }

    static func open(
        _ files: any JournalFiles,
        _ segment: Segment
    ) throws(StorageError) -> any JournalFile {
        guard let file = try files.open(segment.name) else {
            throw .system("open", segment.name, code: ENOENT)
        }
        return file
    }
}

package enum MissingPlace: Equatable, Sendable {
    /// In a segment that is not there, with its name below the data directory.
    case segment(String)
    /// After an offset of a segment, or, if that was full, in the next one, which is not there.
    case end(of: String, offset: Int, next: String)
}

extension RecoveryScan {
    /// Where the first record that is missing has to be; nil if none is, if the problem names
    /// the place, and if no file tells it.
    package var firstMissing: MissingPlace? {
        switch problem {
        case .missing(let records):
            // After whole records: a segment begins with the first one that is missing.
            guard lastFound == records.lowerBound - 1,
                segments.contains(where: { $0.first < records.lowerBound })
            else { return nil }
            return .segment(SegmentLayout.name(first: records.lowerBound))
        case .lost:
            guard case .segment(let index, record: _, let offset, content: _) = end else {
                return nil
            }
            let next = SegmentLayout.name(first: last.number + 1)
            return .end(of: segments[index].name, offset: offset, next: next)
        default: return nil
        }
    }
}

/// Damage in records that are checkpointed already: nothing is lost by it.
///
/// The checkpointed position proves the record after the damage: it is whole under its segment's
/// salt, which no client knows, and it or the record after it names the hash of the checkpointed
/// record.
package struct CheckpointedDamage: Equatable, Sendable {
    /// The segment's name below the data directory.
    package let file: String
    /// Where in the file the first record that cannot be read begins.
    package let offset: Int
    package let number: UInt64
    /// Where the records continue after the damage; nil if nothing is after it.
    let resumption: RecordPlace?
    package let checkpointed: UInt64

    /// The sentence for an operator; `last` is the last record of the journal.
    package func note(last: UInt64) -> String {
        let behind =
            switch last {
            case ...checkpointed: "no record is after them"
            case checkpointed + 1: "record \(last) after them is whole"
            default: "records \(checkpointed + 1) to \(last) after them are whole"
            }
        return "\(file) is damaged at offset \(offset), record \(number). state.db has the "
            + "records up to \(checkpointed), and \(behind): nothing is lost. The file is removed "
            + "by a later checkpoint. Look at the disk."
    }
}

/// A part of the journal that an accepted loss drops, and keeps in `quarantine/`.
package struct DroppedPart: Equatable, Sendable {
    /// The segment's name below the data directory.
    package let file: String
    /// Where in the file the part begins; 0 is the whole file.
    package let offset: Int
}

extension RecoveryScan {
    /// What an accepted loss drops of the files, in the order of the records.
    package var droppedParts: [DroppedPart] {
        var parts: [DroppedPart] = []
        if case .segment(let index, record: _, let offset, let content) = end, content > offset {
            parts.append(DroppedPart(file: segments[index].name, offset: offset))
        }
        for segment in segments[(end.lastKeptIndex + 1)...] {
            parts.append(DroppedPart(file: segment.name, offset: 0))
        }
        return parts
    }
}

/// Where an accepted loss keeps what it drops.
package enum Quarantine {
    package static let directoryName = "quarantine"

    /// Keeps what an accepted loss drops: moves segments, and copies a segment that stays in part.
    ///
    /// A name has the file's first record, the last record that is left, and a hash of the content:
    /// nothing that is kept is overwritten, and a repetition after a power cut finds its own files.
    static func keep(
        _ scan: RecoveryScan,
        _ files: any JournalFiles,
        _ hash: RecordHash
    ) throws(StorageError) {
        let parts = scan.droppedParts
        guard !parts.isEmpty else { return }
        do throws(StorageError) {
            try files.createDirectory(directoryName)
            try files.syncDirectory(".")
            // The copy first, as it needs room. Then the newest segments first: after an
            // interruption, what is left still ends with a proven loss.
            for part in parts where part.offset > 0 {
                try keep(part.file, in: files, upTo: scan.last.number, hash: hash, moves: false)
            }
            for part in parts.reversed() where part.offset == 0 {
                try keep(part.file, in: files, upTo: scan.last.number, hash: hash, moves: true)
            }
        } catch {
            throw error.isOutOfSpace ? .outOfSpace(error) : error
        }
    }

    private static func keep(
        _ name: String,
        in files: any JournalFiles,
        upTo last: UInt64,
        hash: RecordHash,
        moves: Bool
    ) throws(StorageError) {
        guard let file = try files.open(name) else { return }
        let bytes = try file.read(0..<file.byteCount())
        let digits = name.dropFirst(SegmentLayout.directory.count + 1).dropLast(".log".count)
        let sum = hexadecimal(hash.digest(bytes.span, 0))
        let kept = "\(directoryName)/\(digits)-after-\(last)-\(sum).log"
        if moves {
            try files.rename(name, to: kept)
            try files.syncDirectory(directoryName)
            try files.syncDirectory(SegmentLayout.directory)
        } else if try files.open(kept) == nil {
            let copy = try files.create("\(kept).new")
            let content = bytes.span.extracting(first: bytes.span.endOfContent(from: 0))
            try copy.write(content, at: 0)
            try copy.sync()
            try files.rename("\(kept).new", to: kept)
            try files.syncDirectory(directoryName)
        }
    }
}

package struct JournalProgress: Equatable, Sendable {
    /// What has been read and checked.
    package let completedByteCount: Int
    package let totalByteCount: Int
    package let number: UInt64
}
