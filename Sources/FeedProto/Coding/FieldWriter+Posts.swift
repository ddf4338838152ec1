// Posts, in the bytes that protobuf-c would write. With a C message for each post a page takes twice
// to three times as long to write.
extension FieldWriter {
    /// The most bytes that posts take.
    static func maximumByteCount(of posts: Span<PostFields>) -> Int {
        var byteCount = 0
        for index in posts.indices { byteCount += posts[index].maximumEncodedByteCount }
        return byteCount
    }

    /// The tag of the posts of a page.
    static let pagePostTag: UInt8 = 0x0A

    /// Writes the posts of a repeated field, whose texts lie in `texts`.
    ///
    /// They take at most the sum of their `maximumEncodedByteCount`.
    mutating func posts(tag: UInt8, _ posts: Span<PostFields>, texts: Span<UInt8>) {
        for index in posts.indices {
            let start = beginLongMessage(tag: tag)
            fields(of: posts[index], texts: texts)
            endLongMessage(at: start)
        }
    }

    /// Writes the posts of a page that are encoded, each with what the caller has made of it.
    ///
    /// `viewers` has one for each post, or none for a caller without identity.
    mutating func posts(_ posts: EncodedPosts, viewers: Span<Viewer>) {
        let bytes = posts.bytes.span
        guard !viewers.isEmpty else {
            self.bytes(copying: bytes.extracting(droppingFirst: FrameHeader.byteCount))
            return
        }
        for index in posts.bodies.indices {
            let message = beginLongMessage(tag: Self.pagePostTag)
            self.bytes(copying: bytes.extracting(posts.bodies[index]))
            viewer(viewers[index])
            endLongMessage(at: message)
        }
    }

    /// Writes the fields of a page beside its posts; its tokens lie in `texts`.
    mutating func fields(of page: ListPostsFields, texts: Span<UInt8>) {
        text(tag: 0x12, page.nextPageToken, of: texts)
        text(tag: 0x1A, page.previousPageToken, of: texts)
        text(tag: 0x22, page.refreshToken, of: texts)
        varint(tag: 0x28, page.firstRank)
        varint(tag: 0x30, page.totalSize)
        varint(tag: 0x38, UInt64(page.newerCount))
        varint(tag: 0x40, page.consistency.wireNumber)
    }

    /// Writes the fields of a post, whose texts lie in `texts`.
    @inline(__always)
    mutating func fields(of post: PostFields, texts: Span<UInt8>) {
        varint(tag: 0x08, post.id)
        text(tag: 0x12, post.feed, of: texts)
        author(of: post, texts: texts)
        text(tag: 0x22, post.title, of: texts)
        text(tag: 0x2A, post.text, of: texts)
        text(tag: 0x32, post.linkURL, of: texts)
        text(tag: 0x3A, post.thumbnailURL, of: texts)
        text(tag: 0x42, post.imageURL, of: texts)
        varint(tag: 0x48, UInt64(bitPattern: post.score))
        varint(tag: 0x50, post.upvoteCount)
        varint(tag: 0x58, post.downvoteCount)
        varint(tag: 0x60, post.commentCount)
        varint(tag: 0x68, UInt64(bitPattern: post.createTimeMilliseconds))
        varint(tag: 0x70, UInt64(bitPattern: post.updateTimeMilliseconds))
        varint(tag: 0x78, post.revision)
        flag(tag: 0x80, 0x01, post.isDeleted)
        if let viewer = post.viewer { self.viewer(viewer) }
    }

    /// Writes the author of a post that has one.
    private mutating func author(of post: PostFields, texts: Span<UInt8>) {
        guard post.authorID > 0 || post.authorName.byteCount > 0 else { return }
        let nameByteCount = Int(post.authorName.byteCount)
        var length = 0
        if post.authorID > 0 { length += 1 + Self.byteCount(of: post.authorID) }
        if nameByteCount > 0 {
            length += 1 + Self.byteCount(of: UInt64(nameByteCount)) + nameByteCount
        }
        head(tag: 0x1A, length: length)
        varint(tag: 0x08, post.authorID)
        text(tag: 0x12, post.authorName, of: texts)
    }

    /// Writes what the caller has made of a post, the last field of a post.
    private mutating func viewer(_ viewer: Viewer) {
        let start = beginMessage(tag: 0x8A, 0x01)
        varint(tag: 0x08, viewer.vote.wireNumber)
        varint(tag: 0x10, viewer.isRead ? 1 : 0)
        varint(tag: 0x18, viewer.isDismissed ? 1 : 0)
        endMessage(at: start)
    }
}

extension ListPostsFields {
    /// The most bytes that these fields take encoded.
    var maximumEncodedByteCount: Int {
        7 * FieldWriter.numberByteCount + Int(nextPageToken.byteCount)
            + Int(previousPageToken.byteCount) + Int(refreshToken.byteCount)
    }
}
