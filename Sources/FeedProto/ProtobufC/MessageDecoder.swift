import CFeedProto

/// Decodes the bodies of frames; owns the memory it needs for that and uses it again.
///
/// What it holds between two frames is constant. For one frame it takes at most twice the frame
/// limit and 256 KiB, whatever the frame says.
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
        let frame = unsafe body.withUnsafeBytes { body in
            unsafe feed__v1__client_frame__unpack(
                arena.allocator,
                body.count,
                body.baseAddress?.assumingMemoryBound(to: UInt8.self)
            )
        }
        guard let frame = unsafe frame else { throw failure(byteCount: body.byteCount) }
        return try unsafe ClientFrame(frame, byteCount: body.byteCount)
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

    private func failure(byteCount: Int) -> MessageError {
        switch arena.refusal {
        case .limit: .tooManyFields(limitByteCount: limitByteCount)
        case .memory: .outOfMemory
        case nil: .malformed(byteCount: byteCount)
        }
    }
}
