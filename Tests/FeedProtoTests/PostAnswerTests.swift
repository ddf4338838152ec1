import FeedProto
import Testing

/// Answers with posts have the bytes of protobuf-c at each length of a length and of a number.
@Suite struct PostAnswerTests {
    private static let limit = 16 << 20

    /// What protobuf-c writes for a frame.
    private static func packed(_ response: Response, hasMore: Bool = false) throws -> [UInt8] {
        var encoder = FrameEncoder(maximumFrameByteCount: limit)
        try encoder.append(ServerFrame(id: 4, revision: 5, response: response, hasMore: hasMore))
        return encoder.bytes()
    }

    /// A post with one text of so many bytes.
    private static func post(textByteCount: Int) -> (PostFields, texts: [UInt8]) {
        var post = PostFields(id: 1)
        post.text = TextRange(offset: 0, byteCount: UInt32(textByteCount))
        return (post, Array(repeating: 0x61, count: textByteCount))
    }

    /// Lengths around those at which the length itself, of a text, a post or a page, takes a byte more.
    private static let textByteCounts =
        Array(110...130) + Array(16_360...16_390) + Array((1 << 21) - 20...(1 << 21) + 2)

    @Test func eachLengthHasTheBytesOfProtobufC() throws {
        for byteCount in Self.textByteCounts {
            let (fields, texts) = Self.post(textByteCount: byteCount)
            let post = FieldsSample.post(fields, texts)
            var encoder = FrameEncoder(maximumFrameByteCount: Self.limit)
            try encoder.append(post: fields, texts: texts.span, id: 4, revision: 5)
            #expect(try encoder.bytes() == Self.packed(.post(post)), "\(byteCount)")

            encoder.removeAll()
            let page = ListPostsFields(firstRank: 1, totalSize: 1)
            try encoder.append(
                page: page,
                posts: [fields].span,
                texts: texts.span,
                id: 4,
                revision: 5
            )
            let list = ListPostsResponse(posts: [post], firstRank: 1, totalSize: 1)
            #expect(try encoder.bytes() == Self.packed(.listPosts(list)), "\(byteCount)")
        }
    }

    @Test func longNamesAndWideNumbersHaveTheBytesOfProtobufC() throws {
        for byteCount in [1, 117, 118, 119, 120, 125, 126, 127, 128, 200, 20_000] {
            for number in [0, 1, 127, 128, 1 << 55, 1 << 56, 1 << 63, .max] as [UInt64] {
                let texts = [UInt8](repeating: 0x62, count: byteCount)
                var fields = PostFields(id: number)
                fields.authorID = number
                fields.authorName = TextRange(offset: 0, byteCount: UInt32(byteCount))
                fields.score = Int64(bitPattern: number)
                fields.upvoteCount = number
                fields.downvoteCount = number
                fields.commentCount = number
                fields.createTimeMilliseconds = Int64(bitPattern: number)
                fields.updateTimeMilliseconds = Int64(bitPattern: number)
                fields.revision = number
                fields.isDeleted = number == 1
                fields.viewer = Viewer(
                    vote: VoteDirection(rawValue: Int32(truncatingIfNeeded: number))
                )
                var encoder = FrameEncoder()
                try encoder.append(post: fields, texts: texts.span, id: 4, revision: 5)
                let post = FieldsSample.post(fields, texts)
                #expect(try encoder.bytes() == Self.packed(.post(post)), "\(byteCount), \(number)")
            }
        }
    }

    /// The room of a page is the sum of its posts' bounds, which hold for the widest post.
    @Test func theWidestPostsFitIntoTheirRoom() throws {
        let texts = [UInt8](repeating: 0x63, count: 1_000)
        var widest = FieldsSample.widestNumbers
        for text in [
            \PostFields.feed, \.authorName, \.title, \.text, \.linkURL, \.thumbnailURL, \.imageURL,
        ] {
            widest[keyPath: text] = TextRange(offset: 0, byteCount: 1_000)
        }
        for posts in [
            [widest], [PostFields(id: 0)], [PostFields(id: 0), widest, PostFields(id: 0)],
        ] {
            var encoder = FrameEncoder(maximumFrameByteCount: Self.limit)
            var page = ListPostsFields(firstRank: .max, totalSize: .max)
            page.newerCount = .max
            page.consistency = Consistency(rawValue: -1)
            try encoder.append(page: page, posts: posts.span, texts: texts.span, id: 4, revision: 5)
            let list = ListPostsResponse(
                posts: posts.map { FieldsSample.post($0, texts) },
                firstRank: .max,
                totalSize: .max,
                newerCount: .max,
                consistency: Consistency(rawValue: -1)
            )
            #expect(try encoder.bytes() == Self.packed(.listPosts(list)))
        }
        var encoder = FrameEncoder(maximumFrameByteCount: Self.limit)
        try encoder.append(post: widest, texts: texts.span, id: .max, revision: .max)
        #expect(encoder.byteCount <= widest.maximumEncodedByteCount + 4 + 3 * 11)
    }

