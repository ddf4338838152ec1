import FeedAccounts
import FeedJournal
import FeedRanking

// What columns of type INTEGER have.
extension ColumnNumber {
    static var isUnsigned: Bool { false }
}

extension ColumnNumber where Self: FixedWidthInteger {
    init?(column: Int64) { self.init(exactly: column) }
    var column: Int64 { Int64(self) }
}

extension Int64: ColumnNumber {}
extension Int: ColumnNumber {}
extension UInt32: ColumnNumber {}
extension UInt8: ColumnNumber {}

/// Numbers above Int64's greatest are kept as negative ones of the same bits.
extension UInt64: ColumnNumber {
    init(column: Int64) { self.init(bits: column) }
    var column: Int64 { Int64(bitPattern: self) }
    static var isUnsigned: Bool { true }

    /// The same bits, as a field for a checksum.
    init(bits number: Int64) { self.init(bitPattern: number) }
}

extension Bool: ColumnNumber {
    init?(column: Int64) {
        guard column == 0 || column == 1 else { return nil }
        self = column == 1
    }
    var column: Int64 { self ? 1 : 0 }
}

/// A number that has a type of its own.
protocol RawColumn: ColumnNumber {
    associatedtype RawValue: ColumnNumber
    init?(rawValue: RawValue)
    var rawValue: RawValue { get }
}

extension RawColumn {
    init?(column: Int64) {
        guard let rawValue = RawValue(column: column) else { return nil }
        self.init(rawValue: rawValue)
    }
    var column: Int64 { rawValue.column }
    static var isUnsigned: Bool { RawValue.isUnsigned }
}

extension PostID: RawColumn {}
extension VoterID: RawColumn {}
extension FeedID: RawColumn {}
extension Order: RawColumn {}
extension VoteMode: RawColumn {}
extension Mark: RawColumn {}
extension SessionRow.Kind: RawColumn {}
extension AccountRow.Status: RawColumn {}

/// A feed's number plus 1, or 0 for all feeds.
extension FeedID?: ColumnNumber {
    init?(column: Int64) {
        self = .none
        guard column != 0 else { return }
        guard column > 0, let feed = FeedID(column: column - 1) else { return nil }
        self = feed
    }
    var column: Int64 { map { $0.column + 1 } ?? 0 }
}

/// 16 bytes as the shell shows them: the first eight first, most significant byte first.
extension Device16: ColumnBytes {
    init?(column: Span<UInt8>) {
        var reader = ByteReader()
        guard column.count == 16, let high = reader.uint64(column), let low = reader.uint64(column)
        else { return nil }
        self.init(high: high.byteSwapped, low: low.byteSwapped)
    }

    func append(to bytes: inout [UInt8]) {
        visitWords { bytes.append(littleEndian: $0.byteSwapped) }
    }

    func visitWords(_ body: (UInt64) -> Void) {
        body(high)
        body(low)
    }
}

extension TokenHash: ColumnBytes {
    init?(column: Span<UInt8>) {
        var reader = ByteReader()
        guard column.count == Self.byteCount, let word0 = reader.uint64(column),
            let word1 = reader.uint64(column), let word2 = reader.uint64(column),
            let word3 = reader.uint64(column)
        else { return nil }
        self.init(word0, word1, word2, word3)
    }

    func append(to bytes: inout [UInt8]) {
        visitWords { bytes.append(littleEndian: $0) }
    }

    func visitWords(_ body: (UInt64) -> Void) {
        body(word0)
        body(word1)
        body(word2)
        body(word3)
    }
}

/// The checksum of a row: XXH3 over all its fields, the table and the key among them.
///
/// Each field is hashed under the hash of those before it, so no two fields can trade places.
struct RowSum {
    private(set) var value: UInt64

    /// The checksum of no fields yet, different for each table.
    init(seed: UInt64) {
        value = seed
    }

    mutating func add(_ numbers: Span<UInt64>) {
        value = RecordHash.xxh3(numbers, seed: value)
    }

    mutating func add<let count: Int>(_ numbers: [count of UInt64]) { add(numbers.span) }

    mutating func add(_ bytes: Span<UInt8>) {
        value = RecordHash.xxh3(bytes, seed: value)
    }

    /// Adds a field of text, by its UTF-8.
    mutating func add(_ text: String) { add(text.utf8Span.span) }
}

/// A place in a row's bytes, from which numbers are read, least byte first; nil where the bytes end before.
struct ByteReader {
    private(set) var offset = 0

    mutating func byte(_ bytes: Span<UInt8>) -> UInt8? {
        number(bytes, 1).map(UInt8.init(truncatingIfNeeded:))
    }

    mutating func uint32(_ bytes: Span<UInt8>) -> UInt32? {
        number(bytes, 4).map(UInt32.init(truncatingIfNeeded:))
    }

    mutating func uint64(_ bytes: Span<UInt8>) -> UInt64? { number(bytes, 8) }

    private mutating func number(_ bytes: Span<UInt8>, _ byteCount: Int) -> UInt64? {
        guard bytes.count - offset >= byteCount else { return nil }
        var number: UInt64 = 0
        for byte in 0..<byteCount {
            number |= UInt64(bytes[offset + byte]) << UInt64(8 * byte)
        }
        offset += byteCount
        return number
    }
}

extension [UInt8] {
    mutating func append<Number: FixedWidthInteger>(littleEndian number: Number) {
        for shift in stride(from: 0, to: Number.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: number >> Number(shift)))
        }
    }
}
