// Events of watches, and answers that many callers get: each is encoded once, and copied behind the id of
// each watch or call.
extension FrameEncoder {
    /// Appends an event of a watch, with posts whose texts lie in `texts`.
    public mutating func append(
        event: WatchEventFields,
        changed posts: Span<PostFields>,
        texts: Span<UInt8>,
        id: UInt64,
        revision: UInt64
    ) throws(FrameError) {
        let bound =
            maximumByteCount(of: posts) + FieldWriter.maximumByteCount(of: event.ranking)
            + FieldWriter.maximumByteCount(of: event.removedIDs) + 3 * FieldWriter.numberByteCount
        var writer = answerWriter(bound, id: id, revision: revision)
        writer.varint(tag: 0x20, 1)
        let body = writer.beginLongMessage(tag: 0xAA, 0x02)
        writer.posts(tag: 0x0A, posts, texts: texts)
        writer.numbers(tag: 0x12, event.ranking)
        writer.numbers(tag: 0x1A, event.removedIDs)
        writer.varint(tag: 0x20, UInt64(event.newPostCount))
        writer.varint(tag: 0x28, event.isReset ? 1 : 0)
        writer.endLongMessage(at: body)
        try commit(writer.end())
    }

    /// Takes the bytes behind the id of the only frame, which was encoded with the id 0; no frame is left.
    public mutating func takeBytesBehindID() -> [UInt8] {
        defer { removeAll() }
        return withBytes { bytes in
            var copy: [UInt8] = []
            // An id of 0 is left out, so all that follows the header is behind it.
            copy.append(copying: bytes.extracting(droppingFirst: FrameHeader.byteCount))
            return copy
        }
    }

    /// Appends a frame with the bytes behind its id that `takeBytesBehindID()` has given.
    public mutating func append(behindID rest: [UInt8], id: UInt64) throws(FrameError) {
        let byteCount = FrameHeader.byteCount + FieldWriter.numberByteCount + rest.count
        var writer = unsafe FieldWriter(room: output.reserve(byteCount), byteCount: byteCount)
        writer.varint(tag: 0x08, id)
        writer.bytes(copying: rest[...])
        try commit(writer.end())
    }

    /// The bytes behind the id and the revision of the answer that was appended last.
    ///
    /// It has this id and revision, and begins in the bytes where ``byteCount`` was before it was appended.
    public func bytesBehindRevision(
        ofFrameAt start: Int,
        id: UInt64,
        revision: UInt64
    ) -> [UInt8] {
        // Numbers have a tag of one byte, and a number of 0 is left out.
        let headByteCount = [id, revision].filter { $0 != 0 }
            .reduce(FrameHeader.byteCount) { $0 + 1 + FieldWriter.byteCount(of: $1) }
        return withBytes { bytes in
            var copy: [UInt8] = []
            copy.append(copying: bytes.extracting(droppingFirst: start + headByteCount))
            return copy
        }
    }

    /// Appends an answer with the bytes that `bytesBehindRevision` has given.
    public mutating func append(
        behindRevision rest: [UInt8],
        id: UInt64,
        revision: UInt64
    ) throws(FrameError) {
        var writer = answerWriter(rest.count, id: id, revision: revision)
        writer.bytes(copying: rest[...])
        try commit(writer.end())
    }
}
