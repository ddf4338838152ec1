/// What a record begins with: 40 bytes, all numbers least byte first.
///
/// ```
/// 0 length of the body u32  4 count u32  8 number  16 microseconds  24 hash of the one before
/// 32 hash: of the body, seeded with the hash of the first 32 bytes, seeded with the salt
/// ```
/// So each record is checked by itself, and stands for all before it.
struct RecordHeader: Equatable {
    static let byteCount = 40
    private static let hashedByteCount = 32

    var bodyByteCount: Int
    var count: UInt32
    var number: UInt64
    var microseconds: UInt64
    var previousHash: UInt64
    var hash: UInt64 = 0

    /// Where the record stands.
    var position: JournalPosition { JournalPosition(number: number, hash: hash) }

    /// What a record takes of its segment, up to the next one's beginning.
    static func recordByteCount(body: Int) -> Int {
        let mask = SegmentLayout.alignment - 1
        return (byteCount + body + mask) & ~mask
    }

    /// The header's bytes; sets the hash, which is made of them and the body.
    mutating func seal(_ body: Span<UInt8>, salt: UInt64, _ hash: RecordHash) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        bytes.append(littleEndian: UInt32(bodyByteCount))
        bytes.append(littleEndian: count)
        bytes.append(littleEndian: number)
        bytes.append(littleEndian: microseconds)
        bytes.append(littleEndian: previousHash)
        self.hash = hash.digest(body, hash.digest(bytes.span, salt))
        bytes.append(littleEndian: self.hash)
        return bytes
    }
}

extension RecordHeader {
    /// The header at an offset, unchecked; nil where none fits or its body would not.
    init?(_ bytes: Span<UInt8>, at offset: Int) {
        guard bytes.count - offset >= Self.byteCount else { return nil }
        bodyByteCount = Int(bytes.uint32(at: offset))
        guard bodyByteCount <= bytes.count - offset - Self.byteCount else { return nil }
        count = bytes.uint32(at: offset + 4)
        number = bytes.uint64(at: offset + 8)
        microseconds = bytes.uint64(at: offset + 16)
        previousHash = bytes.uint64(at: offset + 24)
        hash = bytes.uint64(at: offset + 32)
    }

    /// Whether the bytes at the offset that it was read from are those that were written.
    func isIntact(_ bytes: Span<UInt8>, at offset: Int, salt: UInt64, _ hash: RecordHash) -> Bool {
        let header = bytes.extracting(offset..<offset + Self.hashedByteCount)
        let start = offset + Self.byteCount
        let body = bytes.extracting(start..<start + bodyByteCount)
        return hash.digest(body, hash.digest(header, salt)) == self.hash
    }
}
