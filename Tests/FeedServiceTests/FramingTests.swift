import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// The answer to each broken frame; the ids are those of `docs/SECURITY.md`.
@Suite(.timeLimit(.minutes(10))) struct FramingTests {
    struct BadBytes: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var bytes: [UInt8]

        init(_ testDescription: String, _ bytes: [UInt8]) {
            (self.testDescription, self.bytes) = (testDescription, bytes)
        }
    }

    static let ping = RawMessage().field(1, 1).field(11, RawMessage()).framed

    static let badBytes = [
        BadBytes("T-FRAME-1: length 0", [0, 0, 0, 0]),
        BadBytes("T-FRAME-1: length over the limit", RawMessage.header(1 << 20 + 1)),
        BadBytes("T-FRAME-1: all bits set", [0xff, 0xff, 0xff, 0xff]),
        BadBytes("T-FRAME-1: top bit set", [0x80, 0, 0, 0]),
        BadBytes(
            "T-FRAME-2: a TLS ClientHello",
            [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]
        ),
        BadBytes("T-FRAME-2: an HTTP request", Array("GET / HTTP/1.1\r\n\r\n".utf8)),
        BadBytes("T-FRAME-9: id 0", RawMessage().field(11, RawMessage()).framed),
        BadBytes(
            "T-PB-1: an unterminated varint",
            RawMessage().tag(1, wireType: 0).raw([0xff, 0xff]).framed
        ),
        BadBytes(
            "T-PB-1: a varint of 11 bytes",
            RawMessage().tag(1, wireType: 0)
                .raw([UInt8](repeating: 0xff, count: 10) + [1]).framed
        ),
        BadBytes(
            "T-PB-1: an inner length beyond the frame",
            RawMessage().field(1, 1).tag(11, wireType: 2).raw([100, 1]).framed
        ),
        BadBytes(
            "T-PB-1: field number 0",
            RawMessage().field(1, 1).field(0, 7).field(11, RawMessage()).framed
        ),
        BadBytes("T-PB-1: wire type 3", RawMessage().field(1, 1).tag(99, wireType: 3).framed),
        BadBytes("T-PB-1: wire type 4", RawMessage().field(1, 1).tag(99, wireType: 4).framed),
        BadBytes("T-PB-1: wire type 6", RawMessage().field(1, 1).tag(99, wireType: 6).framed),
        BadBytes("T-PB-1: wire type 7", RawMessage().field(1, 1).tag(99, wireType: 7).framed),
        BadBytes(
            "T-PB-1: a known field of the wrong wire type",
            RawMessage().field(1, [1, 2, 3]).framed
        ),
        BadBytes(
            "T-PB-2: half a million unknown fields",
            RawMessage().field(1, 1)
                .raw((0..<524_000).flatMap { _ in [0x78, 0x01] as [UInt8] }).framed
        ),
    ]

    @Test(arguments: badBytes)
    func refusesWhatIsNoFrameAndCloses(_ bad: BadBytes) async throws {
        try await withService { port in
            let healthy = try WireClient(port: port)
            let post = try healthy.createPost(title: "beside it")
            let client = try WireClient(port: port)
            try client.socket.send(bad.bytes)
            client.socket.shutDownSending()
            let answers = try client.receiveAll()
            #expect(answers.count == 1)
            #expect(answers.first?.id == 0)
            #expect(answers.first?.status?.code == .invalidArgument)
            #expect(answers.first?.status?.reason == .badFrame)
            #expect(try healthy.vote(post).score == 1)
        }
    }

    @Test("T-FRAME-3: takes a frame that comes byte by byte")
    func takesAFrameByteByByte() async throws {
        try await withClient { client in
            for byte in Self.ping { try client.socket.send([byte]) }
            #expect(try client.receive()?.id == 1)
        }
    }

    @Test("T-FRAME-4: closes a connection whose frame comes too slowly")
    func closesOnASlowFrame() async throws {
        try await withService {
            $0.limits.frameTimeout = .milliseconds(50)
        } _: { port in
            let healthy = try WireClient(port: port)
            let client = try WireClient(port: port)
            try client.socket.send(Array(Self.ping.dropLast()))
            #expect(try client.receiveAll().isEmpty)
            // The loop counts at the end of its iteration, and answers a later call after that.
            #expect(try healthy.call(.ping(PingRequest())).status == nil)
            let stats = try healthy.serverStats()
            #expect(stats.slowFrameCount == 1)
        }
    }

    @Test("T-CONN-1: closes a connection that says nothing")
    func closesWhenSilent() async throws {
        try await withClient {
            $0.limits.idleTimeout = .milliseconds(50)
        } _: { client throws in
            #expect(try client.receiveAll().isEmpty)
        }
    }

    @Test("T-FRAME-6: answers thousands of frames in one segment, in order")
    func answersAFloodInOrder() async throws {
        try await withService { port in
            let healthy = try WireClient(port: port)
            let client = try WireClient(port: port)
            let count: UInt64 = 10_000
            let flood = (1...count).flatMap {
                RawMessage().field(1, $0).field(11, RawMessage()).framed
            }
            try client.socket.send(flood)
            #expect(try healthy.call(.ping(PingRequest())).status == nil)
            for id in 1...count { #expect(try client.receive()?.id == id) }
        }
    }

    @Test("T-FRAME-7: answers what came before trailing garbage")
    func answersBeforeGarbage() async throws {
        try await withClient { client in
            try client.socket.send(Self.ping + [UInt8](repeating: 0xee, count: 100))
            let answers = try client.receiveAll()
            #expect(answers.map(\.id) == [1, 0])
            #expect(answers.last?.status?.reason == .badFrame)
        }
    }

    @Test("T-FRAME-8: discards half a frame at the end of file")
    func discardsHalfAFrame() async throws {
        try await withClient { client in
            try client.socket.send(Array(Self.ping.dropLast()))
            client.socket.shutDownSending()
            #expect(try client.receiveAll().isEmpty)
        }
    }

    @Test("T-CONN-2: answers what was asked before a half-close")
    func answersAfterAHalfClose() async throws {
        try await withClient { client in
            for _ in 0..<1000 { try client.send(.ping(PingRequest(payload: [1, 2, 3]))) }
            client.socket.shutDownSending()
            #expect(try client.receiveAll().map(\.id) == Array(1...1000))
        }
    }

    @Test("T-CONN-3: serves others after a reset in the middle of an answer")
    func survivesAReset() async throws {
        try await withService { port in
            let healthy = try WireClient(port: port)
            let post = try healthy.createPost(title: "reset")
            for _ in 0..<50 {
                let client = try WireClient(port: port)
                for _ in 0..<100 { try client.send(.getPost(GetPostRequest(id: post))) }
                client.socket.reset()
            }
            #expect(try healthy.vote(post).score == 1)
        }
    }

    @Test(
        "T-VER-1: refuses another protocol version and keeps the connection",
        arguments: [0, 2, 99]
    )
    func refusesAnotherVersion(_ version: UInt32) async throws {
        try await withClient { client in
            let answer = try client.call(.hello(HelloRequest(protocolVersion: version)))
            #expect(answer.status?.code == .unimplemented)
            #expect(answer.status?.reason == .unsupportedVersion)
            #expect(answer.status?.message.contains("1 to 1") == true)
            #expect(try client.call(.ping(PingRequest())).status == nil)
        }
    }

    @Test("T-FRAME-9: refuses an id that does not rise", arguments: [5, 4, 1])
    func refusesAnIDThatDoesNotRise(_ id: UInt64) async throws {
        try await withClient { client in
            try client.send(ClientFrame(id: 5, request: .ping(PingRequest())))
            try client.send(ClientFrame(id: id, request: .ping(PingRequest())))
            let answers = try client.receiveAll()
            #expect(answers.map(\.id) == [5, 0])
            #expect(answers.last?.status?.reason == .badFrame)
        }
    }
}

