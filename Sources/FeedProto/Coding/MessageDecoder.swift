import CFeedProto

/// Decodes the bodies of frames; owns the memory that it needs and reuses it.
///
/// The memory held between two frames is constant. One frame takes at most twice the frame limit
/// and 256 KiB, for any contents.
public struct MessageDecoder: ~Copyable {
    private let arena: MessageArena
    private let limitByteCount: Int

    /// A decoder for frames up to a limit.
    public init(maximumFrameByteCount: Int = FrameHeader.defaultMaximumFrameByteCount) {
        precondition(maximumFrameByteCount > 0, "A frame limit is at least 1 byte.")
        limitByteCount = 2 * maximumFrameByteCount + (256 << 10)
        arena = MessageArena(limitByteCount: limitByteCount)
    }

    /// Bytes held, for tests and statistics.
    package var reservedByteCount: Int { arena.reservedByteCount }

    /// The call in a body.
    public mutating func decodeClientFrame(_ body: RawSpan) throws(MessageError) -> ClientFrame {
        defer { arena.reset() }
        return try unsafe ClientFrame(unpackClientFrame(body), byteCount: body.byteCount)
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
            if hasSecret { arena.overwrite() }
            arena.reset()
        }
        let message = try unsafe unpackClientFrame(body)
        let frame = try unsafe ClientFrame(message, byteCount: body.byteCount)
        hasSecret = frame.hasSecret
        let hash: UInt32
        switch frame.request {
        case _ where frame.sequence == 0, nil: return (frame, 0)
        case .castVote(let vote): hash = vote.requestHash
        case .some: hash = unsafe RequestHash.ofContent(message)
        }
        return (frame, RequestHash.ofCall(hash, for: frame.actingUserID))
    }

    /// The answer in a body.
    public mutating func decodeServerFrame(_ body: RawSpan) throws(MessageError) -> ServerFrame {
        defer { arena.reset() }
        let frame = unsafe body.withUnsafeBytes { body in
            unsafe feed__v1__server_frame__unpack(
                arena.allocator,
                body.count,
                body.baseAddress?.assumingMemoryBound(to: UInt8.self)
            )
        }
        guard let frame = unsafe frame else { throw failure(byteCount: body.byteCount) }
        return try unsafe ServerFrame(frame, byteCount: body.byteCount)
    }

    private func unpackClientFrame(
        _ body: RawSpan
    ) throws(MessageError) -> UnsafeMutablePointer<Feed__V1__ClientFrame> {
        let frame = unsafe body.withUnsafeBytes { body in
            unsafe feed__v1__client_frame__unpack(
                arena.allocator,
                body.count,
                body.baseAddress?.assumingMemoryBound(to: UInt8.self)
            )
        }
        guard let frame = unsafe frame else { throw failure(byteCount: body.byteCount) }
        return unsafe frame
    }

    private func failure(byteCount: Int) -> MessageError {
        switch arena.refusal {
        case .limit: .tooManyFields(limitByteCount: limitByteCount)
        case .memory: .outOfMemory
        case nil: .malformed(byteCount: byteCount)
        }
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
