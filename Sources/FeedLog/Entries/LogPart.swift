/// The unread rest of one log's part in the body of a commit batch.
struct LogPart: BitwiseCopyable {
    /// Where the next entry begins.
    private var offset: Int
    /// Where the part ends.
    let end: Int
    /// The revision of the previous entry, 0 at the start.
    private var previousRevision: UInt64 = 0
    /// The next entry's kind, once `peek` has read it.
    private var kind: UInt8 = 0
    /// Where the next entry's fields begin, behind its kind and revision.
    private var fieldsOffset = 0
    /// The next entry's revision, or the previous one where it has none.
    private(set) var revision: UInt64 = 0

    /// The part of these bytes.
    init(offset: Int, end: Int) {
        self.offset = offset
        self.end = end
    }

    /// Whether all entries have been taken.
    var isAtEnd: Bool { offset == end }

    /// Reads the kind and the revision of the next entry; O(1).
    @inline(__always)
    mutating func peek(_ bytes: borrowing LogBytes) throws(LogEntryError) {
        kind = bytes[offset]
        revision = previousRevision
        fieldsOffset = offset + 1
        guard LogEntryKind.hasRevision(kind) else { return }
        var fields = LogEntryFields(kind: kind, start: offset, next: fieldsOffset, end: end)
        let difference = try fields.varint(bytes)
        let (sum, isTooLarge) = previousRevision.addingReportingOverflow(difference)
        guard !isTooLarge else { throw fields.badValue }
        revision = sum
        fieldsOffset = fields.next
    }

    /// Reads the entry that was peeked at, and steps behind it; O(its bytes).
    @inline(__always)
    mutating func takeEntry(_ bytes: borrowing LogBytes) throws(LogEntryError) -> LogEntry {
        var fields = LogEntryFields(kind: kind, start: offset, next: fieldsOffset, end: end)
        let entry = try fields.entry(revision: revision, bytes)
        offset = fields.next
        previousRevision = revision
        return entry
    }
}
