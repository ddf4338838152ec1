// Answers with posts, for a program that keeps its texts as bytes: in the bytes that protobuf-c would
// write, without a String and without a C message.
extension FrameEncoder {
    /// Appends an answer with one post whose texts lie in `texts`.
    public mutating func append(
        post: PostFields,
        texts: Span<UInt8>,
        id: UInt64,
        revision: UInt64
    ) throws(FrameError) {
        var writer = answerWriter(post.maximumEncodedByteCount, id: id, revision: revision)
        let body = writer.beginLongMessage(tag: 0xF2, 0x01)
        writer.fields(of: post, texts: texts)
        writer.endLongMessage(at: body)
        try commit(writer.end())
    }

    /// Appends a page of posts whose texts lie in `texts`.
    public mutating func append(
        page: ListPostsFields,
        posts: Span<PostFields>,
        texts: Span<UInt8>,
        id: UInt64,
        revision: UInt64
    ) throws(FrameError) {
        let bound = FieldWriter.maximumByteCount(of: posts) + page.maximumEncodedByteCount
        var writer = answerWriter(bound, id: id, revision: revision)
        let body = writer.beginLongMessage(tag: 0x8A, 0x02)
        writer.posts(tag: FieldWriter.pagePostTag, posts, texts: texts)
        writer.fields(of: page, texts: texts)
        writer.endLongMessage(at: body)
        try commit(writer.end())
    }

    /// Appends posts, as a page has them, as a frame of their own; returns where the fields of each lie.
    mutating func append(bodiesOf posts: Span<PostFields>, texts: Span<UInt8>) -> [Range<Int>] {
        let bound = FrameHeader.byteCount + FieldWriter.maximumByteCount(of: posts)
        var writer = unsafe FieldWriter(room: output.reserve(bound), byteCount: bound)
        var bodies: [Range<Int>] = []
        bodies.reserveCapacity(posts.count)
        for index in posts.indices {
            let post = posts[index]
            precondition(post.viewer == nil, "The posts are those of every caller.")
            let start = writer.beginLongMessage(tag: FieldWriter.pagePostTag)
            writer.fields(of: post, texts: texts)
            let byteCount = writer.byteCount - start
            writer.endLongMessage(at: start)
            bodies.append(writer.byteCount - byteCount..<writer.byteCount)
        }
        output.commit(FrameHeader.byteCount + writer.end())
        return bodies
    }

    /// Appends a page of posts that are encoded; its tokens lie in `texts`.
    ///
    /// `viewers` has what the caller has made of each post, or nothing for a caller without identity.
    public mutating func append(
        page: ListPostsFields,
        posts: EncodedPosts,
        viewers: Span<Viewer>,
        texts: Span<UInt8>,
        id: UInt64,
        revision: UInt64
    ) throws(FrameError) {
        precondition(viewers.isEmpty || viewers.count == posts.bodies.count, "Each post has one.")
        let bound = posts.maximumEncodedByteCount + page.maximumEncodedByteCount
        var writer = answerWriter(bound, id: id, revision: revision)
        let body = writer.beginLongMessage(tag: 0x8A, 0x02)
        writer.posts(posts, viewers: viewers)
        writer.fields(of: page, texts: texts)
        writer.endLongMessage(at: body)
        try commit(writer.end())
    }

    /// Appends a page of changes, with posts whose texts lie in `texts`.
    public mutating func append(
        changes: SyncPostsFields,
        posts: Span<PostFields>,
        texts: Span<UInt8>,
        id: UInt64,
        revision: UInt64
    ) throws(FrameError) {
        let bound = FieldWriter.maximumByteCount(of: posts) + 5 * FieldWriter.numberByteCount
        var writer = answerWriter(bound, id: id, revision: revision)
        let body = writer.beginLongMessage(tag: 0xA2, 0x02)
        writer.posts(tag: 0x0A, posts, texts: texts)
        writer.varint(tag: 0x10, changes.nextRevision)
        writer.varint(tag: 0x18, changes.hasMore ? 1 : 0)
        writer.varint(tag: 0x20, changes.isReset ? 1 : 0)
        writer.varint(tag: 0x28, changes.copyRevision)
        writer.fixed64(tag: 0x31, changes.instanceID)
        writer.endLongMessage(at: body)
        try commit(writer.end())
    }

    /// Appends the answer to a batch get, with posts whose texts lie in `texts`.
    public mutating func append(
        batch posts: Span<PostFields>,
        missingIDs: [UInt64],
        texts: Span<UInt8>,
        id: UInt64,
        revision: UInt64
    ) throws(FrameError) {
        let bound =
            FieldWriter.maximumByteCount(of: posts) + FieldWriter.maximumByteCount(of: missingIDs)
        var writer = answerWriter(bound, id: id, revision: revision)
        let body = writer.beginLongMessage(tag: 0x82, 0x02)
        writer.posts(tag: 0x0A, posts, texts: texts)
        writer.numbers(tag: 0x12, missingIDs)
        writer.endLongMessage(at: body)
        try commit(writer.end())
    }

    /// A writer of an answer whose body takes at most so many bytes; it has written the id and the
    /// revision.
    mutating func answerWriter(
        _ bodyByteCount: Int,
        id: UInt64,
        revision: UInt64
    ) -> FieldWriter {
        // The header, two numbers, and the tag and the length of the body.
        let byteCount = FrameHeader.byteCount + 3 * FieldWriter.numberByteCount + bodyByteCount
        var writer = unsafe FieldWriter(room: output.reserve(byteCount), byteCount: byteCount)
        writer.varint(tag: 0x08, id)
        writer.varint(tag: 0x10, revision)
        return writer
    }
}
