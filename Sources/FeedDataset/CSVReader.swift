/// Reads comma-separated values (RFC 4180) out of bytes that come in pieces of any size.
///
/// Semicolons or tabs separate where the first line has more of them than commas outside of quotes.
/// A field in quotes may hold separators, line breaks and, doubled, quotes; a quote within a field that
/// does not begin with one is a character like others. Records end with LF, CR LF or CR. Spaces
/// belong to the fields they stand in. A byte order mark at the start and empty lines are skipped.
struct CSVReader {
    /// The bytes of a record: far over any post, and a bound for what an unclosed quote swallows.
    static let maximumRecordByteCount = 16 << 20

    private static let separators: [UInt8] = [
        .init(ascii: ","), .init(ascii: ";"), .init(ascii: "\t"),
    ]
    private static let quote = UInt8(ascii: "\"")
    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private var bytes: [UInt8] = []
    /// Where the next record begins in `bytes`.
    private var position = 0
    private var line = 1
    /// Set once the first line is there.
    private var separator: UInt8?
    private var hasStarted = false
    private var isFinished = false

    /// Adds the next bytes of the file.
    mutating func append(_ more: some Collection<UInt8>) {
        precondition(!isFinished, "A file that was finished takes no more bytes.")
        bytes.removeFirst(position)
        position = 0
        bytes.append(contentsOf: more)
    }

    /// Says that the file ends here, so that its last record needs no line end.
    mutating func finish() {
        isFinished = true
    }

    /// Reads the next record that is not an empty line; false where it needs more bytes first, or
    /// where a finished file has no more.
    mutating func read(into record: inout CSVRecord) throws(DatasetError) -> Bool {
        guard skipByteOrderMark(), let separator = try foundSeparator() else { return false }
        while position < bytes.count {
            record.begin(onLine: line)
            guard let end = try scan(into: &record, separator) else {
                try checkLength()
                return false
            }
            position = end
            line += record.lineCount
            if !record.isBlank { return true }
        }
        return false
    }

    /// Skips the mark where the file begins with one; false while that is not known.
    private mutating func skipByteOrderMark() -> Bool {
        guard !hasStarted else { return true }
        guard isFinished || bytes.count >= Self.byteOrderMark.count else { return false }
        hasStarted = true
        if bytes.starts(with: Self.byteOrderMark) { position = Self.byteOrderMark.count }
        return true
    }

    private func checkLength() throws(DatasetError) {
        guard bytes.count - position <= Self.maximumRecordByteCount else {
            throw .recordTooLong(line: line, limit: Self.maximumRecordByteCount)
        }
    }

    /// What separates fields; nil while the end of the first line that is not empty is not there yet.
    private mutating func foundSeparator() throws(DatasetError) -> UInt8? {
        if let separator { return separator }
        var counts = [Int](repeating: 0, count: Self.separators.count)
        var isQuoted = false
        let rest = bytes[position...].drop { $0 == Self.lineFeed || $0 == Self.carriageReturn }
        let end = rest.firstIndex { byte in
            if byte == Self.quote { isQuoted.toggle() }
            if isQuoted { return false }
            if let place = Self.separators.firstIndex(of: byte) { counts[place] += 1 }
            return byte == Self.lineFeed || byte == Self.carriageReturn
        }
        guard end != nil || isFinished else {
            try checkLength()
            return nil
        }
        // The first of those that are equally frequent.
        let place = counts.indices.reduce(0) { counts[$1] > counts[$0] ? $1 : $0 }
        separator = Self.separators[place]
        return separator
    }

    /// Reads a record and returns where the next begins; nil where its end is not there yet.
    private func scan(
        into record: inout CSVRecord,
        _ separator: UInt8
    ) throws(DatasetError) -> Int? {
        var place = position
        while true {
            if place < bytes.count, bytes[place] == Self.quote {
                guard let end = try scanQuoted(from: place + 1, into: &record) else { return nil }
                place = end
            } else {
                let start = place
                while place < bytes.count, bytes[place] != separator, !Self.endsLine(bytes[place]) {
                    place += 1
                }
                record.append(bytes[start..<place])
            }
            record.endField()
            guard place < bytes.count else { return isFinished ? place : nil }
            if bytes[place] == separator {
                place += 1
                continue
            }
            guard Self.endsLine(bytes[place]) else {
                throw .textAfterQuote(line: record.line + record.lineCount)
            }
            record.endLine()
            guard bytes[place] == Self.carriageReturn else { return place + 1 }
            guard place + 1 < bytes.count else { return isFinished ? place + 1 : nil }
            return bytes[place + 1] == Self.lineFeed ? place + 2 : place + 1
        }
    }

    /// Reads a field after its opening quote and returns the place after the closing one; nil
    /// where that is not there yet.
    private func scanQuoted(
        from start: Int,
        into record: inout CSVRecord
    ) throws(DatasetError) -> Int? {
        let firstLine = record.line + record.lineCount
        var start = start
        var place = start
        while place < bytes.count {
            let byte = bytes[place]
            let next = place + 1 < bytes.count ? bytes[place + 1] : nil
            place += 1
            if byte == Self.quote {
                guard next != nil || isFinished else { return nil }
                // The first of two quotes stays, the second and a closing one go.
                record.append(bytes[start..<(next == Self.quote ? place : place - 1)])
                guard next == Self.quote else { return place }
                place += 1
                start = place
            } else if byte == Self.lineFeed
                || byte == Self.carriageReturn && next != Self.lineFeed
            {
                record.endLine()
            }
        }
        guard isFinished else { return nil }
        throw .unclosedQuote(line: firstLine)
    }

    private static func endsLine(_ byte: UInt8) -> Bool {
        byte == lineFeed || byte == carriageReturn
    }
}
