package import FeedDataset
package import FeedProto

/// Posts of a file that are sent in one frame.
package struct PostBatch: Sendable {
    /// The most posts that a frame takes.
    package static var maximumPostCount: Int { 256 }

    /// Bytes of texts at which a batch is full: so far below a frame of 1 MiB that no post that a
    /// feed accepts comes near it.
    static var maximumTextByteCount: Int { 512 << 10 }

    /// The posts, in the order of the file.
    package private(set) var posts: [Post] = []
    /// Posts of the same part of the file with an invalid value.
    package private(set) var leftOut: [LeftOutPost] = []
    /// The line of the file on which each post begins.
    package private(set) var lines: [Int] = []
    private var textByteCount = 0

    /// No posts.
    package init() {}

    /// Whether the next post belongs in another batch.
    package var isFull: Bool {
        posts.count + leftOut.count == Self.maximumPostCount
            || textByteCount >= Self.maximumTextByteCount
    }

    /// Whether it has neither posts nor anything to report.
    var isEmpty: Bool { posts.isEmpty && leftOut.isEmpty }

    /// Adds a row: its post, or the reason why it is left out.
    package mutating func append(_ row: DatasetRow) {
        switch row {
        case .post(let post): append(post)
        case .rejected(let rejection): leftOut.append(LeftOutPost(rejection))
        }
    }

    /// Adds a post.
    package mutating func append(_ post: DatasetPost) {
        posts.append(Post(post))
        lines.append(post.line)
        textByteCount += posts[posts.count - 1].textByteCount
    }

    /// Removes the post that a violation names and returns why; nil where it names none of them.
    package mutating func remove(_ violation: FieldViolation) -> LeftOutPost? {
        let path = violation.field.split(separator: ".", maxSplits: 1)
        guard path.count == 2, let name = path.first, name.hasPrefix("posts["), name.hasSuffix("]"),
            let index = Int(name.dropFirst("posts[".count).dropLast()),
            posts.indices.contains(index)
        else { return nil }
        posts.remove(at: index)
        return LeftOutPost(
            line: lines.remove(at: index),
            field: String(path[1]),
            reason: violation.reason.rawValue,
            actual: violation.actual,
            limit: violation.limit
        )
    }
}

extension PostBatch {
    /// Removes the longest post of a batch that no frame holds; nil where there is none.
    package mutating func removeLongest(limitByteCount: Int) -> LeftOutPost? {
        let longest = posts.indices.max { posts[$0].textByteCount < posts[$1].textByteCount }
        guard let longest else { return nil }
        return LeftOutPost(
            line: lines.remove(at: longest),
            field: "post",
            reason: Reason.textTooLong.rawValue,
            actual: UInt64(posts.remove(at: longest).textByteCount),
            limit: UInt64(limitByteCount)
        )
    }
}

extension LeftOutPost {
    /// A post that is left out because the reader of its file rejected it.
    fileprivate init(_ rejection: RejectedPost) {
        self.init(
            line: rejection.line,
            field: rejection.field,
            reason: rejection.cause.rawValue,
            value: rejection.value,
            actual: 0,
            limit: rejection.limit
        )
    }
}

extension Post {
    fileprivate var textByteCount: Int {
        title.utf8.count + text.utf8.count + linkURL.utf8.count + thumbnailURL.utf8.count
            + (author?.displayName.utf8.count ?? 0)
    }

    /// A post of a file, with the counts that it had there.
    fileprivate init(_ row: DatasetPost) {
        self.init(
            author: row.authorName.isEmpty ? nil : User(displayName: row.authorName),
            title: row.title,
            text: row.text,
            linkURL: row.linkURL,
            thumbnailURL: row.thumbnailURL,
            upvoteCount: row.upvoteCount,
            downvoteCount: row.downvoteCount,
            commentCount: row.commentCount,
            createTimeMilliseconds: row.createTimeMilliseconds
        )
    }
}
