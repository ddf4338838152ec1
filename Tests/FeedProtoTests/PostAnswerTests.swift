import FeedProto
import FeedTestSupport
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
                var fields = PostFields(id: PostID(rawValue: number))
                fields.authorID = UserID(rawValue: number)
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
            let ids = (0..<count).map { PostID(rawValue: .max >> UInt64($0 % 64)) }
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

/// The way of calls for pages past protobuf-c: it may leave a call to it, and never reads another call.
@Suite struct PageCallScanTests {
    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func scansEveryPlainCall(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<4000 {
            let frame = plainCall(&random)
            let body = try Array(frame.encoded().dropFirst(FrameHeader.byteCount))
            #expect(scan(body) == frame, "seed \(seed): \(frame)")
        }
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func neverReadsAnotherCallThanTheDecoder(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var mutation = WireMutation(seed: seed)
        var decoder = MessageDecoder()
        var scannedCount = 0
        var leftCount = 0
        for _ in 0..<20_000 {
            let frame = plainCall(&random)
            var body = try Array(frame.encoded().dropFirst(FrameHeader.byteCount))
            if random.oneIn(2) { body = mutation.mutate(body) }
            if random.oneIn(4), let place = body.indices.randomElement(using: &random) {
                body[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
            guard let scanned = scan(body) else {
                leftCount += 1
                continue
            }
            scannedCount += 1
            let decoded = try? decoder.decodeClientFrame(body)
            #expect(decoded == scanned, "seed \(seed): \(body)")
        }
        #expect(scannedCount > 5000 && leftCount > 2000, "Both outcomes are tried; seed \(seed).")
    }

    @Test(arguments: unusual)
    func leavesToTheDecoder(name: String, frame: ClientFrame) throws {
        let body = try Array(frame.encoded().dropFirst(FrameHeader.byteCount))
        #expect(scan(body) == nil, "\(name)")
        var decoder = MessageDecoder()
        #expect(try unsafe decoder.decodeCall(body.span.bytes).frame == frame, "\(name)")
    }

    private static let unusual: [(String, ClientFrame)] = [
        ("no id", ClientFrame(id: 0, request: .listPosts(ListPostsRequest()))),
        ("a sequence", ClientFrame(id: 1, request: .listPosts(ListPostsRequest()), sequence: 1)),
        ("times", ClientFrame(id: 1, request: .listPosts(ListPostsRequest()), isTimed: true)),
        ("a rank", ClientFrame(id: 1, request: .listPosts(ListPostsRequest(start: .rank(3))))),
        ("an author", ClientFrame(id: 1, request: .listPosts(ListPostsRequest(authorID: 3)))),
        ("unread", ClientFrame(id: 1, request: .listPosts(ListPostsRequest(unreadOnly: true)))),
        ("not ASCII", ClientFrame(id: 1, request: .listPosts(ListPostsRequest(feed: "größe")))),
        ("a size below 0", ClientFrame(id: 1, request: .listPosts(ListPostsRequest(pageSize: -1)))),
        ("another call", ClientFrame(id: 1, request: .getPost(GetPostRequest(id: 3)))),
    ]

    private func scan(_ body: [UInt8]) -> ClientFrame? {
        unsafe ClientFrame(scanningPage: body.span.bytes)
    }

    /// A call with some of the fields that a scan reads.
    private func plainCall(_ random: inout SeededGenerator) -> ClientFrame {
        let feeds = ["", "posts", "a-feed-with-a-long-name"]
        var call = ListPostsRequest(feed: feeds.randomElement(using: &random) ?? "")
        if random.oneIn(2) { call.order = Order(rawValue: .random(in: 0...300, using: &random)) }
        if random.oneIn(2) { call.window = Window(rawValue: .random(in: 0...7, using: &random)) }
        if random.oneIn(2) { call.pageSize = .random(in: 0 ... .max, using: &random) }
        if random.oneIn(2) {
            let count = Int.random(in: 0...127, using: &random)
            call.pageToken = (0..<count).map { _ in .random(in: .min ... .max, using: &random) }
        }
        if random.oneIn(2) { call.consistency = random.oneIn(2) ? .stable : .live }
        var frame = ClientFrame(id: max(1, .anyWidth(using: &random)), request: .listPosts(call))
        if random.oneIn(2) { frame.timeoutMilliseconds = .random(in: 0 ... .max, using: &random) }
        if random.oneIn(2) { frame.minimumRevision = .anyWidth(using: &random) }
        if random.oneIn(2) { frame.actingUserID = .anyWidth(using: &random) }
        return frame
    }
}

@Suite struct WatchEventTests {
    private static func decode(_ encoder: borrowing FrameEncoder) throws -> [ServerFrame] {
        var frames = FrameDecoder(maximumFrameByteCount: 1 << 20)
        var decoder = MessageDecoder(maximumFrameByteCount: 1 << 20)
        frames.append(encoder.bytes())
        var found: [ServerFrame] = []
        while let body = try frames.nextBody() { found.append(try decoder.decodeServerFrame(body)) }
        return found
    }

    @Test(arguments: [1, 127, 128, 1 << 40, .max] as [UInt64])
    func anEventIsEncodedOnceAndCopiedBehindEachID(id: UInt64) throws {
        let texts = Array("poststitle".utf8)
        var whole = PostFields(id: 4)
        whole.feed = TextRange(offset: 0, byteCount: 5)
        whole.title = TextRange(offset: 5, byteCount: 5)
        whole.score = -2
        whole.downvoteCount = 2
        var numbers = PostFields(id: 9)
        numbers.score = 3
        numbers.viewer = Viewer(vote: .up)
        var event = WatchEventFields()
        event.ranking = [9, 4]
        event.removedIDs = [7]
        event.newPostCount = 2
        event.isReset = true
        let posts = [whole, numbers]
        var encoder = FrameEncoder()
        try encoder.append(
            event: event,
            changed: posts.span,
            texts: texts.span,
            id: 0,
            revision: 12
        )
        let rest = encoder.takeBytesBehindID()
        #expect(encoder.byteCount == 0)
        try encoder.append(behindID: rest, id: id)
        try encoder.append(behindID: rest, id: 1)
        let expected = WatchPostsEvent(
            changed: [
                Post(id: 4, feed: "posts", title: "title", score: -2, downvoteCount: 2),
                Post(id: 9, score: 3, viewer: Viewer(vote: .up)),
            ],
            ranking: [9, 4],
            removedIDs: [7],
            newPostCount: 2,
            isReset: true
        )
        let answers = [id, 1].map {
            ServerFrame(id: $0, revision: 12, response: .watchPosts(expected), hasMore: true)
        }
        #expect(try encoder.bytes() == answers.flatMap { try $0.encoded() })
        let frames = try Self.decode(encoder)
        #expect(frames.map(\.id) == [id, 1])
        for frame in frames {
            #expect(frame.response == .watchPosts(expected))
            #expect(frame.hasMore && frame.revision == 12 && frame.status == nil)
        }
    }

    @Test func anEventOverTheLimitIsNotAppended() throws {
        var encoder = FrameEncoder(maximumFrameByteCount: 100)
        #expect(throws: FrameError.self) {
            try encoder.append(behindID: [UInt8](repeating: 0, count: 99), id: 1)
        }
        #expect(encoder.byteCount == 0)
    }
}
