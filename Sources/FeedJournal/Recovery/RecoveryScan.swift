import Glibc

/// What a journal holds, read from the checkpointed position on; the scan changes nothing.
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
    private(set) var segments: [Segment] = []

    /// The last record.
    package internal(set) var last: JournalPosition

    /// The last record in the files, where it is before the checkpointed one.
    package private(set) var lastFound: UInt64 = 0

    /// When it was written.
    package internal(set) var lastMicroseconds: UInt64 = 0

    /// Why the journal must not be continued unless its loss is accepted.
    package private(set) var problem: JournalError?

    /// Damage in records that are checkpointed already: it is no problem.
    package internal(set) var checkpointedDamage: CheckpointedDamage?

    /// The first segment that is not wholly checkpointed.
    private(set) var start = 0

    private(set) var end = End.fresh(index: 0)
    let configuration: JournalConfiguration
    let checkpointed: JournalPosition
    private(set) var watermark: JournalPosition?

    /// Whether a whole, chained record contradicts the watermark, as of another directory or time.
    private var isWatermarkForeign = false

    /// Whether there is a usable watermark.
    package var hasWatermark: Bool { watermark != nil }

    /// The last record that the watermark, the checkpoint or `state.db` knows to be durable.
    package var lastKnown: UInt64 {
        max(checkpointed.number, watermark?.number ?? 0, configuration.known.number)
    }

    /// The instance need not be the configured one where a loss is accepted, which changes it.
    private let acceptsAnyInstance: Bool

    /// Reads the journal; what cannot be read at all is thrown, what is wrong becomes the problem.
    package init(
        _ files: any JournalFiles,
        _ configuration: JournalConfiguration,
        checkpointed: JournalPosition,
        acceptsAnyInstance: Bool = false,
        progress: (JournalProgress) -> Void = { _ in }
    ) throws(JournalError) {
        self.configuration = configuration
        self.checkpointed = checkpointed
        self.acceptsAnyInstance = acceptsAnyInstance
        last = checkpointed
        watermark = try fileErrors { () throws(FileError) in
            try DurableWatermark.read(files, configuration.hash)
        }
        segments = try fileErrors { () throws(FileError) -> [String] in
            // A state that was just restored has no journal yet.
            guard try files.names(in: ".").contains(SegmentLayout.directory) else { return [] }
            return try files.names(in: SegmentLayout.directory)
        }
        .compactMap(SegmentLayout.firstNumber).sorted().map(Segment.init)
        try walk(files, progress)
        if problem == nil { problem = loss() }
        lastFound = last.number
        guard last.number >= checkpointed.number else {
            // The state has all up to the checkpoint; only the chain begins anew after it. A file
            // that is not read up to there may have whole records after it: it goes to quarantine.
            last = checkpointed
            end = .fresh(index: start)
            return
        }
    }

    private mutating func walk(
        _ files: any JournalFiles,
        _ progress: (JournalProgress) -> Void
    ) throws(JournalError) {
        // Those before are checkpointed: a power cut may have undone the unlink of some of them.
        guard let start = segments.lastIndex(where: { $0.first <= checkpointed.number + 1 })
        else {
            guard let next = segments.first else { return }
            // What another directory has is no gap.
            if let header = try? reader(files, next).header { try check(header, next.name) }
            problem = .missing(records: checkpointed.number + 1...next.first - 1)
            return
        }
        self.start = start
        end = .fresh(index: start)
        var completedByteCount = 0
        for index in start..<segments.count {
            guard let reader = try read(files, index) else { return }
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

    /// Checks one segment and takes over what it holds; nil where not even its header is right.
    private mutating func read(
        _ files: any JournalFiles,
        _ index: Int
    ) throws(JournalError) -> SegmentReader? {
        let segment = segments[index]
        var reader: SegmentReader
        do {
            reader = try self.reader(files, segment)
        } catch {
            guard case .damaged(let file, let offset, _, let reason) = error else { throw error }
            // Checkpointed records of the segment are not lost with its header.
            let next = last.number + 1
            problem = .damaged(file: file, offset: offset, record: next, reason: reason)
            return nil
        }
        try check(reader.header, segment.name)
        problem = link(reader)
        guard problem == nil else { return reader }
        last = reader.last
        lastMicroseconds = reader.lastMicroseconds
        var record = reader.offset
        problem = walk(&reader, &record)
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
        if problem == nil { problem = check(end: reader, index) }
        return reader
    }

    private func reader(
        _ files: any JournalFiles,
        _ segment: Segment
    ) throws(JournalError) -> SegmentReader {
        try SegmentReader(Self.open(files, segment), first: segment.first, configuration.hash)
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

    private func check(_ header: SegmentHeader, _ name: String) throws(JournalError) {
        let taken = [configuration.instanceID, configuration.previousInstanceID]
        guard acceptsAnyInstance || taken.contains(header.instanceID) else {
            throw .otherInstance(
                file: name,
                found: header.instanceID,
                expected: configuration.instanceID
            )
        }
    }
}

extension RecoveryScan {
    /// Checks that a segment begins where the one before it, or the checkpoint, has ended.
    private func link(_ reader: SegmentReader) -> JournalError? {
        let first = reader.header.previous
        guard first.number == last.number, first.hash != last.hash else { return nil }
        return .damaged(
            file: reader.name,
            offset: 0,
            record: first.number + 1,
            reason: "it does not continue record \(last.number) as that one is known"
        )
    }

    /// Walks past all records of a segment that are right, and tells where the last one begins.
    private mutating func walk(
        _ reader: inout SegmentReader,
        _ lastOffset: inout Int
    ) -> JournalError? {
        while true {
            let offset = reader.offset
            func damaged(_ reason: String) -> JournalError {
                .damaged(
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
                        return .damaged(
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
                last = record.position
                lastOffset = offset
                lastMicroseconds = record.microseconds
            case .foreign(let record):
                return damaged(
                    "record \(record.number) is there and does not continue the journal"
                )
            case .end:
                guard !skipCheckpointed(&reader, &lastOffset) else { continue }
                return reader.sizeProblem.map(damaged)
            }
        }
    }

    /// Checks the place where a segment has no more records.
    private func check(end reader: SegmentReader, _ index: Int) -> JournalError? {
        let next = last.number + 1
        func damaged(_ reason: String) -> JournalError {
            .damaged(file: reader.name, offset: reader.offset, record: next, reason: reason)
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
    private func loss() -> JournalError? {
        let known = lastKnown
        guard last.number < known else {
            // The newest segment is never removed, even where all of it is checkpointed.
            guard segments.isEmpty, known > 0 else {
                let isMissed = configuration.known.number > 0 && watermark == nil
                return isMissed || isWatermarkForeign ? .missingWatermark(last: last.number) : nil
            }
            return .missing(records: known...known)
        }
        return .lost(records: last.number + 1...known)
    }
}