/// How many items a batch may hold.
@Suite(.timeLimit(.minutes(10))) struct BatchTests {
    /// A batch of this many items, which may be too many.
    struct Batch: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var request: Request
        var reason: Reason?
    }

    static let batches =
        [0, 1, 256, 257].map { count in
            Batch(
                testDescription: "T-CALL-2: \(count) votes",
                request: .batchCastVotes(
                    BatchCastVotesRequest(
                        votes: Array(
                            repeating: CastVoteRequest(postID: 1, direction: .up),
                            count: count
                        )
                    )
                ),
                reason: count == 0 ? .badField : count > 256 ? .batchTooLarge : nil
            )
        }
        + [0, 1, 100, 101].map { count in
            Batch(
                testDescription: "T-CALL-2: \(count) ids",
                request: .batchGetPosts(
                    BatchGetPostsRequest(ids: [PostID](repeating: 1, count: count))
                ),
                reason: count == 0 ? .badField : count > 100 ? .batchTooLarge : nil
            )
        }

    // No constant: the leak checker does not know an address in an enum that keeps its case in the
    // same word.
    static var imports: [Batch] {
        [0, 1, 256, 257].map { count in
            Batch(
                testDescription: "T-CALL-2: \(count) imported posts",
                request: .importPosts(
                    ImportPostsRequest(posts: [Post](repeating: Post(), count: count))
                ),
                reason: count == 0 ? .badField : count > 256 ? .batchTooLarge : nil
            )
        }
    }

    @Test(arguments: batches + imports)
    func boundsBatches(_ batch: Batch) async throws {
        try await withClient { client in
            let answer = try client.call(batch.request)
            #expect(answer.status?.reason == batch.reason)
        }
    }
}

@Suite struct SessionLifeTests {
    typealias StateMachine = SessionLife

