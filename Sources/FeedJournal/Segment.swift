/// A segment of the journal, known by the number of its first record.
struct Segment: Equatable {
    let first: UInt64

    /// Its file's name below the data directory.
    var name: String { SegmentLayout.name(first: first) }
}

/// A place between two records of a segment.
struct RecordPlace: Equatable {
    let offset: Int
    let previous: JournalPosition
    /// When that one was written, or an earlier one.
    let microseconds: UInt64
}

enum SegmentLayout {
    /// What a disk is assumed to keep or lose at once.
    static let blockByteCount = 4096
    /// The header has a block of its own, so that no later write touches it.
    static let firstRecord = blockByteCount
    /// Records begin at multiples of this, which bounds the search after a torn one.
    static let alignment = 8
    static let directory = "journal"
    /// The segment to come, not named yet as nobody knows what its first record will be.
    static let spareName = "journal/spare.log"
    /// What the names of forgotten segments begin with whose blocks are used again.
    static let recycledPrefix = "recycled-"

    static func recycledName(first number: UInt64) -> String {
        "\(directory)/\(recycledPrefix)\(number).log"
    }

    /// The file that begins with a record: `journal/<20 digits>.log`.
    static func name(first number: UInt64) -> String {
        let digits = String(number)
        return "\(directory)/" + String(repeating: "0", count: 20 - digits.count) + digits + ".log"
    }

    /// The first record of a file in the directory, nil if the name is no segment's.
    static func firstNumber(name: String) -> UInt64? {
        guard name.utf8.count == 24, name.hasSuffix(".log") else { return nil }
        let digits = name.utf8.dropLast(4)
        guard digits.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return UInt64(name.dropLast(4))
    }
}

extension JournalConfiguration {
    /// The longest body, 48 MiB of a segment of 64: three quarters, so that rolling to the next
    /// segment never leaves most of one unused.
    package var maximumBodyByteCount: Int { segmentByteCount / 4 * 3 - SegmentLayout.firstRecord }

    /// The same for a segment that is durable before it has a record.
    var durably: JournalConfiguration {
        var configuration = self
        configuration.durability = .fsync
        return configuration
    }

    /// What is zeroed of the next segment at a time, beside an append.
    var pieceByteCount: Int {
        max(SegmentLayout.blockByteCount, min(32 << 10, segmentByteCount / 16))
    }

    /// Traps if the size of segments makes no sense.
    func check() {
        precondition(
            segmentByteCount.isMultiple(of: SegmentLayout.blockByteCount)
                && (4 * SegmentLayout.blockByteCount...1 << 31).contains(segmentByteCount),
            "A segment of \(segmentByteCount) bytes is not 4 blocks to 2 GiB, in blocks of 4096."
        )
    }
}

/// What a segment begins with: 80 bytes, all numbers least byte first.
///
/// ```
/// 0 magic  8 format u32  12 size of the file u32  16 instance  24 first number
/// 32 hash of the record before  40 microseconds of it  48 salt  56 checksum of the first 56 bytes
/// 64 age of the journal  72 checksum of the age, seeded with the checksum before
/// ```
/// Magic, format and checksum stay where they are in every format to come. The first programs wrote 64
/// bytes: a journal without an age counts it anew.
struct SegmentHeader: Equatable {
    static let byteCount = 80
    private static let firstByteCount = 64
    static let format: UInt32 = 1
    /// "FEEDJRNL".
    private static let magic: UInt64 = 0x4C4E_524A_4445_4546

    var instanceID: UInt64
    var segmentByteCount: Int
    var firstNumber: UInt64
    var previousHash: UInt64
    var previousMicroseconds: UInt64
    var salt: UInt64
    /// ``JournalAge`` where the segment begins; 0 if it is not known.
    var age: UInt64 = 0

    var previous: JournalPosition { JournalPosition(number: firstNumber - 1, hash: previousHash) }

    func encoded(_ hash: RecordHash) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        bytes.append(littleEndian: Self.magic)
        bytes.append(littleEndian: Self.format)
        bytes.append(littleEndian: UInt32(segmentByteCount))
        bytes.append(littleEndian: instanceID)
        bytes.append(littleEndian: firstNumber)
        bytes.append(littleEndian: previousHash)
        bytes.append(littleEndian: previousMicroseconds)
        bytes.append(littleEndian: salt)
        let sum = hash.digest(bytes.span, 0)
        bytes.append(littleEndian: sum)
        bytes.append(littleEndian: age)
        bytes.append(littleEndian: hash.digest(bytes.span.extracting(64..<72), sum))
        return bytes
    }
}

extension SegmentHeader {
    /// Reads the header of a file of any instance.
    init(_ bytes: Span<UInt8>, file: String, first: UInt64, _ hash: RecordHash) throws(StorageError)
    {
        func damaged(_ reason: String) -> StorageError {
            .damagedRecord(file: file, offset: 0, record: first, reason: reason)
        }
        guard bytes.count >= Self.firstByteCount else {
            throw damaged("the file has \(bytes.count) bytes, and a header \(Self.firstByteCount)")
        }
        guard bytes.uint64(at: 0) == Self.magic else { throw damaged("this is no segment") }
        guard hash.digest(bytes.extracting(first: 56), 0) == bytes.uint64(at: 56) else {
            throw damaged("the header's checksum is wrong")
        }
        let format = bytes.uint32(at: 8)
        guard format <= Self.format else {
            throw .newerFormat(file: file, format: Int64(format), known: Int64(Self.format))
        }
        segmentByteCount = Int(bytes.uint32(at: 12))
        instanceID = bytes.uint64(at: 16)
        firstNumber = bytes.uint64(at: 24)
        previousHash = bytes.uint64(at: 32)
        previousMicroseconds = bytes.uint64(at: 40)
        salt = bytes.uint64(at: 48)
        if bytes.count >= Self.byteCount {
            // What is left of another header is under another checksum.
            let sum = hash.digest(bytes.extracting(64..<72), bytes.uint64(at: 56))
            if sum == bytes.uint64(at: 72) { age = bytes.uint64(at: 64) }
        }
        guard firstNumber == first else {
            throw damaged("the header says that it begins with record \(firstNumber)")
        }
    }
}

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
    /// The header at an offset, unchecked; nil if none fits or its body would not.
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

extension Span<UInt8> {
    /// The number of 8 bytes at an offset, least byte first.
    func uint64(at offset: Int) -> UInt64 {
        UInt64(uint32(at: offset)) | UInt64(uint32(at: offset + 4)) << 32
    }

    /// The number of 4 bytes at an offset, least byte first.
    func uint32(at offset: Int) -> UInt32 {
        UInt32(self[offset]) | UInt32(self[offset + 1]) << 8
            | UInt32(self[offset + 2]) << 16 | UInt32(self[offset + 3]) << 24
    }

    /// The offset after the last byte that is not zero; `start` if all after it are.
    func endOfContent(from start: Int) -> Int {
        var end = count
        while end > start, self[end - 1] == 0 { end -= 1 }
        return end
    }
}

extension [UInt8] {
    /// Adds a number, least byte first.
    mutating func append<Number: FixedWidthInteger>(littleEndian number: Number) {
        for shift in stride(from: 0, to: Number.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: number >> Number(shift)))
        }
    }
}
