import FeedProto
import FeedTestSupport

/// The messages that are measured, with numbers as a busy service has them.
enum Samples {
    /// A call's id on a connection that has been used for a while.
    static let id: UInt64 = 20_000
    /// A store's revision after some minutes of load.
    static let revision: UInt64 = 123_456_789
    /// The posts of a page.
    static let pageSize = 20

    /// Frames one behind another, and where their bodies are.
    struct Frames {
        /// The frames with their headers.
        var bytes: [UInt8]
        /// The place of each frame's body.
        var bodies: [Range<Int>]
    }

    /// 64 votes on any of 100,000 posts.
    static func votes() throws(FrameError) -> Frames {
        var random = SeededGenerator(seed: 1)
        var encoder = FrameEncoder()
        var bodies: [Range<Int>] = []
        for number in 0..<64 as Range<UInt64> {
            let postID = UInt64.random(in: 1...100_000, using: &random)
            let start = encoder.byteCount + FrameHeader.byteCount
            let vote = CastVoteRequest(postID: postID, direction: .up)
            try encoder.append(VoteFrame(id: id + number, vote: vote))
            bodies.append(start..<encoder.byteCount)
        }
        return Frames(bytes: encoder.bytes(), bodies: bodies)
    }

    /// The answers to 64 votes.
    static func answers() -> [CastVoteResponse] {
        var random = SeededGenerator(seed: 2)
        return (0..<64).map { _ in
            let upvoteCount = UInt64.random(in: 1...500, using: &random)
            return CastVoteResponse(
                postID: .random(in: 1...100_000, using: &random),
                score: Int64(upvoteCount),
                upvoteCount: upvoteCount,
                downvoteCount: 0
            )
        }
    }

    /// An answer as any other is sent.
    static func frame(_ answer: CastVoteResponse) -> ServerFrame {
        ServerFrame(id: id, revision: revision, response: .castVote(answer))
    }

    /// A page of posts with title, author and counts.
    static func page() -> Page { Page(postCount: pageSize) }

    /// The fields of a page's posts, over one buffer of texts.
    struct Page {
        private var posts: [PostFields] = []
        private var texts: [UInt8] = []

        /// Posts that differ in all but their feed.
        init(postCount: Int) {
            let feed = add("posts")
            for number in 1...UInt64(postCount) {
                var post = PostFields(id: number)
                post.feed = feed
                post.title = add("A title of about as many letters as most have, \(number)")
                post.authorName = add("author-\(number)")
                post.score = Int64(number) * 100
                post.upvoteCount = number * 100
                post.commentCount = number
                post.createTimeMilliseconds = 1_700_000_000_000
                post.revision = revision
                posts.append(post)
            }
        }

        /// Writes the page as the service does.
        func write(_ encoder: inout FrameEncoder) throws(FrameError) {
            encoder.removeAll()
            try encoder.append(
                page: ListPostsFields(firstRank: 1, totalSize: 100_000),
                posts: posts.span,
                texts: texts.span,
                id: id,
                revision: revision
            )
        }

        /// The page's message.
        func body() throws(FrameError) -> [UInt8] {
            var encoder = FrameEncoder()
            try write(&encoder)
            return Array(encoder.bytes().dropFirst(FrameHeader.byteCount))
        }

        private mutating func add(_ text: String) -> TextRange {
            defer { texts += Array(text.utf8) }
            return TextRange(offset: UInt32(texts.count), byteCount: UInt32(text.utf8.count))
        }
    }
}
