/// Where things are in a segment.
enum SegmentLayout {
    /// What a disk is assumed to keep or lose at once.
    static let blockByteCount = 4096

    /// The header has a block of its own, so that no later write touches it.
    static let firstRecord = blockByteCount

    /// Records begin at multiples of this, which bounds the search after a torn one.
    static let alignment = 8

    /// Where the segments are.
    static let directory = "journal"

    /// The segment to come, not named yet as nobody knows what its first record will be.
    static let spareName = "journal/spare.log"

    /// What the names of forgotten segments begin with whose blocks are used again.
    static let recycledPrefix = "recycled-"

    /// What a forgotten segment is called until it is used again.
    static func recycledName(first number: UInt64) -> String {
        "\(directory)/\(recycledPrefix)\(number).log"
    }

    /// The file that begins with a record: `journal/<20 digits>.log`.
    static func name(first number: UInt64) -> String {
        let digits = String(number)
        return "\(directory)/" + String(repeating: "0", count: 20 - digits.count) + digits + ".log"
    }

    /// The first record of a file in the directory, nil where the name is no segment's.
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

    /// What is zeroed of the next segment at a time, beside an append.
    var pieceByteCount: Int {
        max(SegmentLayout.blockByteCount, min(32 << 10, segmentByteCount / 16))
    }

    /// Traps where the size of segments makes no sense.
    func check() {
        precondition(
            segmentByteCount.isMultiple(of: SegmentLayout.blockByteCount)
                && (4 * SegmentLayout.blockByteCount...1 << 31).contains(segmentByteCount),
            "A segment of \(segmentByteCount) bytes is not 4 blocks to 2 GiB, in blocks of 4096."
        )
    }
}
