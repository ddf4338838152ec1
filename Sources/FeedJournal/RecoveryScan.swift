import Glibc

/// What a journal holds, read from the checkpointed position on.
///
/// All records up to `last` are whole and chained. If `problem` is nil they are all that was
/// ever acknowledged, as far as can be proved; after them is nothing, what the file held before it
/// was used again, or a write that a power cut tore. The place where the records end decides what a
/// start does:
///
///     what is seen                                                    what it is
///     --------------------------------------------------------------  ----------------------
///     Newest segment: no whole record, and no later one after that    the end, or a torn write
///     Earlier segment: no whole record, and the next begins with it   the end of the segment
///     A checkpointed record is not whole; what follows is proved      checkpointed damage
///     A header is wrong, or does not continue the last record         damaged
///     A file is shorter than its header says                          damaged
///     A whole record does not continue the journal                    damaged
///     A record differs from the one that was durable once             damaged
///     Newest segment: no whole record, but a later one after that     damaged
///     The next segment begins with an earlier record                  damaged
///     A gap before the next segment, with a trace of a record         damaged
///     A gap before the next segment, without a trace                  missing
///     The first segment begins after the checkpoint                   missing
///     No segment, and all durable records are checkpointed            missing
///     The end is before a record that was durable once                lost
///     The watermark is not there, or is of another directory          missing watermark
///
/// With ``Durability/replicated`` records are synced a little after they were appended, so a power cut may
/// spoil any of those above the known ones: the newest that the watermark, the checkpoint or `state.db`
/// names. What is damaged or missing there is cut off, with all that comes after it; the other machines
/// have it. At or below the known ones all is as in the table.
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
    package private(set) var last: JournalPosition
    /// The last whole record that was read, which may be before the checkpointed one; the
    /// checkpointed one if none was read.
    private(set) var lastFound: UInt64
    /// When `lastFound` was written, in microseconds since 1970; 0 if none was read.
    package private(set) var lastMicroseconds: UInt64 = 0
    /// When the checkpointed record was written, in microseconds since 1970; nil if no file says it.
    package private(set) var checkpointedMicroseconds: UInt64?
    /// How long the journal was written to, up to `lastFound`.
    private(set) var age = JournalAge(0)
    /// Why the journal must not be continued unless its loss is accepted.
    package private(set) var problem: StorageError?
    /// What would be the problem if the records from there on were not to be had from other machines.
    package private(set) var cutProblem: StorageError?
    /// Damage in records that are checkpointed already: it is no problem.
    package private(set) var checkpointedDamage: CheckpointedDamage?
    /// The first segment that is not wholly checkpointed.
    private(set) var start = 0
    private(set) var end = End.fresh(index: 0)
    let configuration: JournalConfiguration

    private let checkpointed: JournalPosition
    /// The instance need not be the configured one if a loss is accepted, which changes it.
    private let acceptsAnyInstance: Bool
    /// The last record that is durable by what was written beside the journal.
    private var watermark: JournalPosition?
    /// Whether a whole, chained record contradicts the watermark, as of another directory or time.
    private var isWatermarkForeign = false
    /// Whether the header of a segment contradicts the newest known record.
    private var isKnownContradicted = false

    package var hasWatermark: Bool { watermark != nil }

    /// The last record that the watermark, the checkpoint or `state.db` knows to be durable.
    package var lastKnown: UInt64 {
        max(checkpointed.number, watermark?.number ?? 0, configuration.known.number)
    }

    /// Reads the journal and changes nothing; what cannot be read at all is thrown, what is wrong
    /// becomes the problem.
    package init(
        _ files: any JournalFiles,
        _ configuration: JournalConfiguration,
        checkpointed: JournalPosition,
        acceptsAnyInstance: Bool = false,
        progress: (JournalProgress) -> Void = { _ in }
    ) throws(StorageError) {
        self.configuration = configuration
        self.checkpointed = checkpointed
        self.acceptsAnyInstance = acceptsAnyInstance
        last = checkpointed
        lastFound = checkpointed.number
        watermark = try DurableWatermark.read(files, configuration.hash)
        segments = try Self.firsts(files).sorted().map(Segment.init)
        try walkSegments(files, progress)
        cutAboveKnown()
        problem = problem ?? loss()
        lastFound = last.number
        guard lastFound < checkpointed.number else { return }
        // The state has all up to the checkpoint; only the chain begins anew after it. A file that
        // is not read up to there may have whole records after it: it goes to quarantine.
        last = checkpointed
        end = .fresh(index: start)
    }

    /// Takes damage above all that is known to be durable for the end, if other machines have the records.
    ///
    /// Without the watermark it is not known where that is.
    private mutating func cutAboveKnown() {
        guard configuration.durability == .replicated, watermark != nil, !isKnownContradicted,
            last.number >= lastKnown
        else { return }
        cutProblem = problem
        problem = nil
    }

    /// The end of a journal, and what its newest segment says of it.
    package struct Newest {
        package let instanceID: UInt64
        /// The last whole record there, or the one before the segment.
        package let number: UInt64
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
                var reader = try reader(segments[index], files)
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

// How the segments are read in their order, up to a problem or the end.
extension RecoveryScan {
    /// Reads the segments from the checkpointed position on, up to a problem.
    private mutating func walkSegments(
        _ files: any JournalFiles,
        _ progress: (JournalProgress) -> Void
    ) throws(StorageError) {
        // Those before are checkpointed: a power cut may have undone the unlink of some of them.
        guard let start = segments.lastIndex(where: { $0.first <= checkpointed.number + 1 })
        else {
            guard let next = segments.first else { return }
            // What another directory has is no gap.
            if let header = try? reader(next, files).header { try checkInstance(header, next.name) }
            problem = .missing(records: checkpointed.number + 1...next.first - 1)
            return
        }
        self.start = start
        end = .fresh(index: start)
        var completedByteCount = 0
        for index in start..<segments.count {
            guard let reader = try read(index, files) else { return }
            completedByteCount += reader.bytes.count
            progress(
                JournalProgress(
                    completedByteCount: completedByteCount,
                    totalByteCount: completedByteCount
                        + (segments.count - 1 - index) * reader.header.segmentByteCount,
                    number: last.number
                )
            )
            guard problem == nil else { return }
        }
    }

    /// Checks one segment and takes over what it holds; nil if not even its header is right.
    private mutating func read(
        _ index: Int,
        _ files: any JournalFiles
    ) throws(StorageError) -> SegmentReader? {
        let segment = segments[index]
        var reader: SegmentReader
        do {
            reader = try self.reader(segment, files)
        } catch {
            guard case .damagedRecord(let file, let offset, _, let reason) = error else {
                throw error
            }
            // Checkpointed records of the segment are not lost with its header.
            let next = last.number + 1
            problem = .damagedRecord(file: file, offset: offset, record: next, reason: reason)
            return nil
        }
        try checkInstance(reader.header, segment.name)
        problem = link(reader)
        guard problem == nil else {
            isKnownContradicted = last.number <= lastKnown
            return reader
        }
        last = reader.last
        lastMicroseconds = reader.lastMicroseconds
        age = JournalAge(reader.header.age)
        noteCheckpointed()
        var record = reader.offset
        problem = walkRecords(&reader, &record)
        if problem == nil, endsWithTheCheckpoint(reader, index) {
            end = .fresh(index: index + 1)
            return reader
        }
        end = .segment(
            index: index,
            record: record,
            offset: reader.offset,
            content: reader.endOfContent
        )
        if problem == nil { problem = checkEnd(reader, index) }
        return reader
    }

    private func reader(
        _ segment: Segment,
        _ files: any JournalFiles
    ) throws(StorageError) -> SegmentReader {
        try SegmentReader(Self.open(files, segment), first: segment.first, configuration.hash)
    }

    /// Notes the time of the last record if that is the checkpointed one.
    private mutating func noteCheckpointed() {
        if last.number == checkpointed.number { checkpointedMicroseconds = lastMicroseconds }
    }

    private func checkInstance(_ header: SegmentHeader, _ name: String) throws(StorageError) {
        let taken = [configuration.instanceID, configuration.previousInstanceID]
        guard acceptsAnyInstance || taken.contains(header.instanceID) else {
            throw .otherInstance(
                file: name,
                found: header.instanceID,
                expected: configuration.instanceID
            )
        }
    }

    /// Checks that a segment begins where the one before it, or the checkpoint, has ended.
    private func link(_ reader: SegmentReader) -> StorageError? {
        let first = reader.header.previous
        guard first.number == last.number, first.hash != last.hash else { return nil }
        return .damagedRecord(
            file: reader.name,
            offset: 0,
            record: first.number + 1,
            reason: "it does not continue record \(last.number) as that one is known"
        )
    }

    /// Walks past all records of a segment that are right, and tells where the last one begins.
    private mutating func walkRecords(
        _ reader: inout SegmentReader,
        _ lastOffset: inout Int
    ) -> StorageError? {
        while true {
            let offset = reader.offset
            func damaged(_ reason: String) -> StorageError {
                .damagedRecord(
                    file: reader.name,
                    offset: offset,
                    record: reader.last.number + 1,
                    reason: reason
                )
            }
            switch reader.next() {
            case .record(let record, body: _):
                for known in [checkpointed, configuration.known]
                where known.number == record.number {
                    guard known == record.position else {
                        return .damagedRecord(
                            file: reader.name,
                            offset: offset,
                            record: record.number,
                            reason: "it is not the record that was durable once"
                        )
                    }
                }
                if let old = watermark, old.number == record.number, old != record.position {
                    isWatermarkForeign = true
                    watermark = nil
                }
                age.add(foundGap: record.microseconds - lastMicroseconds)
                last = record.position
                lastOffset = offset
                lastMicroseconds = record.microseconds
                noteCheckpointed()
            case .foreign(let record):
                return damaged("record \(record.number) is there and does not continue the journal")
            case .end:
                guard !skipCheckpointed(&reader, &lastOffset) else { continue }
                return reader.sizeProblem.map(damaged)
            }
        }
    }

    /// Continues after the checkpointed record if a segment's records end before it.
    ///
    /// Notes the damage; false if nothing proves where that place is.
    private mutating func skipCheckpointed(
        _ reader: inout SegmentReader,
        _ lastOffset: inout Int
    ) -> Bool {
        guard reader.last.number < checkpointed.number,
            let found = reader.place(behind: checkpointed)
        else { return false }
        noteDamage(reader, resumption: found.place)
        reader.resume(at: found.place)
        lastMicroseconds = found.place.microseconds
        lastOffset = found.record
        return true
    }

    /// Whether a damaged checkpointed record was the last one of all; then no record after it is
    /// lost.
    ///
    /// If so, the damage is noted. It is so if the watermark names this record, and the newest
    /// segment has its full size, a trace of the damaged record, and no whole record of a later
    /// number.
    private mutating func endsWithTheCheckpoint(_ reader: SegmentReader, _ index: Int) -> Bool {
        guard index == segments.count - 1, reader.last.number < checkpointed.number,
            watermark == checkpointed, configuration.known.number <= checkpointed.number,
            reader.sizeProblem == nil,
            reader.hasTraceAtEnd || reader.laterRecord() != nil,
            reader.laterRecord(than: checkpointed.number) == nil
        else { return false }
        noteDamage(reader, resumption: nil)
        return true
    }

    private mutating func noteDamage(_ reader: SegmentReader, resumption: RecordPlace?) {
        checkpointedDamage = CheckpointedDamage(
            file: reader.name,
            offset: reader.offset,
            number: reader.last.number + 1,
            resumption: resumption,
            checkpointed: checkpointed.number
        )
        last = checkpointed
    }

    private func checkEnd(_ reader: SegmentReader, _ index: Int) -> StorageError? {
        let next = last.number + 1
        func damaged(_ reason: String) -> StorageError {
            .damagedRecord(file: reader.name, offset: reader.offset, record: next, reason: reason)
        }
        if index + 1 < segments.count {
            let following = segments[index + 1].first
            if following == next { return nil }
            guard following > next else {
                return damaged("the next segment begins with record \(following)")
            }
            // Without a trace of it in this file, the record was in one that is not there.
            guard reader.hasTraceAtEnd || reader.laterRecord() != nil else {
                return .missing(records: next...following - 1)
            }
            return damaged("its hash is wrong, and the journal continues after it")
        }
        guard let later = reader.laterRecord() else { return nil }
        return damaged(
            "its hash is wrong, and record \(later.record.number) is after it"
                + " at offset \(later.offset)"
        )
    }

    /// What was durable once, by what is known of it, and is not found.
    private func loss() -> StorageError? {
        let known = lastKnown
        guard last.number < known else {
            // The newest segment is never removed, even if all of it is checkpointed.
            guard segments.isEmpty, known > 0 else {
                let isMissed = configuration.known.number > 0 && watermark == nil
                return isMissed || isWatermarkForeign ? .missingWatermark(last: last.number) : nil
            }
            return .missing(records: known...known)
        }
        return .lost(records: last.number + 1...known)
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
    package let completedByteCount: Int
    package let totalByteCount: Int
    package let number: UInt64
}

/// Reads the records of segments that have been checked before, in order.
struct SegmentReplay {
    let files: any JournalFiles
    let segments: [Segment]
    let last: UInt64

    let hash: RecordHash
    /// Damage in checkpointed records, skipped if only the records after it are asked for.
    let checkpointedDamage: CheckpointedDamage?

    /// Gives the records after a position, until `body` says false or none is left.
    func run(
        after number: UInt64,
        _ body: (JournalRecord, Span<UInt8>) -> Bool
    ) throws(StorageError) {
        guard number < last else { return }
        guard let start = segments.lastIndex(where: { $0.first <= number + 1 }) else {
            throw .missing(records: number + 1...(segments.first?.first ?? last + 1) - 1)
        }
        for index in start..<segments.count {
            let segment = segments[index]
            // What is behind the end was cut off, or is to be.
            guard segment.first <= last else { return }
            let file = try RecoveryScan.open(files, segment)
            var reader = try SegmentReader(file, first: segment.first, hash)
            if let damage = checkpointedDamage, damage.file == segment.name,
                let place = damage.resumption, place.previous.number <= number
            {
                reader.resume(at: place)
            }
            while reader.last.number < lastNumber(index) {
                let offset = reader.offset
                guard case .record(let header, body: let range) = reader.next() else {
                    throw .damagedRecord(
                        file: segment.name,
                        offset: offset,
                        record: reader.last.number + 1,
                        reason: "it was whole when the journal was opened"
                    )
                }
                guard header.number > number else { continue }
                let record = JournalRecord(
                    position: header.position,
                    count: header.count,
                    microseconds: header.microseconds
                )
                guard body(record, reader.bytes.span.extracting(range)) else { return }
            }
        }
    }

    private func lastNumber(_ index: Int) -> UInt64 {
        index + 1 < segments.count ? min(last, segments[index + 1].first - 1) : last
    }
}

extension RecoveryScan {
    /// Gives the records that were found after a position in order, until `body` says false or
    /// none is left; changes nothing.
    ///
    /// With everything kept, checkpointed records can be asked for too.
    package func replay(
        _ files: any JournalFiles,
        after number: UInt64,
        _ body: (JournalRecord, Span<UInt8>) -> Bool
    ) throws(StorageError) {
        let replay = SegmentReplay(
            files: files,
            segments: segments,
            last: last.number,
            hash: configuration.hash,
            checkpointedDamage: checkpointedDamage
        )
        try replay.run(after: number, body)
    }
}
