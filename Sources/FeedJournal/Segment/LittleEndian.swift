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

    /// The offset after the last byte that is not zero; `start` where all after it are.
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
