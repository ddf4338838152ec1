/// Decodes the bodies of frames; owns the memory it needs for that and uses it again.
public struct MessageDecoder: ~Copyable {
    /// A decoder for frames up to a limit.
    public init(maximumFrameByteCount: Int = FrameHeader.defaultMaximumFrameByteCount) {
    }

    /// The call in a body.
    public mutating func decodeClientFrame(_ body: RawSpan) throws(MessageError) -> ClientFrame {
        throw .malformed(byteCount: body.byteCount)
    }

    /// The answer in a body.
    public mutating func decodeServerFrame(_ body: RawSpan) throws(MessageError) -> ServerFrame {
        throw .malformed(byteCount: body.byteCount)
    }
}
