// There are two codecs: protobuf-c, and one in Swift for platforms without it. They are equal: in the values
// and the bytes that they make, and in what they refuse. Where both are, CodecTests holds them together.
#if canImport(CFeedProto) && !FEED_CODEC_SWIFT
typealias Codec = ProtobufCCodec
#else
typealias Codec = SwiftCodec
#endif

/// Decodes the bodies of frames.
package protocol BodyDecoder: ~Copyable {
    /// A decoder that takes no more memory for a message, counted as protobuf-c takes it, than a limit.
    init(limitByteCount: Int)

    /// Bytes held.
    var reservedByteCount: Int { get }

    /// The call in a body, of which the decoder keeps what it needed until `reset()`.
    mutating func clientFrame(_ body: RawSpan) throws(MessageError) -> ClientFrame

    /// The answer in a body, of which the decoder keeps what it needed until `reset()`.
    mutating func serverFrame(_ body: RawSpan) throws(MessageError) -> ServerFrame

    /// The hash of the call that was decoded last, the same for any order of its fields; 0 where the frame
    /// has none.
    ///
    /// The call is encoded again in protobuf-c's own form. O(bytes of the call).
    mutating func contentHash() -> UInt32

    /// Overwrites what it needed.
    mutating func overwrite()

    mutating func reset()
}

/// Encodes messages.
package protocol BodyEncoder: ~Copyable {
    init()

    /// Appends a frame with its header; appends nothing over the limit.
    mutating func append(
        _ frame: ClientFrame,
        to output: inout OutputBuffer,
        limit: Int
    ) throws(FrameError)

    /// Appends a frame with its header; appends nothing over the limit.
    mutating func append(
        _ frame: ServerFrame,
        to output: inout OutputBuffer,
        limit: Int
    ) throws(FrameError)

    /// The bytes of a status without a tag and a length.
    mutating func byteCount(of status: Status) -> Int

    /// Writes the status of a failed vote as one of the results of a batch.
    mutating func append(_ status: Status, to writer: inout FieldWriter)

    /// Overwrites the memory that messages were made in.
    mutating func overwrite()
}
