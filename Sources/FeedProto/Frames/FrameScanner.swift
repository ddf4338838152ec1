/// Finds the frames in received bytes, in place.
///
/// The length is checked before anything else reads the frame, so nothing is ever allocated for a
/// length that a peer made up.
public struct FrameScanner: Sendable {
    /// The longest frame that is accepted, without its header.
    public let maximumFrameByteCount: Int

    /// A scanner with a limit, which is at least 1 byte.
    public init(maximumFrameByteCount: Int = FrameHeader.defaultMaximumFrameByteCount) {
        precondition(maximumFrameByteCount > 0, "A frame limit is at least 1 byte.")
        self.maximumFrameByteCount = maximumFrameByteCount
    }

    /// The body of the frame whose header starts at `offset`; nil while it is incomplete.
    ///
    /// The next frame's header starts at the end of the range.
    public func nextBody(in bytes: RawSpan, at offset: Int) throws(FrameError) -> Range<Int>? {
        precondition(
            offset >= 0 && offset <= bytes.byteCount,
            "A frame starts within the bytes or at their end."
        )
        guard bytes.byteCount - offset >= FrameHeader.byteCount else { return nil }
        let length = bytes.bigEndianUInt32(at: offset)
        guard length > 0 else { throw .empty }
        guard UInt64(length) <= UInt64(maximumFrameByteCount) else {
            throw .tooLarge(length: UInt64(length), limit: maximumFrameByteCount)
        }
        let start = offset + FrameHeader.byteCount
        guard bytes.byteCount - start >= Int(length) else { return nil }
        return start..<(start + Int(length))
    }
}
