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
