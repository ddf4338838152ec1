/// Collects received bytes and gives out the frames in them, however they were cut.
///
/// For programs that do not keep a read buffer of their own; those that do use `FrameScanner`. Take
/// all frames out after each append: then what is held is less than one frame and one append.
public struct FrameDecoder: Sendable {
    private let scanner: FrameScanner
    private var buffer: [UInt8] = []
    /// Where the next header starts; what lies before it has been given out.
    private var offset = 0

    /// A decoder that accepts frames up to a limit.
    public init(maximumFrameByteCount: Int = FrameHeader.defaultMaximumFrameByteCount) {
        scanner = FrameScanner(maximumFrameByteCount: maximumFrameByteCount)
    }

    /// Bytes held that belong to no frame given out.
    public var bufferedByteCount: Int { buffer.count - offset }

    /// Takes the bytes that were received next.
    public mutating func append(_ bytes: some Sequence<UInt8>) {
        compact()
        buffer.append(contentsOf: bytes)
    }

    /// Takes the bytes that were received next.
    public mutating func append(_ bytes: RawSpan) {
        compact()
        buffer.append(copying: bytes)
    }

    /// The body of the next frame; nil until more bytes are appended.
    ///
    /// After an error the bytes have no meaning any more; close the connection.
    public mutating func nextFrame() throws(FrameError) -> [UInt8]? {
        guard let body = try scanner.nextBody(in: buffer.span, at: offset) else { return nil }
        offset = body.upperBound
        return Array(buffer[body])
    }

    /// Drops what was given out; moves at most what is held of one frame.
    private mutating func compact() {
        guard offset > 0 else { return }
        buffer.removeFirst(offset)
        offset = 0
    }
}
