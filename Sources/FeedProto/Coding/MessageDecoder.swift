internal import FeedSpans

/// Decodes the bodies of frames; owns the memory that it needs and reuses it.
///
/// The memory held between two frames is constant. One frame takes at most twice the frame limit
/// and 256 KiB, for any contents. The codec in Swift counts the same, and may hold some times as much.
public struct MessageDecoder: ~Copyable {
    private var decoder: Codec.Decoder

    /// A decoder for frames up to a limit.
    public init(maximumFrameByteCount: Int = FrameHeader.defaultMaximumFrameByteCount) {
        precondition(maximumFrameByteCount > 0, "A frame limit is at least 1 byte.")
        decoder = Codec.Decoder(limitByteCount: 2 * maximumFrameByteCount + (256 << 10))
    }

    /// Whether protobuf-c decodes, for tests.
    package static var usesProtobufC: Bool { Codec.usesProtobufC }

    /// Bytes held, for tests and statistics.
    package var reservedByteCount: Int { decoder.reservedByteCount }

    /// The call in a body.
    public mutating func decodeClientFrame(_ body: RawSpan) throws(MessageError) -> ClientFrame {
        defer { decoder.reset() }
        return try decoder.clientFrame(body)
    }

    /// The call in a body, and the hash of its content if it has a sequence, otherwise 0.
    ///
    /// Of a call with a secret the decoder keeps nothing, nor of a body that is refused, as that may have
    /// one.
    package mutating func decodeCall(
        _ body: RawSpan
    ) throws(MessageError) -> (frame: ClientFrame, contentHash: UInt32) {
        if let frame = ClientFrame(scanningPage: body) { return (frame, 0) }
        var hasSecret = true
        defer {
            if hasSecret { decoder.overwrite() }
            decoder.reset()
        }
        let frame = try decoder.clientFrame(body)
        hasSecret = frame.hasSecret
        let hash: UInt32
        switch frame.request {
        case _ where frame.sequence == 0, nil: return (frame, 0)
        case .castVote(let vote): hash = vote.requestHash
        case .some: hash = decoder.contentHash()
        }
        return (frame, RequestHash.ofCall(hash, for: frame.actingUserID))
    }

    /// The answer in a body.
    public mutating func decodeServerFrame(_ body: RawSpan) throws(MessageError) -> ServerFrame {
        defer { decoder.reset() }
        return try decoder.serverFrame(body)
    }
}

// `Span.bytes` counts as unsafe because an element may have padding; a UInt8 has none.
extension MessageDecoder {
    /// The call in a body.
    public mutating func decodeClientFrame(_ body: [UInt8]) throws(MessageError) -> ClientFrame {
        try unsafe decodeClientFrame(body.span.bytes)
    }

    /// The answer in a body.
    public mutating func decodeServerFrame(_ body: [UInt8]) throws(MessageError) -> ServerFrame {
        try unsafe decodeServerFrame(body.span.bytes)
    }
}

extension Post: Identifiable {}

extension Post {
    /// The post as a message of the contract.
    package var bytes: [UInt8] {
        var writer = MessageWriter()
        write(to: &writer)
        return writer.bytes
    }

    /// Reads a post from a message of the contract, without fields that are not known here.
    package init(bytes: [UInt8]) throws(MessageError) {
        var tree = MessageTree(limitByteCount: .max)
        try tree.read(Post.self, in: unsafe bytes.span.bytes)
        self = try Post(MessageTree.root, in: tree)
    }
}
