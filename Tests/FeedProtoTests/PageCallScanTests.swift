import FeedProto
import FeedTestSupport
import Testing

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
        var frame = ClientFrame(
            id: max(1, .anyWidth(using: &random)),
            request: .listPosts(call)
        )
        if random.oneIn(2) { frame.timeoutMilliseconds = .random(in: 0 ... .max, using: &random) }
        if random.oneIn(2) { frame.minimumRevision = .anyWidth(using: &random) }
        if random.oneIn(2) { frame.actingUserID = .anyWidth(using: &random) }
        return frame
    }
}
