/// Walks the records of one segment that was read whole, checking each.
struct SegmentReader {
    /// What stands where the next record would.
    enum Step {
        /// The record that has to be there, and where its body is.
        case record(RecordHeader, body: Range<Int>)
        /// A record that is whole and has no place here.
        case foreign(RecordHeader)
        case end
    }

    let name: String
    let header: SegmentHeader
    let bytes: [UInt8]
    private(set) var offset = SegmentLayout.firstRecord
    /// The last record that was walked past.
    private(set) var last: JournalPosition
    private(set) var lastMicroseconds: UInt64

    private let hash: RecordHash

    /// Reads the segment, whole, and checks its header and its size.
    init(_ file: any JournalFile, first number: UInt64, _ hash: RecordHash) throws(StorageError) {
        name = file.name
        self.hash = hash
        let bytes = try file.read(0..<file.byteCount())
        self.bytes = bytes
        header = try SegmentHeader(bytes.span, file: name, first: number, hash)
        last = header.previous
        lastMicroseconds = header.previousMicroseconds
    }

    /// Why the file is shorter than it was made; nil if it is not.
    var sizeProblem: String? {
        guard bytes.count < header.segmentByteCount else { return nil }
        return "the file has \(bytes.count) bytes of \(header.segmentByteCount)"
    }

    /// Reads the record at the next place, and moves past it if it is the right one.
    mutating func next() -> Step {
        guard let record = intactRecord(at: offset) else { return .end }
        guard record.number == last.number + 1, record.previousHash == last.hash,
            record.microseconds >= lastMicroseconds
        else { return .foreign(record) }
        let start = offset + RecordHeader.byteCount
        offset += RecordHeader.recordByteCount(body: record.bodyByteCount)
        last = record.position
        lastMicroseconds = record.microseconds
        return .record(record, body: start..<start + record.bodyByteCount)
    }

    mutating func resume(at place: RecordPlace) {
        offset = place.offset
        last = place.previous
        lastMicroseconds = place.microseconds
    }

    /// Whether something is left of the next record's header: its number or what it continues.
    ///
    /// Other bytes there may be what the file held before it was used again.
    var hasTraceAtEnd: Bool {
        let end = offset + RecordHeader.byteCount
        guard end <= bytes.count, bytes[offset..<end].contains(where: { $0 != 0 }) else {
            return false
        }
        return bytes.span.uint64(at: offset + 8) == last.number + 1
            || bytes.span.uint64(at: offset + 24) == last.hash
    }

    /// Where the bytes after the last record end that are not zero.
    var endOfContent: Int { bytes.span.endOfContent(from: min(offset, bytes.count)) }

    /// The first whole record after the place where none was, with its offset; of those after a
    /// number if one is named.
    ///
    /// One there proves that the journal went on once: what is missing before it is damaged, not
    /// torn. O(n) in what is left of the segment, where only headers with a fitting number are
    /// hashed; each of those that clients' bytes happen to look like takes its body's length more.
    func laterRecord(than number: UInt64? = nil) -> (offset: Int, record: RecordHeader)? {
        let end = endOfContent
        let remaining = UInt64(max(0, bytes.count - offset) / RecordHeader.byteCount)
        let next = (number ?? last.number) + 1
        let plausible = next...next + remaining
        var candidate = offset + SegmentLayout.alignment
        while candidate < end {
            if candidate + RecordHeader.byteCount <= bytes.count,
                plausible.contains(bytes.span.uint64(at: candidate + 8)),
                let record = intactRecord(at: candidate)
            {
                return (candidate, record)
            }
            candidate += SegmentLayout.alignment
        }
        return nil
    }

    /// The place after a record that is known by its hash.
    ///
    /// With the offset of the first whole record there, which is that one or the next one; nil if
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

    private func intactRecord(at offset: Int) -> RecordHeader? {
        guard let record = RecordHeader(bytes.span, at: offset),
            record.number > 0,
            record.isIntact(bytes.span, at: offset, salt: header.salt, hash)
        else { return nil }
        return record
    }
}