    /// A page of posts, encoded for the caller or of posts that were encoded once.
    private static func page(
        _ posts: [PostFields],
        _ texts: [UInt8],
        isKept: Bool
    ) throws -> [UInt8] {
        let page = ListPostsFields(firstRank: 1, totalSize: 20)
        var encoder = FrameEncoder(maximumFrameByteCount: limit)
        guard isKept else {
            try encoder.append(page: page, posts: posts.span, texts: texts.span, id: 4, revision: 5)
            return encoder.bytes()
        }
        let viewers = posts.compactMap(\.viewer)
        let shared = posts.map { post in
            var post = post
            post.viewer = nil
            return post
        }
        try encoder.append(
            page: page,
            posts: EncodedPosts(shared.span, texts: texts.span),
            viewers: viewers.span,
            texts: texts.span,
            id: 4,
            revision: 5
        )
        return encoder.bytes()
    }

    @Test func encodedPostsHaveTheSameBytes() throws {
        let widest = FieldsSample.widestNumbers
        var pages = [FieldsSample.posts(count: 20), ([], []), ([widest], [])]
        for byteCount in Self.textByteCounts {
            let (post, texts) = Self.post(textByteCount: byteCount)
            pages.append(([post], texts))
        }
        let viewers = [
            [nil], [Viewer()], [Viewer(), Viewer(vote: .up, isRead: true)], [widest.viewer],
        ]
        for (viewers, (posts, texts)) in viewers.flatMap({ each in pages.map { (each, $0) } }) {
            let viewed = posts.enumerated().map { number, post in
                var post = post
                post.viewer = viewers[number % viewers.count]
                return post
            }
            let bytes = try Self.page(viewed, texts, isKept: false)
            #expect(try Self.page(viewed, texts, isKept: true) == bytes, "\(texts.count)")
        }
    }

    @Test func numbersArePackedAsByProtobufC() throws {
        let (fields, texts) = FieldsSample.posts(count: 3)
        let posts = fields.map { FieldsSample.post($0, texts) }
        for count in [0, 1, 63, 64, 127, 128, 5_000] {
            let ids = (0..<count).map { UInt64.max >> UInt64($0 % 64) }
            var encoder = FrameEncoder()
            try encoder.append(
                batch: fields.span,
                missingIDs: ids,
                texts: texts.span,
                id: 4,
                revision: 5
            )
            let batch = BatchGetPostsResponse(posts: posts, missingIDs: ids)
            #expect(try encoder.bytes() == Self.packed(.batchGetPosts(batch)), "\(count)")

            var event = WatchEventFields()
            event.ranking = ids
            event.removedIDs = ids.reversed()
            event.newPostCount = .max
            event.isReset = count > 0
            encoder.removeAll()
            try encoder.append(
                event: event,
                changed: fields.span,
                texts: texts.span,
                id: 4,
                revision: 5
            )
            let expected = WatchPostsEvent(
                changed: posts,
                ranking: ids,
                removedIDs: ids.reversed(),
                newPostCount: .max,
                isReset: count > 0
            )
            let frame = try Self.packed(.watchPosts(expected), hasMore: true)
            #expect(encoder.bytes() == frame, "\(count)")
        }
    }

    @Test func aPageOverTheLimitIsNotAppended() throws {
        let (fields, texts) = FieldsSample.posts(count: 20)
        let page = ListPostsFields(firstRank: 1, totalSize: 20)
        var encoder = FrameEncoder()
        try encoder.append(page: page, posts: fields.span, texts: texts.span, id: 1, revision: 1)
        let length = encoder.byteCount - 4
        var exact = FrameEncoder(maximumFrameByteCount: length)
        try exact.append(page: page, posts: fields.span, texts: texts.span, id: 1, revision: 1)
        #expect(exact.bytes() == encoder.bytes())
        var narrow = FrameEncoder(maximumFrameByteCount: length - 1)
        #expect(throws: FrameError.tooLarge(length: UInt64(length), limit: length - 1)) {
            try narrow.append(page: page, posts: fields.span, texts: texts.span, id: 1, revision: 1)
        }
        #expect(narrow.byteCount == 0)
    }
}
