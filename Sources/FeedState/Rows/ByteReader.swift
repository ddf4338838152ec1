/// A place in a row's bytes, from which numbers are read; nil where the bytes end before.
struct ByteReader {
    /// Where the next number begins.
    private(set) var offset = 0

    /// The next byte.
    mutating func byte(_ bytes: Span<UInt8>) -> UInt8? {
        number(bytes, 1).map(UInt8.init(truncatingIfNeeded:))
    }

    /// The next 4 bytes, the least first.
    mutating func uint32(_ bytes: Span<UInt8>) -> UInt32? {
        number(bytes, 4).map(UInt32.init(truncatingIfNeeded:))
    }

    /// The next 8 bytes, the least first.
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
    /// Adds a number, least byte first.
    mutating func append<Number: FixedWidthInteger>(littleEndian number: Number) {
        for shift in stride(from: 0, to: Number.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: number >> Number(shift)))
        }
    }
}
