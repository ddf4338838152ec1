import CFeedProto

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
        defer { arena.reset() }
        let frame = unsafe answer(id: id, revision: revision)
        unsafe frame.pointee.more = 1
        try unsafe texts.withUnsafeBufferPointer { texts throws(FrameError) in
            let message = unsafe arena.empty(feed__v1__watch_posts_event__init)
            unsafe message.pointee.n_changed = posts.count
            unsafe message.pointee.changed = arena.posts(posts, texts)
            unsafe message.pointee.n_ranking = event.ranking.count
            unsafe message.pointee.ranking = arena.numbers(event.ranking)
            unsafe message.pointee.n_removed_ids = event.removedIDs.count
            unsafe message.pointee.removed_ids = arena.numbers(event.removedIDs)
            unsafe message.pointee.new_post_count = event.newPostCount
            unsafe message.pointee.reset = event.isReset ? 1 : 0
            unsafe frame.pointee.body_case = FEED__V1__SERVER_FRAME__BODY_WATCH_POSTS
            unsafe frame.pointee.watch_posts = message
            try unsafe append(frame, outsideByteCount: textByteCount(of: posts))
        }
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
        unsafe writer.bytes(count: rest.count) { place in
            unsafe rest.withUnsafeBytes { rest in
                unsafe UnsafeMutableRawBufferPointer(start: place, count: rest.count)
                    .copyMemory(from: rest)
            }
        }
        try commit(writer.end())
    }
}
