import CFeedProto

/// A growing buffer of encoded frames, one after another, each with its header.
///
/// Once it has grown to what its program needs, encoding allocates nothing.
public struct FrameEncoder: ~Copyable {
    /// The longest frame that is appended, without its header.
    public let maximumFrameByteCount: Int
    /// The C messages of the frame that is being encoded.
    let arena = MessageArena(limitByteCount: MessageArena.greatestLimitByteCount)
    /// The encoded frames.
    var output = OutputBuffer()

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

    /// Appends a call; appends nothing over the limit.
    public mutating func append(_ frame: ClientFrame) throws(FrameError) {
        defer { arena.reset() }
        let message = unsafe arena.empty(feed__v1__client_frame__init)
        unsafe frame.write(to: message, arena)
        try unsafe append(message)
    }

    /// Appends an answer; appends nothing over the limit.
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

    /// Lends out all frames; not generic, because each batch of answers leaves through here.
    public func lendBytes(to body: (RawSpan) -> Void) {
        output.lendBytes(to: body)
    }

    /// Drops all frames; keeps the memory for the next ones, up to a limit.
    public mutating func removeAll() { output.removeAll() }

    /// Drops all frames and overwrites the memory that they were made in.
    package mutating func overwrite() {
        arena.overwrite()
        output.overwrite()
    }

    /// Packs a C message in the arena.
    ///
    /// Protobuf takes at most three times the bytes that the arena holds: a member of a C struct
    /// has at least 4 bytes, its tag and number at most 12, and texts have the same length in both.
    /// So a message needs no walk beforehand to learn its length, which would cost as much as
    /// packing it. Only for a long message is the walk better than asking for three times the
    /// memory.
    @inline(__always)
    mutating func append<CMessage>(
        _ message: UnsafeMutablePointer<CMessage>
    ) throws(FrameError) {
        let boundByteCount = 3 * arena.usedByteCount
        if boundByteCount <= Self.unmeasuredByteCount {
            try unsafe pack(message, boundByteCount: boundByteCount)
        } else {
            try unsafe pack(message, boundByteCount: measuredByteCount(message))
        }
    }

    /// The longest message, by its bound, that is packed without measuring it.
    private static var unmeasuredByteCount: Int { OutputBuffer.retainedByteCount / 2 }

    private func measuredByteCount<CMessage>(
        _ message: UnsafeMutablePointer<CMessage>
    ) throws(FrameError) -> Int {
        let length = unsafe UnsafeMutableRawPointer(message)
            .withMemoryRebound(to: ProtobufCMessage.self, capacity: 1) { message in
                unsafe protobuf_c_message_get_packed_size(message)
            }
        guard length <= maximumFrameByteCount else {
            throw .tooLarge(length: UInt64(length), limit: maximumFrameByteCount)
        }
        return length
    }

    /// Packs a C message after its length, which is at most the bound.
    @inline(__always)
    private mutating func pack<CMessage>(
        _ message: UnsafeMutablePointer<CMessage>,
        boundByteCount: Int
    ) throws(FrameError) {
        let header = unsafe output.reserve(FrameHeader.byteCount + boundByteCount)
        let body = unsafe (header + FrameHeader.byteCount).assumingMemoryBound(to: UInt8.self)
        let length = unsafe UnsafeMutableRawPointer(message)
            .withMemoryRebound(to: ProtobufCMessage.self, capacity: 1) { message in
                unsafe protobuf_c_message_pack(message, body)
            }
        precondition(length <= boundByteCount, "A message is packed within its bound.")
        guard length > 0 else { throw .empty }
        guard length <= maximumFrameByteCount else {
            throw .tooLarge(length: UInt64(length), limit: maximumFrameByteCount)
        }
        unsafe header.storeBytes(of: UInt32(length).bigEndian, as: UInt32.self)
        output.commit(FrameHeader.byteCount + length)
    }
}
