/// Reads comma-separated values (RFC 4180) out of bytes that come in pieces of any size.
///
/// Semicolons or tabs separate where the first line has more of them than commas outside of quotes.
/// A field in quotes may hold separators, line breaks and, doubled, quotes; a quote within a field that
/// does not begin with one is a character like others. Records end with LF, CR LF or CR. Spaces
/// belong to the fields they stand in. A byte order mark at the start and empty lines are skipped.
struct CSVReader {
    /// The bytes of a record: far over any post, and a bound for what an unclosed quote swallows.
    private static let maximumRecordByteCount = 16 << 20

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

/// One record of comma-separated values: its fields without quotes, one after another.
///
/// Its memory is kept from record to record.
struct CSVRecord {
    /// The line its first byte stands on, counted from 1.
    private(set) var line = 1
    /// How many lines it takes; a field in quotes may hold line breaks.
    private(set) var lineCount = 0
    private var bytes: [UInt8] = []
    /// Where each field ends in `bytes`.
    private var ends: [Int] = []

    /// How many fields it has.
    var fieldCount: Int { ends.count }

    /// Whether it is what an empty line holds: one field of no bytes.
    var isBlank: Bool { ends == [0] }

    /// A field's text; nil where it is not UTF-8.
    func text(_ field: Int) -> String? {
        do {
            return String(copying: try UTF8Span(validating: bytes.span.extracting(range(field))))
        } catch {
            return nil
        }
    }

    /// A field's text, with U+FFFD in place of bytes that are not UTF-8.
    func repairedText(_ field: Int) -> String {
        String(decoding: bytes[range(field)], as: UTF8.self)
    }

    /// A field's whole number of decimal digits, which may have a minus before it and `.0` behind it;
    /// 0 of an empty field; nil where it is none, or too large.
    func number(_ field: Int) -> (magnitude: UInt64, isNegative: Bool)? {
        var digits = bytes[range(field)]
        guard !digits.isEmpty else { return (0, false) }
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative { digits.removeFirst() }
        if let point = digits.firstIndex(of: UInt8(ascii: ".")) {
            guard digits[(point + 1)...].allSatisfy({ $0 == UInt8(ascii: "0") }) else { return nil }
            digits = digits[..<point]
        }
        guard !digits.isEmpty else { return nil }
        var magnitude: UInt64 = 0
        for byte in digits {
            let digit = byte &- UInt8(ascii: "0")
            let (tens, isTooLarge) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, isTooMuch) = tens.addingReportingOverflow(UInt64(digit))
            guard digit < 10, !isTooLarge, !isTooMuch else { return nil }
            magnitude = sum
        }
        return (magnitude, isNegative)
    }

    /// Begins a new record on a line.
    mutating func begin(onLine line: Int) {
        self.line = line
        lineCount = 0
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }

    /// Adds bytes to the field that was not ended yet.
    mutating func append(_ part: ArraySlice<UInt8>) {
        bytes.append(contentsOf: part)
    }

    /// Ends the field; the next bytes are another's.
    mutating func endField() {
        ends.append(bytes.count)
    }

    /// Takes note of a line's end, within a field or at the end of the record.
    mutating func endLine() {
        lineCount += 1
    }

    private func range(_ field: Int) -> Range<Int> {
        (field > 0 ? ends[field - 1] : 0)..<ends[field]
    }
}
