package import FeedDataset
package import FeedProto

/// Posts of a file that are sent in one frame.
///
/// A frame is imported as a whole or not at all, and a refusal names the first post at fault. So
/// that post is removed, and the rest is sent again.
package struct ImportBatch: Sendable {
    /// The most posts that a frame takes.
    private static var maximumPostCount: Int { 256 }
    /// The most bytes of a frame's posts, half of what a frame takes.
    private static var maximumByteCount: Int { 512 << 10 }
    /// The frames in flight of an import: enough that neither side waits for the other.
    package static var maximumInFlightCount: Int { 4 }

    /// The posts, in the order of the file.
    package private(set) var posts: [Post] = []
    /// The line of the file on which each post begins.
    package private(set) var lines: [Int] = []
    /// Posts of the same part of the file with an invalid value.
    package private(set) var leftOut: [LeftOutPost] = []
    /// The lines on which its first and its last row begin; 0 of an empty batch.
    package private(set) var rows = 0...0

    private let votes: Votes
    private var byteCount = 0

    /// How the votes that a file records are treated.
    package enum Votes: Sendable {
        /// Posts are imported with them.
        case imported
        /// Posts are imported without them: they are cast later.
        case cast
    }

    package init(votes: Votes) {
        self.votes = votes
    }

    /// Whether it has neither posts nor anything to report.
    package var isEmpty: Bool { posts.isEmpty && leftOut.isEmpty }

    /// Whether another row belongs in this batch; an empty batch takes a post of any size.
    package func hasRoom(for row: DatasetRow) -> Bool {
        guard posts.count + leftOut.count < Self.maximumPostCount else { return false }
        guard case .post(let post) = row, !isEmpty else { return true }
        return byteCount + Self.byteCount(post) <= Self.maximumByteCount
    }

    /// Adds a row: its post, or the reason why it is left out.
    package mutating func append(_ row: DatasetRow) {
        rows = (rows.lowerBound == 0 ? row.line : rows.lowerBound)...row.line
        switch row {
        case .post(let post): append(post)
        case .rejected(let rejection): leftOut.append(LeftOutPost(rejection))
        }
    }

    package mutating func append(_ post: DatasetPost) {
        posts.append(Post(post, votes))
        lines.append(post.line)
        byteCount += Self.byteCount(post)
    }

    /// The bytes that a post takes of a frame, at most.
    package static func byteCount(_ post: DatasetPost) -> Int {
        post.title.utf8.count + post.text.utf8.count + post.linkURL.utf8.count
            + post.thumbnailURL.utf8.count + post.authorName.utf8.count + postOverheadByteCount
    }

    /// A post's numbers and tags, and the bytes that lengths take.
    private static var postOverheadByteCount: Int { 128 }

    /// A post that was removed from a batch.
    package struct Removed: Sendable {
        /// Its place among the posts.
        package let place: Int
        /// Why it is left out.
        package let post: LeftOutPost
    }

    /// Removes the post that a refusal names first; nil where it names none of them.
    package mutating func remove(_ status: Status) -> Removed? {
        guard let violation = status.violations.first else { return nil }
        let path = violation.field.split(separator: ".", maxSplits: 1)
        guard path.count == 2, let name = path.first, name.hasPrefix("posts["), name.hasSuffix("]"),
            let place = Int(name.dropFirst("posts[".count).dropLast()),
            posts.indices.contains(place)
        else { return nil }
        posts.remove(at: place)
        let leftOut = LeftOutPost(
            line: lines.remove(at: place),
            field: String(path[1]),
            reason: violation.reason.rawValue,
            actual: violation.actual,
            limit: violation.limit,
            message: status.message.replacing(violation.field, with: path[1])
        )
        return Removed(place: place, post: leftOut)
    }

    /// Removes the longest post of a batch that no frame holds; nil where there is none.
    package mutating func removeLongest(limitByteCount: Int) -> Removed? {
        let longest = posts.indices.max { posts[$0].textByteCount < posts[$1].textByteCount }
        guard let longest else { return nil }
        let byteCount = posts.remove(at: longest).textByteCount
        let line = lines.remove(at: longest)
        return Removed(
            place: longest,
            post: .tooLarge(line: line, byteCount: byteCount, limitByteCount: limitByteCount)
        )
    }
}

extension Post {
    /// A post of a file, as it is imported.
    package init(_ row: DatasetPost, _ votes: ImportBatch.Votes) {
        self.init(
            author: row.authorName.isEmpty ? nil : User(displayName: row.authorName),
            title: row.title,
            text: row.text,
            linkURL: row.linkURL,
            thumbnailURL: row.thumbnailURL,
            upvoteCount: votes == .imported ? row.upvoteCount : 0,
            downvoteCount: votes == .imported ? row.downvoteCount : 0,
            commentCount: row.commentCount,
            createTimeMilliseconds: row.createTimeMilliseconds
        )
    }

    fileprivate var textByteCount: Int {
        title.utf8.count + text.utf8.count + linkURL.utf8.count + thumbnailURL.utf8.count
            + (author?.displayName.utf8.count ?? 0)
    }
}

/// A post of a file that no feed accepts: an import reports it and never shortens it to fit.
///
/// Its encoding has no message, which programs make from the other fields.
package struct LeftOutPost: Sendable, Equatable, Encodable {
    /// The line of the file that it begins on.
    package var line: Int
    /// The field at fault, as the contract names it.
    package var field: String
    /// The cause, from the names that the service gives.
    package var reason: String
    /// The value in the file where that is no number from 0 up, safe to print; otherwise empty.
    package var value: String
    /// The field's value, in its unit, to be compared with `limit`; 0 where `value` holds it.
    package var actual: UInt64
    /// The limit that the field passed; 0 where the post was left out for another reason.
    package var limit: UInt64
    package var message: String

    private enum CodingKeys: CodingKey {
        case line, field, reason, value, actual, limit
    }

    /// A post that is left out for this reason.
    package init(
        line: Int,
        field: String,
        reason: String,
        value: String = "",
        actual: UInt64,
        limit: UInt64,
        message: String
    ) {
        self.line = line
        self.field = field
        self.reason = reason
        self.value = value
        self.actual = actual
        self.limit = limit
        self.message = message
    }

    /// A post that is left out because the reader of its file rejected it.
    package init(_ rejection: RejectedPost) {
        self.init(
            line: rejection.line,
            field: rejection.field,
            reason: rejection.cause.rawValue,
            value: rejection.value,
            actual: 0,
            limit: rejection.limit,
            message: rejection.message
        )
    }

    /// A post with more bytes than a frame or a batch takes.
    package static func tooLarge(line: Int, byteCount: Int, limitByteCount: Int) -> LeftOutPost {
        LeftOutPost(
            line: line,
            field: "post",
            reason: Reason.textTooLong.rawValue,
            actual: UInt64(byteCount),
            limit: UInt64(limitByteCount),
            message: "The post has \(byteCount) bytes; the limit is \(limitByteCount)."
        )
    }
}
