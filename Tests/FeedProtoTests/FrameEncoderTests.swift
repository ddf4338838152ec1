import FeedProto
import FeedTestSupport
import Testing

@Suite struct FrameEncoderTests {
    @Test func appendsFramesOneAfterAnother() throws {
        var encoder = FrameEncoder()
        try encoder.append(ClientFrame(id: 1, request: .listFeeds))
        try encoder.append(ClientFrame(id: 2, request: .castVote(.init(postID: 3, direction: .up))))
        let bytes = encoder.bytes()
        #expect(
            bytes == Wire.framed([8, 1, 0x92, 0x03, 0])
                + Wire.framed([8, 2, 0xC2, 0x02, 4, 8, 3, 16, 1])
        )
        #expect(encoder.byteCount == bytes.count)
        encoder.removeAll()
        #expect(encoder.byteCount == 0)
        #expect(encoder.bytes().isEmpty)
    }

    @Test func encodesVoteLikeItsFrame() throws {
        for vote in [
            Samples.voted, CastVoteResponse(postID: 1, score: 2, upvoteCount: 3, downvoteCount: 1),
        ] {
            var encoder = FrameEncoder()
            try encoder.append(vote: vote, id: .max, revision: 300)
            let frame = ServerFrame(id: .max, revision: 300, response: .castVote(vote))
            #expect(try encoder.bytes() == frame.encoded())
        }
    }

    @Test(arguments: [0, 1, 2, 20, 100, 2000])
    func encodesFieldsLikePosts(count: Int) throws {
        let (fields, texts) = FieldsSample.posts(count: count)
        let posts = fields.map { FieldsSample.post($0, texts) }

        var encoder = FrameEncoder()
        var page = ListPostsFields(firstRank: 21, totalSize: 1000)
        if count > 0 {
            page.nextPageToken = TextRange(offset: 1, byteCount: 20)
            page.previousPageToken = TextRange(offset: 30, byteCount: 5)
            page.refreshToken = TextRange(offset: 40, byteCount: 7)
        }
        page.newerCount = 3
        page.consistency = .live
        try encoder.append(page: page, posts: fields.span, texts: texts.span, id: 4, revision: 5)
        let response = ListPostsResponse(
            posts: posts,
            nextPageToken: count > 0 ? Array(texts[1..<21]) : [],
            previousPageToken: count > 0 ? Array(texts[30..<35]) : [],
            refreshToken: count > 0 ? Array(texts[40..<47]) : [],
            firstRank: 21,
            totalSize: 1000,
            newerCount: 3,
            consistency: .live
        )
        let frame = ServerFrame(id: 4, revision: 5, response: .listPosts(response))
        #expect(try encoder.bytes() == frame.encoded())

        encoder.removeAll()
        try encoder.append(
            batch: fields.span,
            missingIDs: [9, 8],
            texts: texts.span,
            id: 4,
            revision: 5
        )
        let batch = BatchGetPostsResponse(posts: posts, missingIDs: [9, 8])
        let batchFrame = ServerFrame(id: 4, revision: 5, response: .batchGetPosts(batch))
        #expect(try encoder.bytes() == batchFrame.encoded())

        encoder.removeAll()
        var changes = SyncPostsFields(nextRevision: .max, instanceID: 7)
        changes.hasMore = true
        changes.isReset = true
        changes.copyRevision = 8
        changes.marks = MarkChanges(
            next: MarkPosition(revision: 300, copyRevision: .max),
            isReset: true,
            through: [
                MarkedThrough(feed: "posts", mark: .read, createTimeMilliseconds: -1, postID: 7),
                MarkedThrough(feed: "", mark: .restored, createTimeMilliseconds: 0, postID: .max),
            ],
            posts: [
                MarkedPost(id: 1, isRead: true, isDismissed: false),
                MarkedPost(id: .max, isRead: false, isDismissed: true),
            ]
        )
        try encoder.append(
            changes: changes,
            posts: fields.span,
            texts: texts.span,
            id: 4,
            revision: 5
        )
        let sync = SyncPostsResponse(
            posts: posts,
            nextRevision: .max,
            hasMore: true,
            isReset: true,
            copyRevision: 8,
            instanceID: 7,
            marks: changes.marks
        )
        let syncFrame = ServerFrame(id: 4, revision: 5, response: .syncPosts(sync))
        #expect(try encoder.bytes() == syncFrame.encoded())

        for (field, post) in zip(fields.prefix(20), posts) {
            encoder.removeAll()
            try encoder.append(post: field, texts: texts.span, id: 4, revision: 5)
            let frame = ServerFrame(id: 4, revision: 5, response: .post(post))
            #expect(try encoder.bytes() == frame.encoded())
        }
    }

    @Test func appendsNothingOverTheLimit() throws {
        let post = ClientFrame(
            id: 1,
            request: .createPost(
                CreatePostRequest(post: Post(title: String(repeating: "a", count: 50)))
            )
        )
        let length = try post.encoded().count - 4
        var encoder = FrameEncoder(maximumFrameByteCount: length - 1)
        try encoder.append(ClientFrame(id: 1, request: .listFeeds))
        let before = encoder.bytes()
        #expect(throws: FrameError.tooLarge(length: UInt64(length), limit: length - 1)) {
            try encoder.append(post)
        }
        #expect(encoder.bytes() == before)
        var roomier = FrameEncoder(maximumFrameByteCount: length)
        try roomier.append(post)
        #expect(roomier.byteCount == length + 4)
    }

    @Test func measuresLongFrames() throws {
        let text = String(repeating: "a", count: 2 << 20)
        let frame = ClientFrame(id: 1, request: .createPost(.init(post: Post(text: text))))
        var encoder = FrameEncoder()
        #expect(throws: FrameError.tooLarge(length: 2_097_170, limit: 1_048_576)) {
            try encoder.append(frame)
        }
        #expect(encoder.byteCount == 0)
        var roomier = FrameEncoder(maximumFrameByteCount: 16 << 20)
        try roomier.append(frame)
        #expect(roomier.byteCount == 2_097_174)
    }

    /// Numbers that take the most bytes stay within the bound that a frame is packed under.
    @Test(arguments: [1, 100, 5000, 10_000, 50_000])
    func packsWidestNumbers(count: Int) throws {
        let frames = [
            Request.updatePost(
                UpdatePostRequest(
                    post: Post(viewer: Viewer(vote: VoteDirection(rawValue: -1))),
                    updateMask: Array(repeating: PostField(rawValue: -1), count: count)
                )
            ),
            .batchGetPosts(BatchGetPostsRequest(ids: Array(repeating: .max, count: count))),
            .batchCastVotes(
                BatchCastVotesRequest(votes: Array(repeating: Samples.votes[1], count: count))
            ),
        ].map { ClientFrame(id: .max, request: $0) }
        var encoder = FrameEncoder(maximumFrameByteCount: 16 << 20)
        var decoder = MessageDecoder(maximumFrameByteCount: 16 << 20)
        for frame in frames {
            encoder.removeAll()
            try encoder.append(frame)
            let decoded = try decoder.decodeClientFrame(Array(encoder.bytes().dropFirst(4)))
            #expect(decoded == frame)
        }
    }

    @Test func refusesFrameWithoutBytes() {
        var encoder = FrameEncoder()
        #expect(throws: FrameError.empty) { try encoder.append(ClientFrame(id: 0, request: nil)) }
        #expect(encoder.byteCount == 0)
    }

    /// A page can end where the next post might not fit.
    @Test func boundsEncodedPosts() throws {
        let (fields, texts) = FieldsSample.posts(count: 100)
        var encoder = FrameEncoder()
        try encoder.append(
            page: ListPostsFields(firstRank: 0, totalSize: 0),
            posts: fields.span,
            texts: texts.span,
            id: 1,
            revision: 0
        )
        let bound = fields.reduce(0) { $0 + $1.maximumEncodedByteCount }
        #expect(encoder.byteCount <= bound)

        let widest = FieldsSample.widestNumbers
        encoder.removeAll()
        try encoder.append(post: widest, texts: [UInt8]().span, id: 1, revision: 0)
        #expect(encoder.byteCount <= widest.maximumEncodedByteCount)
    }

    @Test func refusesTextOutsideOfTexts() async {
        await #expect(processExitsWith: .failure) {
            var encoder = FrameEncoder()
            var post = PostFields(id: 1)
            post.title = TextRange(offset: 3, byteCount: 2)
            try encoder.append(post: post, texts: [1, 2, 3, 4].span, id: 1, revision: 1)
        }
    }
}

