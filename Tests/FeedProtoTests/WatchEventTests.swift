import FeedProto
import Testing

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
