import CFeedProto

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

// Answers to batches of votes, in the bytes that protobuf-c would write. Only the status of a
// failed vote needs a C message.
extension FrameEncoder {
    /// Appends the answer to a batch of votes; appends nothing over the limit.
    ///
    /// O(votes).
    public mutating func append(
        _ results: borrowing VoteBatchResults,
        id: UInt64,
        revision: UInt64
    ) throws(FrameError) {
        defer { arena.reset() }
        let votes = results.votes.span
        let bound =
            Self.headByteCount + results.count * Self.resultByteCount
            + failuresByteCount(of: results)
        var writer = unsafe FieldWriter(room: output.reserve(bound), byteCount: bound)
        writer.varint(tag: 0x08, id)
        writer.varint(tag: 0x10, revision)
        let start = writer.beginLongMessage(tag: 0xCA, 0x02)
        var item = 0
        for failure in results.failures {
            for item in item..<failure.item { writer.append(votes[item]) }
            append(failure.status, to: &writer)
            item = failure.item + 1
        }
        for item in item..<results.count { writer.append(votes[item]) }
        writer.endLongMessage(at: start)
        let length = writer.end()
        guard length <= maximumFrameByteCount else {
            throw .tooLarge(length: UInt64(length), limit: maximumFrameByteCount)
        }
        output.commit(FrameHeader.byteCount + length)
    }

    /// The most bytes before the first result: the header, two numbers, and the tag and the length
    /// of the message that holds all results.
    private static var headByteCount: Int {
        FrameHeader.byteCount + 3 * FieldWriter.numberByteCount
    }

    /// The most bytes of one result: two nested messages and five numbers.
    private static var resultByteCount: Int { 2 * 2 + 5 * FieldWriter.numberByteCount }

    /// The bytes of all statuses, each with room for two tags and two lengths.
    private func failuresByteCount(of results: borrowing VoteBatchResults) -> Int {
        var byteCount = 0
        for failure in results.failures {
            byteCount += packedByteCount(of: failure.status) + 2 * FieldWriter.numberByteCount
        }
        return byteCount
    }

    private func packedByteCount(of status: Status) -> Int {
        guard let message = unsafe arena.message(status) else { return 0 }
        return unsafe feed__v1__status__get_packed_size(message)
    }

    /// Writes the result of a failed vote.
    private func append(_ status: Status, to writer: inout FieldWriter) {
        guard let message = unsafe arena.message(status) else { return }
        let length = unsafe feed__v1__status__get_packed_size(message)
        writer.head(tag: 0x0A, length: 1 + FieldWriter.byteCount(of: UInt64(length)) + length)
        writer.head(tag: 0x0A, length: length)
        unsafe writer.bytes(count: length) { place in
            _ = unsafe feed__v1__status__pack(message, place)
        }
    }
}

extension FieldWriter {
    /// Writes the result of a counted vote.
    @inline(__always)
    fileprivate mutating func append(_ vote: CastVoteResponse) {
        let result = beginMessage(tag: 0x0A)
        let counts = beginMessage(tag: 0x12)
        varint(tag: 0x08, vote.postID)
        varint(tag: 0x10, UInt64(bitPattern: vote.score))
        varint(tag: 0x18, vote.upvoteCount)
        varint(tag: 0x20, vote.downvoteCount)
        varint(tag: 0x28, vote.vote.wireNumber)
        endMessage(at: counts)
        endMessage(at: result)
    }
}