    @Test func executesRisingIDs() {
        var state = StateMachine()
        #expect(state.action(for: 1) == .execute)
        state.answered(1)
        #expect(state.action(for: 7) == .execute)
        state.answered(7)
        #expect(state.lastID == 7)
    }

    @Test(arguments: [0, 1, 6, 7] as [UInt64])
    func refusesIDsThatDoNotRise(_ id: UInt64) {
        var state = StateMachine()
        state.answered(7)
        #expect(state.action(for: id) == .refuse(lastID: 7))
    }

    @Test func refusesID0AtTheStart() {
        #expect(StateMachine().action(for: 0) == .refuse(lastID: 0))
    }

    @Test func goesOnExecutingWhileDraining() {
        var state = StateMachine()
        state.drain()
        #expect(state.isDraining)
        #expect(!state.isClosing)
        #expect(state.action(for: 1) == .execute)
    }

    @Test func ignoresEverythingOnceClosing() {
        var state = StateMachine()
        let isFirst = state.close()
        let isRepeat = !state.close()
        #expect(isFirst)
        #expect(isRepeat)
        #expect(state.isClosing)
        #expect(state.action(for: 1) == .ignore)
        state.drain()
        #expect(!state.isDraining)
    }
}

/// Many connections of one host that ask for much and read nothing: what `scripts/soak.sh attack`
/// does with 10,000 of them.
@Suite(.serialized, .timeLimit(.minutes(10))) struct UnreadAnswerTests {
    private static let attacker: UInt32 = 0x7f00_0001
    private static let healthy: UInt32 = 0x7f00_0002

    private static func attackers(
        _ count: Int,
        _ port: UInt16,
        asking requests: [Request]
    ) throws -> [WireClient] {
        try (0..<count).map { _ in
            let client = try WireClient(port: port, from: attacker, receiveBufferByteCount: 2 << 10)
            for request in requests { try client.send(request) }
            return client
        }
    }

    private static func createPosts(_ count: Int, _ client: WireClient) throws -> [PostID] {
        try (0..<count).map { _ in
            let post = Post(title: "large", text: String(repeating: "x", count: 10_000))
            let answer = try client.call(.createPost(CreatePostRequest(post: post)))
            guard case .post(let created) = answer.response else { throw answer.status ?? noPost }
            return created.id
        }
    }

    private static let noPost = Status(code: .unknown, reason: .internal, message: "No post.")

    @Test("pages that 400 connections do not take stay within the budget and cost no vote")
    func boundsPagesThatNobodyTakes() async throws {
        let budget = BufferBudget(limitByteCount: 8 << 20)
        try await withService {
            $0.budget = budget
        } _: { port in
            let healthy = try WireClient(port: port, from: Self.healthy)
            // 600 KB a page.
            let posts = try Self.createPosts(60, healthy)
            let page = Request.listPosts(ListPostsRequest(order: .old, pageSize: 100))
            let attackers = try Self.attackers(400, port, asking: [page, page, page])
            var most: UInt64 = 0
            for number in 1...400 {
                #expect(try healthy.vote(posts[0]).score == Int64(number))
                guard number.isMultiple(of: 20) else { continue }
                most = max(most, try healthy.serverStats().bufferedByteCount)
                // A host that holds less than its share is read for, too.
                let read = try healthy.call(.getPost(GetPostRequest(id: posts[1])))
                #expect(read.status == nil)
            }
            #expect(most > 1 << 20)
            #expect(most <= 6 << 20)
            #expect(budget.peakByteCount <= 6 << 20)
            withExtendedLifetime(attackers) {}
        }
    }

    @Test("connections that take nothing are closed for the sake of others, and counted")
    func closesThoseThatTakeNothing() async throws {
        let clock = ManualClock()
        let budget = BufferBudget(limitByteCount: 1 << 20)
        try await withService {
            $0.loopClock = clock
            $0.budget = budget
        } _: { port in
            let healthy = try WireClient(port: port, from: Self.healthy)
            let post = try Self.createPosts(1, healthy)[0]
            let read = Request.getPost(GetPostRequest(id: post))
            // 60 KB each, of which the kernel takes 32.
            let attackers = try Self.attackers(
                40,
                port,
                asking: [read, read, read, read, read, read]
            )
            while budget.connectionByteCount <= 384 << 10 {}
            // The bytes that the kernels pass on by themselves are progress, which ends: then
            // connections are closed.
            repeat {
                clock.advance(by: .milliseconds(500))
                #expect(try healthy.call(.ping(PingRequest())).status == nil)
            } while budget.connectionByteCount > 384 << 10
            #expect(try healthy.serverStats().overBudgetCloseCount > 0)
            #expect(try healthy.vote(post).score == 1)
            #expect(try healthy.call(read).status == nil)
            withExtendedLifetime(attackers) {}
        }
    }
}
