/// Reads the log entries of a commit batch: the parts of its logs, merged by revision.
///
/// An entry without a revision is read directly after its predecessor in its own log. Each entry
/// that depends on it, in any log, has a revision that was given later. The one exception is the
/// outcome of a call that changed nothing, which may come before its channel. Every read is
/// checked. Once a call has thrown an error, every further call throws it again.
package struct LogEntryReader: ~Copyable {
    private let bytes: LogBytes
    /// The part of the entry that was read last.
    private var current = LogPart(offset: 0, end: 0)
    /// The other parts that are not at their ends, all peeked into.
    private var others: [LogPart] = []
    /// The least revision among the others.
    private var otherRevision = UInt64.max

    /// Reads a copy of a body that `ChangeLogs.takeBatch` made; O(bytes).
    package init(_ body: borrowing Span<UInt8>) throws(LogEntryError) {
        bytes = LogBytes(copying: body)
        var offset = 0
        while offset < bytes.count {
            guard bytes.count - offset >= 4 else { throw .brokenPart(offset: offset) }
            var length = 0
            for index in 0..<4 { length |= Int(bytes[offset + index]) << (8 * index) }
            guard length <= bytes.count - offset - 4 else { throw .brokenPart(offset: offset) }
            var part = LogPart(offset: offset + 4, end: offset + 4 + length)
            offset = part.end
            if length > 0 {
                try part.peek(bytes)
                others.append(part)
            }
        }
        takeFirstPart()
    }

    package init(_ body: [UInt8]) throws(LogEntryError) {
        try self.init(body.span)
    }

    package var isAtEnd: Bool { current.isAtEnd && others.isEmpty }

    /// The next entry; nil at the end of the body.
    ///
    /// O(1) beside texts for a body of one part, else O(parts) where the part changes.
    package mutating func next() throws(LogEntryError) -> LogEntry? {
        isAtEnd ? nil : try take()
    }

    /// The next entry of a body that is not at its end; O(1) as ``next()``.
    ///
    /// Where each vote has an entry, an optional one is too slow: its end is a call that asks for the
    /// type's layout.
    package mutating func take() throws(LogEntryError) -> LogEntry {
        if current.isAtEnd {
            precondition(!others.isEmpty, "An entry is taken before the end.")
            takeFirstPart()
        } else {
            try current.peek(bytes)
            if current.revision > otherRevision {
                others.append(current)
                takeFirstPart()
            }
        }
        return try current.takeEntry(bytes)
    }

    /// Selects the part whose next entry has the least revision.
    private mutating func takeFirstPart() {
        guard var first = others.indices.first else { return }
        for index in others.indices where others[index].revision < others[first].revision {
            first = index
        }
        current = others[first]
        others[first] = others[others.count - 1]
        others.removeLast()
        otherRevision = others.reduce(.max) { min($0, $1.revision) }
    }
}

/// The unread rest of one log's part in the body of a commit batch.
struct LogPart: BitwiseCopyable {
    /// Where the next entry begins.
    private var offset: Int
    let end: Int
    /// The revision of the previous entry, 0 at the start.
    private var previousRevision: UInt64 = 0
    /// The next entry's kind, once `peek` has read it.
    private var kind: UInt8 = 0
    /// Where the next entry's fields begin, behind its kind and revision.
    private var fieldsOffset = 0
    /// The next entry's revision, or the previous one where it has none.
    private(set) var revision: UInt64 = 0

    init(offset: Int, end: Int) {
        self.offset = offset
        self.end = end
    }

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

/// Reads the fields of one log entry out of a body, never beyond the end of its log's part.
struct LogEntryFields {
    let kind: UInt8
    let start: Int
    var next: Int
    let end: Int

    /// The error of a field that has an impossible value.
    var badValue: LogEntryError { .badValue(kind: kind, offset: start) }

    private var truncated: LogEntryError { .truncated(kind: kind, offset: start) }

    @inline(__always)
    mutating func byte(_ bytes: borrowing LogBytes) throws(LogEntryError) -> UInt8 {
        guard next < end else { throw truncated }
        let byte = bytes[next]
        next += 1
        return byte
    }

