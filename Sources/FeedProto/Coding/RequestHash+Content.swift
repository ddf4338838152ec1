import CFeedProto

extension RequestHash {
    /// The hash of the call in a frame, the same for any order of its fields.
    ///
    /// The call is encoded again in protobuf-c's own form, and each piece is mixed in as it is
    /// written; nothing is allocated. O(bytes of the call).
    static func ofContent(_ frame: UnsafeMutablePointer<Feed__V1__ClientFrame>) -> UInt32 {
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
