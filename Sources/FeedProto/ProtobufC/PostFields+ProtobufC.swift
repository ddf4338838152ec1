import CFeedProto

extension PostFields {
    /// Points an empty C struct at the post's texts, which must stay in place until it is packed.
    func write(
        to message: UnsafeMutablePointer<Feed__V1__Post>,
        _ arena: borrowing MessageArena,
        _ texts: UnsafeBufferPointer<UInt8>
    ) {
        unsafe message.pointee.id = id
        unsafe message.pointee.feed = texts.data(feed)
        unsafe message.pointee.title = texts.data(title)
        unsafe message.pointee.text = texts.data(text)
        unsafe message.pointee.link_url = texts.data(linkURL)
        unsafe message.pointee.thumbnail_url = texts.data(thumbnailURL)
        unsafe message.pointee.image_url = texts.data(imageURL)
        unsafe message.pointee.score = score
        unsafe message.pointee.upvote_count = upvoteCount
        unsafe message.pointee.downvote_count = downvoteCount
        unsafe message.pointee.comment_count = commentCount
        unsafe message.pointee.create_time_ms = createTimeMilliseconds
        unsafe message.pointee.update_time_ms = updateTimeMilliseconds
        unsafe message.pointee.revision = revision
        unsafe message.pointee.deleted = isDeleted ? 1 : 0
        if authorID > 0 || authorName.byteCount > 0 {
            let author = unsafe arena.empty(feed__v1__user__init)
            unsafe author.pointee.id = authorID
            unsafe author.pointee.display_name = texts.data(authorName)
            unsafe message.pointee.author = author
        }
        if let viewerVote {
            let viewer = unsafe arena.empty(feed__v1__viewer__init)
            unsafe viewer.pointee.vote = viewerVote.cValue()
            unsafe viewer.pointee.read = viewerHasRead ? 1 : 0
            unsafe viewer.pointee.dismissed = viewerHasDismissed ? 1 : 0
            unsafe message.pointee.viewer = viewer
        }
    }
}

extension MessageArena {
    /// The posts of a repeated field; their texts stay in place.
    func posts(
        _ posts: Span<PostFields>,
        _ texts: UnsafeBufferPointer<UInt8>
    ) -> UnsafeMutablePointer<UnsafeMutablePointer<Feed__V1__Post>?>? {
        guard !posts.isEmpty else { return nil }
        let messages = unsafe require(
            UnsafeMutablePointer<Feed__V1__Post>?.self,
            count: posts.count
        )
        for index in posts.indices {
            let message = unsafe empty(feed__v1__post__init)
            unsafe posts[index].write(to: message, self, texts)
            unsafe (messages + index).initialize(to: message)
        }
        return unsafe messages
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// A text in place, for protobuf-c, which only reads it.
    func data(_ range: TextRange) -> ProtobufCBinaryData {
        precondition(
            Int(range.offset) + Int(range.byteCount) <= count,
            "A text lies within the texts."
        )
        guard range.byteCount > 0, let base = baseAddress else {
            return unsafe ProtobufCBinaryData()
        }
        return unsafe ProtobufCBinaryData(
            len: Int(range.byteCount),
            data: UnsafeMutablePointer(mutating: base + Int(range.offset))
        )
    }
}
