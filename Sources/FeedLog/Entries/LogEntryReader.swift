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

    /// Reads a copy of a body.
    package init(_ body: [UInt8]) throws(LogEntryError) {
        try self.init(body.span)
    }

    /// Whether all entries have been read.
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
