/// Collects received bytes and returns the frames in them, however they were split.
///
/// It is for programs without a read buffer of their own; programs with one use `FrameScanner`.
/// Take all frames out after each append: then the decoder holds less than one frame and one
/// append.
public struct FrameDecoder: Sendable {
    private let scanner: FrameScanner
    private var buffer: [UInt8] = []
    /// Where the next header starts; the bytes before it belong to returned frames.
    private var offset = 0

    /// A decoder that accepts frames up to a limit.
    public init(maximumFrameByteCount: Int = FrameHeader.defaultMaximumFrameByteCount) {
        scanner = FrameScanner(maximumFrameByteCount: maximumFrameByteCount)
    }

    /// Bytes held that belong to no returned frame.
    public var bufferedByteCount: Int { buffer.count - offset }

    /// Takes the bytes received next.
    public mutating func append(_ bytes: some Sequence<UInt8>) {
        compact()
        buffer.append(contentsOf: bytes)
    }

    /// Takes the bytes received next.
    public mutating func append(_ bytes: RawSpan) {
        compact()
        buffer.append(copying: bytes)
    }

    /// The body of the next frame; nil until more bytes are appended.
    ///
    /// After an error the bytes have no meaning; close the connection.
    public mutating func nextBody() throws(FrameError) -> [UInt8]? {
        guard let body = try scanner.nextBody(in: buffer.span, at: offset) else { return nil }
        offset = body.upperBound
        return Array(buffer[body])
    }

    /// Drops the bytes of returned frames; moves at most the held part of one frame.
    private mutating func compact() {
        guard offset > 0 else { return }
        buffer.removeFirst(offset)
        offset = 0
    }
}