    /// Reads a number, seven bits a byte, the lowest first.
    @inline(__always)
    mutating func varint(_ bytes: borrowing LogBytes) throws(LogEntryError) -> UInt64 {
        let first = try byte(bytes)
        if first < 0x80 { return UInt64(first) }
        return try longVarint(UInt64(first & 0x7F), bytes)
    }

    @inline(__always)
    private mutating func longVarint(
        _ first: UInt64,
        _ bytes: borrowing LogBytes
    ) throws(LogEntryError) -> UInt64 {
        var value = first
        var shift: UInt64 = 7
        while true {
            let byte = try byte(bytes)
            // The tenth byte has one bit left.
            if shift == 63, byte > 1 { throw badValue }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
    }

    /// Reads a number that has to fit into a smaller type.
    @inline(__always)
    mutating func varint<Value: FixedWidthInteger>(
        as type: Value.Type,
        _ bytes: borrowing LogBytes
    ) throws(LogEntryError) -> Value {
        let value = try varint(bytes)
        guard let value = Value(exactly: value) else { throw badValue }
        return value
    }

    /// Reads a number of so many bytes, the lowest first.
    @inline(__always)
    mutating func fixed(
        byteCount: Int,
        _ bytes: borrowing LogBytes
    ) throws(LogEntryError) -> UInt64 {
        guard end - next >= byteCount else { throw truncated }
        var value: UInt64 = 0
        for index in 0..<byteCount { value |= UInt64(bytes[next + index]) << UInt64(8 * index) }
        next += byteCount
        return value
    }

    mutating func text(_ bytes: borrowing LogBytes) throws(LogEntryError) -> String {
        let count = try varint(bytes)
        guard count <= UInt64(end - next) else { throw truncated }
        let range = next..<next + Int(count)
        guard let text = bytes.text(range) else { throw badValue }
        next = range.upperBound
        return text
    }
}

/// Why the bytes of a commit batch cannot be read; bytes that a log wrote cause none of these errors.
package enum LogEntryError: Error, Equatable, Sendable {
    /// The length of a log's part reaches beyond the body, or the body ends within a length.
    case brokenPart(offset: Int)
    /// A log entry begins with the byte of no kind.
    case unknownKind(UInt8, offset: Int)
    /// A log entry ends beyond its log's part.
    case truncated(kind: UInt8, offset: Int)
    /// A field of a log entry has an impossible value.
    case badValue(kind: UInt8, offset: Int)
}

extension LogEntryError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .brokenPart(let offset):
            "The part at byte \(offset) of a commit batch is longer than the batch."
        case .unknownKind(let kind, let offset):
            "The log entry at byte \(offset) of a commit batch is of no known kind: \(kind)."
        case .truncated(let kind, let offset):
            "The log entry of kind \(kind) at byte \(offset) of a commit batch ends beyond its part."
        case .badValue(let kind, let offset):
            "The log entry of kind \(kind) at byte \(offset) of a commit batch has a bad value."
        }
    }
}

/// The bytes of a commit batch's body, with one owner: no reference count while entries are read.
@safe
struct LogBytes: ~Copyable {
    private let base: UnsafeMutablePointer<UInt8>
    let count: Int

    init(copying body: borrowing Span<UInt8>) {
        count = body.count
        unsafe base = .allocate(capacity: count)
        unsafe body.withUnsafeBufferPointer { source in
            if let first = source.baseAddress {
                unsafe base.initialize(from: first, count: source.count)
            }
        }
    }

    deinit {
        unsafe base.deallocate()
    }

    /// The byte at an offset; traps beyond the count.
    subscript(offset: Int) -> UInt8 {
        @inline(__always) get {
            precondition(UInt(bitPattern: offset) < UInt(bitPattern: count), "Beyond the body.")
            return unsafe base[offset]
        }
    }

    /// The text of a range of UTF-8; nil where it is none.
    ///
    /// Traps beyond the count.
    func text(_ range: Range<Int>) -> String? {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "Beyond the body.")
        let bytes = unsafe Span(_unsafeStart: base + range.lowerBound, count: range.count)
        // Not `String(validating:as:)`: it looks up metadata for each text, ten times the time.
        guard let utf8 = try? UTF8Span(validating: bytes) else { return nil }
        return String(copying: utf8)
    }
}
