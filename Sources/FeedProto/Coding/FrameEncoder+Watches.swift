// Events of watches. Many watches may get the same event: it is encoded once, and each watch gets a
// copy behind its own id.
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
            FieldWriter.maximumByteCount(of: posts)
            + FieldWriter.maximumByteCount(of: event.ranking)
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
        writer.bytes(copying: rest.span)
        try commit(writer.end())
    }
}
