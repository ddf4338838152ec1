/// Reads the segments of a journal in their order, up to a problem or the end; changes no file.
///
/// The place where the records end decides what a start does:
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
struct RecoveryScanner {
    private let files: any JournalFiles
    private let configuration: JournalConfiguration
    private let checkpointed: JournalPosition
    /// The instance need not be the configured one if a loss is accepted, which changes it.
    private let acceptsAnyInstance: Bool
    let segments: [Segment]
    /// The last record that is durable by what was written beside the journal.
    private(set) var watermark: JournalPosition?
    /// Whether a whole, chained record contradicts the watermark, as of another directory or time.
    private var isWatermarkForeign = false
    private(set) var start = 0
    /// The last whole record so far, and when it was written.
    private(set) var last: JournalPosition
    private(set) var lastMicroseconds: UInt64 = 0
    /// When the checkpointed record was written; nil until that was seen.
    private(set) var checkpointedMicroseconds: UInt64?
    /// How long the journal was written to, up to the last record.
    private(set) var age = JournalAge(0)
    private(set) var checkpointedDamage: CheckpointedDamage?
    /// What ended the walk; nil if the journal may be continued.
    private(set) var problem: StorageError?
    private(set) var end = RecoveryScan.End.fresh(index: 0)

    init(
        _ files: any JournalFiles,
        _ configuration: JournalConfiguration,
        checkpointed: JournalPosition,
        acceptsAnyInstance: Bool
    ) throws(StorageError) {
        self.files = files
        self.configuration = configuration
        self.checkpointed = checkpointed
        self.acceptsAnyInstance = acceptsAnyInstance
        last = checkpointed
        watermark = try DurableWatermark.read(files, configuration.hash)
        segments = try RecoveryScan.firsts(files).sorted().map(Segment.init)
    }

    /// The last record that the watermark, the checkpoint or `state.db` knows to be durable.
    var lastKnown: UInt64 {
        max(checkpointed.number, watermark?.number ?? 0, configuration.known.number)
    }

    /// Reads the segments from the checkpointed position on, up to a problem.
    mutating func walkSegments(_ progress: (JournalProgress) -> Void) throws(StorageError) {
        // Those before are checkpointed: a power cut may have undone the unlink of some of them.
        guard let start = segments.lastIndex(where: { $0.first <= checkpointed.number + 1 })
        else {
            guard let next = segments.first else { return }
            // What another directory has is no gap.
            if let header = try? reader(next).header { try checkInstance(header, next.name) }
            problem = .missing(records: checkpointed.number + 1...next.first - 1)
            return
        }
        self.start = start
        end = .fresh(index: start)
        var completedByteCount = 0
        for index in start..<segments.count {
            guard let reader = try read(index) else { return }
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
    private mutating func read(_ index: Int) throws(StorageError) -> SegmentReader? {
        let segment = segments[index]
        var reader: SegmentReader
        do {
            reader = try self.reader(segment)
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
        guard problem == nil else { return reader }
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

    private func reader(_ segment: Segment) throws(StorageError) -> SegmentReader {
        try SegmentReader(
            RecoveryScan.open(files, segment),
            first: segment.first,
            configuration.hash
        )
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
}

extension RecoveryScanner {
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

    /// Checks the place where a segment has no more records.
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
    func loss() -> StorageError? {
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
