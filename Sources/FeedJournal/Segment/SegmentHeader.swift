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
    /// ``JournalAge`` where the segment begins; 0 where it is not known.
    var age: UInt64 = 0

    /// The record before the segment's first.
    var previous: JournalPosition {
        JournalPosition(number: firstNumber - 1, hash: previousHash)
    }

    /// The header's bytes.
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
    init(_ bytes: Span<UInt8>, file: String, first: UInt64, _ hash: RecordHash) throws(JournalError)
    {
        func damaged(_ reason: String) -> JournalError {
            .damaged(file: file, offset: 0, record: first, reason: reason)
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
            throw .newerFormat(file: file, version: format, known: Self.format)
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
