/// One record of comma-separated values: its fields without quotes, one behind another.
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

    /// A field's bytes.
    subscript(field: Int) -> ArraySlice<UInt8> {
        bytes[(field > 0 ? ends[field - 1] : 0)..<ends[field]]
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
}
