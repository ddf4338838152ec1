import CFeedProto

/// A growing buffer of encoded frames, one after another, each with its header.
///
/// Once it has grown to what its program needs, encoding allocates nothing.
public struct FrameEncoder: ~Copyable {
    /// The longest frame that is appended, without its header.
    public let maximumFrameByteCount: Int
    /// The C messages of the frame that is being encoded.
    let arena = MessageArena(limitByteCount: MessageArena.greatestLimitByteCount)
    private var output = OutputBuffer()

    /// An empty buffer for frames up to a limit.
    public init(maximumFrameByteCount: Int = FrameHeader.defaultMaximumFrameByteCount) {
        precondition(
            maximumFrameByteCount > 0 && maximumFrameByteCount <= Int(UInt32.max),
            "A frame limit is at least 1 byte and fits into a header."
        )
        self.maximumFrameByteCount = maximumFrameByteCount
    }

    /// Bytes appended and not removed.
    public var byteCount: Int { output.byteCount }

    /// Appends a call; over the limit nothing is appended.
    public mutating func append(_ frame: ClientFrame) throws(FrameError) {
        defer { arena.reset() }
        let message = unsafe arena.empty(feed__v1__client_frame__init)
        unsafe frame.write(to: message, arena)
        try unsafe append(message)
    }

    /// Appends an answer; over the limit nothing is appended.
    public mutating func append(_ frame: ServerFrame) throws(FrameError) {
        defer { arena.reset() }
        let message = unsafe arena.empty(feed__v1__server_frame__init)
        unsafe frame.write(to: message, arena)
        try unsafe append(message)
    }

    /// Lends out all frames, to be written to a socket.
    public func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try output.withBytes(body)
    }

    /// Forgets all frames; keeps the memory for the next ones, up to a limit.
    public mutating func removeAll() { output.removeAll() }

    /// Packs a C message behind its length.
    @inline(__always)
    mutating func append<CMessage>(
        _ message: UnsafeMutablePointer<CMessage>
    ) throws(FrameError) {
        let message = unsafe UnsafeMutableRawPointer(message)
            .assumingMemoryBound(to: ProtobufCMessage.self)
        let length = unsafe protobuf_c_message_get_packed_size(message)
        guard length > 0 else { throw .empty }
        guard length <= maximumFrameByteCount else {
            throw .tooLarge(length: UInt64(length), limit: maximumFrameByteCount)
        }
        unsafe output.append(count: FrameHeader.byteCount + length) { bytes in
            unsafe bytes.storeBytes(of: UInt32(length).bigEndian, as: UInt32.self)
            let body = unsafe (bytes + FrameHeader.byteCount).assumingMemoryBound(to: UInt8.self)
            unsafe protobuf_c_message_pack(message, body)
        }
    }
}