/// Encoded frames are decoded to equal frames, in any chunks.
@Suite struct RoundTripTests {
    @Test(arguments: Samples.clientFrames.indices)
    func keepsEveryCall(index: Int) throws {
        let frame = Samples.clientFrames[index]
        let bytes = try frame.encoded()
        for chunks in Self.chunkings(bytes) {
            var decoder = MessageDecoder()
            let body = try #require(try Self.body(chunks))
            let decoded = try decoder.decodeClientFrame(body)
            #expect(decoded == frame)
        }
    }

    @Test(arguments: Samples.serverFrames.indices)
    func keepsEveryAnswer(index: Int) throws {
        let frame = Samples.serverFrames[index]
        let bytes = try frame.encoded()
        for chunks in Self.chunkings(bytes) {
            var decoder = MessageDecoder()
            let body = try #require(try Self.body(chunks))
            let decoded = try decoder.decodeServerFrame(body)
            #expect(decoded == frame)
        }
    }

    @Test func oneDecoderServesAllFrames() throws {
        var decoder = MessageDecoder()
        for _ in 0..<3 {
            for frame in Samples.clientFrames {
                let decoded = try decoder.decodeClientFrame(Array(frame.encoded().dropFirst(4)))
                #expect(decoded == frame)
            }
            for frame in Samples.serverFrames {
                let decoded = try decoder.decodeServerFrame(Array(frame.encoded().dropFirst(4)))
                #expect(decoded == frame)
            }
        }
    }

