#if canImport(CFeedProto)
import CFeedProto

/// protobuf-c: it unpacks structs into an arena, from which the values are copied, and packs structs that
/// were made of values.
package enum ProtobufCCodec {
    static var usesProtobufC: Bool { true }

    @safe package struct Decoder: BodyDecoder, ~Copyable {
        private let arena: MessageArena
        private let limitByteCount: Int
        /// The call that was decoded last, in the arena.
        private var call: UnsafeMutablePointer<Feed__V1__ClientFrame>?

        package init(limitByteCount: Int) {
            self.limitByteCount = limitByteCount
            arena = MessageArena(limitByteCount: limitByteCount)
        }

        package var reservedByteCount: Int { arena.reservedByteCount }

        package mutating func clientFrame(_ body: RawSpan) throws(MessageError) -> ClientFrame {
            unsafe call = body.withUnsafeBytes { body in
                unsafe feed__v1__client_frame__unpack(
                    arena.allocator,
                    body.count,
                    body.baseAddress?.assumingMemoryBound(to: UInt8.self)
                )
            }
            guard let call = unsafe call else { throw failure(byteCount: body.byteCount) }
            return try unsafe ClientFrame(call, byteCount: body.byteCount)
        }

        package mutating func serverFrame(_ body: RawSpan) throws(MessageError) -> ServerFrame {
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

        package mutating func contentHash() -> UInt32 {
            guard let call = unsafe call else { return 0 }
            return unsafe RequestHash.ofContent(call)
        }

        package mutating func overwrite() { arena.overwrite() }

        package mutating func reset() {
            unsafe call = nil
            arena.reset()
        }

        private func failure(byteCount: Int) -> MessageError {
            switch arena.refusal {
            case .limit: .tooManyFields(limitByteCount: limitByteCount)
            case .memory: .outOfMemory
            case nil: .malformed(byteCount: byteCount)
            }
        }
    }

    package struct Encoder: BodyEncoder, ~Copyable {
        /// The C messages of the frame that is being encoded.
        private let arena = MessageArena(limitByteCount: MessageArena.greatestLimitByteCount)

        package init() {}

        package mutating func append(
            _ frame: ClientFrame,
            to output: inout OutputBuffer,
            limit: Int
        ) throws(FrameError) {
            defer { arena.reset() }
            let message = unsafe arena.empty(feed__v1__client_frame__init)
            unsafe frame.write(to: message, arena)
            try unsafe append(message, to: &output, limit)
        }

        package mutating func append(
            _ frame: ServerFrame,
            to output: inout OutputBuffer,
            limit: Int
        ) throws(FrameError) {
            defer { arena.reset() }
            let message = unsafe arena.empty(feed__v1__server_frame__init)
            unsafe frame.write(to: message, arena)
            try unsafe append(message, to: &output, limit)
        }

        package mutating func byteCount(of status: Status) -> Int {
            defer { arena.reset() }
            guard let message = unsafe arena.message(status) else { return 0 }
            return unsafe feed__v1__status__get_packed_size(message)
        }

        package mutating func append(_ status: Status, to writer: inout FieldWriter) {
            defer { arena.reset() }
            guard let message = unsafe arena.message(status) else { return }
            unsafe writer.result(count: feed__v1__status__get_packed_size(message)) { place in
                _ = unsafe feed__v1__status__pack(message, place)
            }
        }

        package mutating func overwrite() { arena.overwrite() }
    }
}

extension ProtobufCCodec.Encoder {
    /// Packs a C message in the arena.
    ///
    /// Protobuf takes at most three times the bytes that the arena holds: a member of a C struct
    /// has at least 4 bytes, its tag and number at most 12, and texts have the same length in both.
    /// So a message needs no walk beforehand to learn its length, which would cost as much as
    /// packing it. Only for a long message is the walk better than asking for three times the
    /// memory.
    @inline(__always)
    private func append<CMessage>(
        _ message: UnsafeMutablePointer<CMessage>,
        to output: inout OutputBuffer,
        _ limit: Int
    ) throws(FrameError) {
        let message = unsafe UnsafeMutableRawPointer(message)
            .assumingMemoryBound(to: ProtobufCMessage.self)
        var boundByteCount = 3 * arena.usedByteCount
        if boundByteCount > Self.unmeasuredByteCount {
            boundByteCount = unsafe protobuf_c_message_get_packed_size(message)
            guard boundByteCount <= limit else {
                throw .tooLarge(length: UInt64(boundByteCount), limit: limit)
            }
        }
        let header = unsafe output.reserve(FrameHeader.byteCount + boundByteCount)
        let body = unsafe (header + FrameHeader.byteCount).assumingMemoryBound(to: UInt8.self)
        let length = unsafe protobuf_c_message_pack(message, body)
        precondition(length <= boundByteCount, "A message is packed within its bound.")
        guard length > 0 else { throw .empty }
        guard length <= limit else { throw .tooLarge(length: UInt64(length), limit: limit) }
        unsafe header.storeBytes(of: UInt32(length).bigEndian, as: UInt32.self)
        output.commit(FrameHeader.byteCount + length)
    }

    /// The longest message, by its bound, that is packed without measuring it.
    private static var unmeasuredByteCount: Int { OutputBuffer.retainedByteCount / 2 }
}

extension RequestHash {
    /// The hash of the call in a frame: each piece of it is mixed in as protobuf-c writes it; nothing is
    /// allocated.
    fileprivate static func ofContent(
        _ frame: UnsafeMutablePointer<Feed__V1__ClientFrame>
    ) -> UInt32 {
        // All members of the oneof are pointers to messages, and the cases are the fields' numbers.
        guard let body = unsafe UnsafeMutableRawPointer(frame.pointee.hello) else { return 0 }
        let message = unsafe body.assumingMemoryBound(to: ProtobufCMessage.self)
        var hash = RequestHash(field: 0)
        hash.combine(UInt64(unsafe frame.pointee.body_case.rawValue))
        hash.combine(UInt64(unsafe protobuf_c_message_get_packed_size(message)))
        var sink = unsafe ContentSink(
            buffer: ProtobufCBuffer(append: { buffer, count, bytes in
                guard let buffer = unsafe buffer, let bytes = unsafe bytes else { return }
                unsafe UnsafeMutableRawPointer(buffer).assumingMemoryBound(to: ContentSink.self)
                    .pointee.append(UnsafeBufferPointer(start: bytes, count: count))
            }),
            hash: hash
        )
        unsafe withUnsafeMutablePointer(to: &sink) { sink in
            // The buffer is the first member, so both have one address.
            let buffer = unsafe UnsafeMutableRawPointer(sink)
                .assumingMemoryBound(to: ProtobufCBuffer.self)
            _ = unsafe protobuf_c_message_pack_to_buffer(message, buffer)
        }
        return unsafe sink.finished()
    }
}

/// Takes the pieces that protobuf-c writes, and mixes them into a hash eight bytes at a time.
@unsafe private struct ContentSink {
    /// What protobuf-c sees; the first member.
    var buffer: ProtobufCBuffer
    var hash: RequestHash
    /// The bytes since the last whole word, the first one lowest.
    private var word: UInt64 = 0
    private var wordByteCount: UInt64 = 0

    init(buffer: ProtobufCBuffer, hash: RequestHash) {
        unsafe self.buffer = buffer
        unsafe self.hash = hash
    }

    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        let raw = UnsafeRawBufferPointer(bytes)
        var offset = 0
        while raw.count - offset >= 8 {
            let next = unsafe UInt64(
                littleEndian: raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            )
            // A shift by all 64 bits leaves nothing.
            unsafe hash.combine(word | next << (8 * wordByteCount))
            unsafe word = next >> (64 - 8 * wordByteCount)
            offset += 8
        }
        while offset < raw.count {
            unsafe append(raw[offset])
            offset += 1
        }
    }

    private mutating func append(_ byte: UInt8) {
        unsafe word |= UInt64(byte) << (8 * wordByteCount)
        unsafe wordByteCount += 1
        guard unsafe wordByteCount == 8 else { return }
        unsafe hash.combine(word)
        unsafe word = 0
        unsafe wordByteCount = 0
    }

    /// The hash with the last bytes, the first of which is highest there.
    consuming func finished() -> UInt32 {
        var rest: UInt64 = 0
        for place in 0..<(unsafe wordByteCount) {
            rest = rest << 8 | (unsafe word >> (8 * place) & 0xFF)
        }
        unsafe hash.combine(rest)
        return unsafe hash.finished()
    }
}
#endif
