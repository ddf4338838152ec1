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

    /// The number of that record.
    package let number: UInt64

    /// Where the records continue after the damage; nil where nothing is after it.
    let resumption: RecordPlace?

    /// The last record that is checkpointed.
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

extension SegmentReader {
    /// The place after a record that is known by its hash.
    ///
    /// With the offset of the first whole record there, which is that one or the next one; nil where
    /// neither is whole. O(n) in what is left of the segment: only headers with a fitting number and
    /// hash are hashed.
    func place(behind known: JournalPosition) -> (place: RecordPlace, record: Int)? {
        let end = endOfContent
        var candidate = offset
        while candidate < end, candidate + RecordHeader.byteCount <= bytes.count {
            let number = bytes.span.uint64(at: candidate + 8)
            if number == known.number, bytes.span.uint64(at: candidate + 32) == known.hash,
                let record = intactRecord(at: candidate)
            {
                let byteCount = RecordHeader.recordByteCount(body: record.bodyByteCount)
                let place = RecordPlace(
                    offset: candidate + byteCount,
                    previous: known,
                    microseconds: record.microseconds
                )
                return (place, candidate)
            }
            if number == known.number + 1,
                bytes.span.uint64(at: candidate + 24) == known.hash,
                intactRecord(at: candidate) != nil
            {
                let place = RecordPlace(
                    offset: candidate,
                    previous: known,
                    microseconds: lastMicroseconds
                )
                return (place, candidate)
            }
            candidate += SegmentLayout.alignment
        }
        return nil
    }
}

extension RecoveryScanner {
    /// Continues after the checkpointed record where a segment's records end before it.
    ///
    /// Notes the damage; false where nothing proves where that place is.
    mutating func skipCheckpointed(_ reader: inout SegmentReader, _ lastOffset: inout Int) -> Bool {
        guard reader.last.number < checkpointed.number,
            let found = reader.place(behind: checkpointed)
        else { return false }
        checkpointedDamage = CheckpointedDamage(
            file: reader.name,
            offset: reader.offset,
            number: reader.last.number + 1,
            resumption: found.place,
            checkpointed: checkpointed.number
        )
        reader.resume(at: found.place)
        last = checkpointed
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
    mutating func endsWithTheCheckpoint(_ reader: SegmentReader, _ index: Int) -> Bool {
        guard index == segments.count - 1, reader.last.number < checkpointed.number,
            watermark == checkpointed, configuration.known.number <= checkpointed.number,
            reader.sizeProblem == nil,
            reader.hasTraceAtEnd || reader.laterRecord() != nil,
            reader.laterRecord(than: checkpointed.number) == nil
        else { return false }
        checkpointedDamage = CheckpointedDamage(
            file: reader.name,
            offset: reader.offset,
            number: reader.last.number + 1,
            resumption: nil,
            checkpointed: checkpointed.number
        )
        last = checkpointed
        return true
    }
}
