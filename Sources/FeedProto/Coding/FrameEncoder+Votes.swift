// Votes and their answers, in the bytes that protobuf-c would write, without a C message.
extension FrameEncoder {
    /// Appends a call that casts a vote; appends nothing over the limit.
    public mutating func append(_ frame: VoteFrame) throws(FrameError) {
        var writer = voteWriter()
        writer.varint(tag: 0x08, frame.id)
        writer.varint(tag: 0x10, UInt64(frame.timeoutMilliseconds))
        writer.varint(tag: 0x18, frame.sequence)
        writer.varint(tag: 0x20, frame.minimumRevision)
        writer.varint(tag: 0x28, frame.actingUserID)
        let start = writer.beginMessage(tag: 0xC2, 0x02)
        writer.varint(tag: 0x08, frame.vote.postID)
        writer.varint(tag: 0x10, frame.vote.direction.wireNumber)
        writer.endMessage(at: start)
        try commit(writer.end())
    }

    /// Appends the answer to a vote; appends nothing over the limit.
    public mutating func append(
        vote: CastVoteResponse,
        id: UInt64,
        revision: UInt64
    ) throws(FrameError) {
        var writer = voteWriter()
        writer.varint(tag: 0x08, id)
        writer.varint(tag: 0x10, revision)
        let start = writer.beginMessage(tag: 0xC2, 0x02)
        writer.varint(tag: 0x08, vote.postID)
        writer.varint(tag: 0x10, UInt64(bitPattern: vote.score))
        writer.varint(tag: 0x18, vote.upvoteCount)
        writer.varint(tag: 0x20, vote.downvoteCount)
        writer.varint(tag: 0x28, vote.vote.wireNumber)
        writer.endMessage(at: start)
        try commit(writer.end())
    }

    /// The most bytes of a vote or its answer: seven numbers, the message that holds some of them,
    /// and the frame's header.
    private static var voteByteCount: Int {
        FrameHeader.byteCount + 7 * FieldWriter.numberByteCount + FieldWriter.messageHeadByteCount
    }

    @inline(__always)
    private mutating func voteWriter() -> FieldWriter {
        unsafe FieldWriter(room: output.reserve(Self.voteByteCount), byteCount: Self.voteByteCount)
    }

    /// Ends a frame of this length that was written into reserved room; it is dropped over the limit.
    @inline(__always)
    mutating func commit(_ length: Int) throws(FrameError) {
        guard length <= maximumFrameByteCount else {
            throw .tooLarge(length: UInt64(length), limit: maximumFrameByteCount)
        }
        output.commit(FrameHeader.byteCount + length)
    }
}
