import FeedProto
import FeedTestSupport

/// Posts as fields over one buffer of texts.
enum FieldsSample {
    static func posts(count: Int) -> ([PostFields], texts: [UInt8]) {
        var texts: [UInt8] = []
        func add(_ text: String) -> TextRange {
            defer { texts += Array(text.utf8) }
            return TextRange(offset: UInt32(texts.count), byteCount: UInt32(text.utf8.count))
        }
        let feed = add("posts")
        let posts = (0..<count).map { index in
            var post = PostFields(id: PostID(rawValue: UInt64(index + 1)))
            post.feed = feed
            post.title = add("Title of post \(index), long enough for no small string")
            post.text = index % 3 == 0 ? .empty : add("Text \(index) é")
            post.linkURL = add("https://example.org/\(index)")
            post.thumbnailURL = index % 2 == 0 ? .empty : add("https://example.org/t\(index)")
            post.imageURL = index % 5 == 0 ? .empty : add("https://example.org/i\(index)")
            post.authorID = index % 4 == 0 ? UserID(rawValue: UInt64(index)) : 0
            post.authorName = index % 3 == 0 ? .empty : add("Author \(index)")
            post.score = Int64(index) - 50
            post.upvoteCount = UInt64(index)
            post.downvoteCount = 50
            post.commentCount = UInt64(index * 1000)
            post.createTimeMilliseconds = 1_700_000_000_000 + Int64(index)
            post.updateTimeMilliseconds = -Int64(index)
            post.revision = .max
            post.isDeleted = index % 7 == 3
            if index % 2 == 1 {
                post.viewer = Viewer(vote: .up, isRead: index % 4 == 1, isDismissed: index % 8 == 1)
            }
            return post
        }
        return (posts, texts)
    }

    /// A post without texts, whose numbers take the most bytes.
    static var widestNumbers: PostFields {
        var widest = PostFields(id: .max)
        widest.authorID = .max
        widest.score = -1
        widest.upvoteCount = .max
        widest.downvoteCount = .max
        widest.commentCount = .max
        widest.createTimeMilliseconds = -1
        widest.updateTimeMilliseconds = -1
        widest.revision = .max
        widest.isDeleted = true
        widest.viewer = Viewer(vote: VoteDirection(rawValue: -1), isRead: true, isDismissed: true)
        return widest
    }

    /// The post that the fields stand for, put together on another way.
    static func post(_ fields: PostFields, _ texts: [UInt8]) -> Post {
        func text(_ range: TextRange) -> String {
            let start = Int(range.offset)
            return String(decoding: texts[start..<(start + Int(range.byteCount))], as: UTF8.self)
        }
        let name = text(fields.authorName)
        return Post(
            id: fields.id,
            feed: text(fields.feed),
            author: fields.authorID == 0 && name.isEmpty
                ? nil : User(id: fields.authorID, displayName: name),
            title: text(fields.title),
            text: text(fields.text),
            linkURL: text(fields.linkURL),
            thumbnailURL: text(fields.thumbnailURL),
            imageURL: text(fields.imageURL),
            score: fields.score,
            upvoteCount: fields.upvoteCount,
            downvoteCount: fields.downvoteCount,
            commentCount: fields.commentCount,
            createTimeMilliseconds: fields.createTimeMilliseconds,
            updateTimeMilliseconds: fields.updateTimeMilliseconds,
            revision: fields.revision,
            isDeleted: fields.isDeleted,
            viewer: fields.viewer
        )
    }
}

extension Identifier {
    /// A number of any number of bits, half of the time 0.
    static func anyWidth(using random: inout SeededGenerator) -> Self {
        Self(rawValue: .anyWidth(using: &random))
    }
}

extension UInt64 {
    /// A number of any number of bits, half of the time 0.
    static func anyWidth(using random: inout SeededGenerator) -> UInt64 {
        guard Bool.random(using: &random) else { return 0 }
        let shift = UInt64.random(in: 0..<64, using: &random)
        return .random(in: 0 ... .max, using: &random) >> shift
    }
}

/// The fields of a ``RawMessage`` as bytes, to be joined and nested in tables of cases.
enum Wire {
    static func varint(_ value: UInt64) -> [UInt8] { RawMessage.varint(value) }

    static func tag(_ field: UInt64, type: UInt64) -> [UInt8] {
        RawMessage().tag(field, wireType: type).bytes
    }

    static func number(_ field: UInt64, _ value: UInt64) -> [UInt8] {
        RawMessage().field(field, value).bytes
    }

    static func bytes(_ field: UInt64, _ bytes: [UInt8]) -> [UInt8] {
        RawMessage().field(field, bytes).bytes
    }

    static func text(_ field: UInt64, _ text: String) -> [UInt8] { bytes(field, Array(text.utf8)) }

    static func framed(_ body: [UInt8]) -> [UInt8] { RawMessage().raw(body).framed }
}
