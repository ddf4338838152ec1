import FeedProto
import FeedService
import FeedTestSupport
import Testing

/// Clients that lose their connections and answers, against a model that counts logical calls.
@Suite(.timeLimit(.minutes(10)))
struct LossyClientTests {
    static let postCount = 8

    /// The counts that the posts should have, and those that they have.
    struct Counts: Equatable {
        var ups: [UInt64]
        var downs: [UInt64]
    }

    @Test(arguments: TestEnvironment.seeds(1...8))
    func countsEveryCallOnce(seed: UInt64) async throws {
        let (model, real) = try await Self.run(seed: seed)
        #expect(model == real, "seed \(seed)")
    }

    /// The check sees calls that are executed again: those of a client that gives them new numbers.
    @Test(arguments: TestEnvironment.seeds(1...8))
    func seesCallsThatAreExecutedAgain(seed: UInt64) async throws {
        let (model, real) = try await Self.run(seed: seed, renumbers: true)
        #expect(model != real, "seed \(seed)")
    }

    /// A client makes calls, loses some connections with all answers that are on their way, and
    /// sends the unanswered calls again, in any order.
    private static func run(
        seed: UInt64,
        renumbers: Bool = false
    ) async throws -> (model: Counts, real: Counts) {
        let result = Locked<(Counts, Counts)?>(nil)
        try await withService(threads: 2) { port in
            var client = try LossyClient(
                port: port,
                seed: seed,
                postCount: postCount,
                renumbers: renumbers
            )
            for _ in 0..<60 { try client.takeTurn() }
            try client.finish()
            let counts = (client.model, try client.realCounts())
            result.withLock { $0 = counts }
        }
        return try #require(result.withLock { $0 })
    }
}

/// One client on one channel, with the counts that its calls should give.
private struct LossyClient {
    private let port: UInt16
    private let posts: [UInt64]
    private let renumbers: Bool
    private var random: SeededGenerator
    private var connection: WireClient
    private var lastSequence: UInt64 = 0
    private var unanswered: [UInt64: Request] = [:]
    private(set) var model: LossyClientTests.Counts

    init(port: UInt16, seed: UInt64, postCount: Int, renumbers: Bool) throws {
        self.port = port
        self.renumbers = renumbers
        random = SeededGenerator(seed: seed)
        connection = try ExactlyOnceTests.connect(port)
        var posts: [UInt64] = []
        for number in 0..<postCount {
            posts.append(try connection.createPost(title: "\(number)"))
        }
        self.posts = posts
        let zeros = [UInt64](repeating: 0, count: postCount)
        model = LossyClientTests.Counts(ups: zeros, downs: zeros)
    }

    /// Sends new calls and old ones, and reads some answers or loses the connection.
    mutating func takeTurn() throws {
        for _ in 0..<Int.random(in: 0...40, using: &random) {
            guard lastSequence + 1 < (unanswered.keys.min() ?? .max - 256) + 256 else { break }
            lastSequence += 1
            unanswered[lastSequence] = newCall()
        }
        var sequences = unanswered.keys.sorted()
        if Bool.random(using: &random) { sequences.shuffle(using: &random) }
        let sent = Array(sequences.prefix(.random(in: 0...sequences.count, using: &random)))
        try send(sent)
        if Int.random(in: 0..<3, using: &random) == 0 {
            // Some were executed before this is noticed, some not: fenced by the next Hello.
            let old = connection
            connection = try ExactlyOnceTests.connect(port)
            if Bool.random(using: &random) { old.socket.close() }
            if renumbers { renumber() }
        } else {
            try receive(sent)
        }
    }

    /// Gives all unanswered calls new numbers.
    private mutating func renumber() {
        let calls = unanswered.sorted { $0.key < $1.key }.map(\.value)
        unanswered = [:]
        for call in calls {
            lastSequence += 1
            unanswered[lastSequence] = call
        }
    }

    /// Sends the unanswered calls until all are answered.
    mutating func finish() throws {
        let rest = unanswered.keys.sorted()
        try send(rest)
        try receive(rest)
        #expect(unanswered.isEmpty)
    }

    /// The counts that the service has.
    func realCounts() throws -> LossyClientTests.Counts {
        var counts = model
        for (place, id) in posts.enumerated() {
            let post = try ExactlyOnceTests.post(
                connection.call(.getPost(GetPostRequest(id: id)))
            )
            counts.ups[place] = post.upvoteCount
            counts.downs[place] = post.downvoteCount
        }
        return counts
    }

    private mutating func newCall() -> Request {
        guard Int.random(in: 0..<10, using: &random) == 0 else {
            return .castVote(newVote())
        }
        let votes = (0..<Int.random(in: 1...20, using: &random)).map { _ in newVote() }
        return .batchCastVotes(BatchCastVotesRequest(votes: votes))
    }

    private mutating func newVote() -> CastVoteRequest {
        let place = Int.random(in: 0..<posts.count, using: &random)
        let isUp = Bool.random(using: &random)
        if isUp { model.ups[place] += 1 } else { model.downs[place] += 1 }
        return CastVoteRequest(postID: posts[place], direction: isUp ? .up : .down)
    }

    private func send(_ sequences: [UInt64]) throws {
        var bytes: [UInt8] = []
        for sequence in sequences {
            let frame = ClientFrame(
                id: connection.nextID(),
                request: unanswered[sequence],
                sequence: sequence
            )
            bytes += try frame.encoded()
        }
        try connection.socket.send(bytes)
    }

    private mutating func receive(_ sequences: [UInt64]) throws {
        for sequence in sequences {
            let answer = try #require(try connection.receive())
            #expect(answer.status == nil)
            unanswered[sequence] = nil
        }
    }
}
