extension RawSpan {
    /// The four bytes at `offset` as an unsigned big-endian number; traps outside of the span.
    @inline(__always)
    func bigEndianUInt32(at offset: Int) -> UInt32 {
        precondition(offset >= 0 && offset <= byteCount - 4, "Four bytes lie within the span.")
        return unsafe UInt32(
            bigEndian: unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt32.self)
        )
    }
}

// `Span.bytes` counts as unsafe because an element may have padding; a UInt8 has none.

extension FrameScanner {
    /// The body of the frame whose header starts at `offset`; nil while it is incomplete.
    public func nextBody(
        in bytes: Span<UInt8>,
        at offset: Int
    ) throws(FrameError) -> Range<Int>? {
        try unsafe nextBody(in: bytes.bytes, at: offset)
    }
}

extension [UInt8] {
    /// Appends a copy of the bytes.
    mutating func append(copying bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
    }
}