    @Test func samplesCoverEveryCall() {
        let names = Set(
            Samples.requests.map { Mirror(reflecting: $0).children.first?.label ?? "-" }
        )
        // Five calls have no payload and therefore no label.
        #expect(names.count == 34)
    }

    /// Whole, byte by byte, and in two chunks split at up to 200 places.
    private static func chunkings(_ bytes: [UInt8]) -> [[ArraySlice<UInt8>]] {
        let step = max(1, bytes.count / 200)
        return [[bytes[...]], bytes.indices.map { bytes[$0...$0] }]
            + stride(from: 0, to: bytes.count, by: step).map { [bytes[..<$0], bytes[$0...]] }
    }

    private static func body(_ chunks: [ArraySlice<UInt8>]) throws -> [UInt8]? {
        var frames = FrameDecoder()
        for chunk in chunks { frames.append(chunk) }
        return try frames.nextBody()
    }
}

/// What version 0.1 has sent means today what it meant then.
@Suite struct GoldenFrameTests {
    @Test("T-VER-4: old requests are understood", arguments: GoldenFrames.requests.indices)
    func understandsRequests(index: Int) throws {
        let golden = GoldenFrames.requests[index]
        let bytes = try #require(try GoldenFrames.bytes("0.1/requests.txt")[golden.name])
        var decoder = MessageDecoder()
        let frame = try decoder.decodeClientFrame(try Self.body(bytes))
        #expect(frame == golden.frame)
    }

    @Test("T-VER-4: old answers are understood", arguments: GoldenFrames.answers.indices)
    func understandsAnswers(index: Int) throws {
        let golden = GoldenFrames.answers[index]
        let bytes = try #require(try GoldenFrames.bytes("0.1/answers.txt")[golden.name])
        var decoder = MessageDecoder()
        let frame = try decoder.decodeServerFrame(try Self.body(bytes))
        #expect(frame == golden.frame)
    }

    @Test func everyFrameOfTheFilesIsCompared() throws {
        let requests = try GoldenFrames.bytes("0.1/requests.txt")
        #expect(Set(requests.keys) == Set(GoldenFrames.requests.map(\.name)))
        let answers = try GoldenFrames.bytes("0.1/answers.txt")
        #expect(Set(answers.keys) == Set(GoldenFrames.answers.map(\.name)))
    }

    /// The one frame that the bytes are, without its header.
    private static func body(_ bytes: [UInt8]) throws -> [UInt8] {
        var frames = FrameDecoder()
        frames.append(bytes[...])
        let body = try #require(try frames.nextBody())
        #expect(body.count + 4 == bytes.count)
        return body
    }
}
