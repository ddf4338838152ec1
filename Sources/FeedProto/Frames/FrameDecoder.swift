internal import FeedSpans

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

/// The prefix of each message: its length in bytes, big-endian.
public enum FrameHeader {
    /// The bytes of a header.
    public static var byteCount: Int { 4 }

    /// The longest frame, without its header, that a service takes by default.
    public static var defaultMaximumFrameByteCount: Int { 1 << 20 }
}

/// Why bytes are no frame.
public enum FrameError: Error, Equatable {
    /// A frame of no bytes; every message has at least an id.
    case empty
    /// A frame longer than the limit.
    case tooLarge(length: UInt64, limit: Int)
}

extension FrameError: CustomStringConvertible {
    /// What happened, with the actual length and the limit.
    public var description: String {
        switch self {
        case .empty: "Frame of 0 bytes; the shortest has 1 byte."
        case .tooLarge(let length, let limit):
            "Frame of \(length) bytes exceeds the limit of \(limit) bytes."
        }
    }
}

/// Why a frame's body is no message.
public enum MessageError: Error, Equatable {
    /// The bytes are no protobuf of the contract; the stream has no meaning any more.
    case malformed(byteCount: Int)
    /// The message would need more memory than a frame of the permitted length should.
    case tooManyFields(limitByteCount: Int)
    /// The process has no memory for the message.
    case outOfMemory
    /// A text is not UTF-8 or has a NUL in it; the frame is whole and can be answered.
    case badText(id: UInt64, field: String)
}

extension MessageError: CustomStringConvertible {
    /// What happened, with the actual value and the limit.
    public var description: String {
        switch self {
        case .malformed(let byteCount):
            "Frame of \(byteCount) bytes is not a message of the contract."
        case .tooManyFields(let limit):
            "Message needs more than \(limit) bytes of memory to decode."
        case .outOfMemory: "No memory to decode the message."
        case .badText(let id, let field): "Field \(field) of frame \(id) is not UTF-8 without NUL."
        }
    }
}

extension RawSpan {
    /// The four bytes at `offset` as an unsigned big-endian number; traps outside of the span.
    @inline(__always)
    fileprivate func bigEndianUInt32(at offset: Int) -> UInt32 {
        precondition(offset >= 0 && offset <= byteCount - 4, "Four bytes lie within the span.")
        return unsafe UInt32(
            bigEndian: unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt32.self)
        )
    }
}

// `Span.bytes` counts as unsafe because an element may have padding; a UInt8 has none.

extension FrameScanner {
    /// The body of the frame whose header starts at `offset`; nil while it is incomplete.
    public func nextBody(in bytes: Span<UInt8>, at offset: Int) throws(FrameError) -> Range<Int>? {
        try unsafe nextBody(in: bytes.bytes, at: offset)
    }
}

extension [UInt8] {
    mutating func append(copying bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
    }
}
