import FeedJournal

/// The checksum of a row: XXH3 over all its fields, the table and the key among them.
///
/// Each field is hashed under the hash of those before it, so no two fields can trade places.
struct RowSum {
    /// The checksum of what was added.
    private(set) var value: UInt64

    /// The checksum of no fields yet, different for each table.
    init(_ table: StateTable) {
        value = UInt64(table.rawValue)
    }

    /// The checksum of no fields yet, for a row of a table that is no ``StateTable``.
    init(seed: UInt64) {
        value = seed
    }

    /// Adds fields that are numbers.
    mutating func add<let count: Int>(_ numbers: [count of UInt64]) {
        value = RecordHash.xxh3(numbers.span, seed: value)
    }

    /// Adds a field of bytes.
    mutating func add(_ bytes: Span<UInt8>) {
        value = RecordHash.xxh3(bytes, seed: value)
    }

    /// Adds a field of text, by its UTF-8.
    mutating func add(_ text: String) {
        value = RecordHash.xxh3(text.utf8Span.span, seed: value)
    }
}

extension UInt64 {
    /// The same bits, as a field for a checksum.
    init(bits number: Int64) {
        self.init(bitPattern: number)
    }
}
