import FeedDiskFaults
import FeedJournal
import FeedProto
import FeedService
import FeedState
import FeedTestSupport
import Foundation
import Testing

/// A disk whose journal is quick and on which `state.db` stands still.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct SlowCheckpointTests {
    private static func withGate(
        timeOfDay: (@Sendable () -> Int64)? = nil,
        _ body: @escaping @Sendable (UInt16, SyncGate) throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let gate = SyncGate()
        try await withService {
            var state = StateOptions(path: directory.path, logCount: $0.threadCount)
            state.databaseFileSystem = gate.name
            state.checkpointByteCount = 1 << 20
            state.journal.segmentByteCount = 4 << 20
            state.journal.space.ballastByteCount = 1 << 20
            $0.state = state
            if let timeOfDay { $0.timeOfDay = timeOfDay }
        } _: { port in
            // However it ends, the service can end.
            defer { gate.open() }
            try body(port, gate)
        }
    }

    /// Imports large texts until one import is refused; gives the refusal, and how many were taken.
    private static func fill(_ client: WireClient) throws -> (refusal: Status, taken: Int) {
        let text = String(repeating: "x", count: 9_000)
        let posts = [Post](repeating: Post(title: "import", text: text), count: 100)
        var taken = 0
        while true {
            let answer = try client.call(.importPosts(ImportPostsRequest(posts: posts)))
            guard let status = answer.status else {
                taken += 1
                continue
            }
            return (status, taken)
        }
    }

    private static func journal(_ client: WireClient) throws -> JournalStats {
        try #require(try OverloadTests.stats(client).journal)
    }

    @Test("a checkpoint that stands still holds up no read or Ping; changes are refused in time")
    func answersWhileCheckpointingStandsStill() async throws {
        try await Self.withGate { port, gate in
            let voter = try WireClient(port: port)
            _ = try voter.call(
                .hello(HelloRequest(clientID: [UInt8](repeating: 7, count: 16), channel: 1))
            )
            let id = try voter.createPost(title: "a")
            let vote = Request.castVote(CastVoteRequest(postID: id, direction: .up))
            #expect(try voter.call(vote, sequence: 1).status == nil)
            gate.close()
            let (refusal, taken) = try Self.fill(try WireClient(port: port))
            // Not before half of five megabytes, and not after all of them.
            #expect((2...6).contains(taken))
            #expect(refusal.code == .resourceExhausted)
            #expect(refusal.reason == .overloaded)
            #expect(refusal.isNotExecuted)
            #expect((50...1_000).contains(refusal.retryAfterMilliseconds))
            #expect(refusal.message.contains("state database"))
            let newcomer = try WireClient(port: port)
            #expect(try newcomer.call(.ping(PingRequest())).status == nil)
            #expect(try newcomer.call(.getPost(GetPostRequest(id: id))).status == nil)
            // A repeat changes nothing, and is answered with its recorded outcome.
            let repeated = try voter.call(vote, sequence: 1)
            guard case .castVote(let counts) = repeated.response else {
                Issue.record("\(repeated)")
                return
            }
            #expect(counts.upvoteCount == 1)
            var stats = try Self.journal(newcomer).checkpoints
            // The checkpoint thread stands back, so it may not have begun yet.
            while stats.underWayMicroseconds == 0 {
                stats = try Self.journal(newcomer).checkpoints
            }
            #expect(stats.backlogByteCount >= stats.backlogLimitByteCount / 2)
            #expect(stats.backlogLimitByteCount == 5 << 20)
            #expect(stats.refusedCount >= 1)
        }
    }

    @Test("a change that the clock refuses is not counted as refused by checkpoints")
    func countsRefusalsByTheirCause() async throws {
        let jump = Locked<Int64>(0)
        let timeOfDay: @Sendable () -> Int64 = {
            Int64(Date.now.timeIntervalSince1970 * 1000) + jump.withLock { $0 }
        }
        try await Self.withGate(timeOfDay: timeOfDay) { port, gate in
            let client = try WireClient(port: port)
            let id = try client.createPost(title: "a")
            let vote = Request.castVote(CastVoteRequest(postID: id, direction: .up))
            gate.close()
            var stats = try Self.journal(client).checkpoints
            while stats.backlogByteCount < stats.backlogLimitByteCount {
                _ = try Self.fill(client)
                stats = try Self.journal(client).checkpoints
            }
            // No change is taken any more, and each refusal is counted.
            #expect(try client.call(vote).status?.reason == .overloaded)
            let counted = try Self.journal(client).checkpoints.refusedCount
            #expect(try client.call(vote).status?.reason == .overloaded)
            #expect(try Self.journal(client).checkpoints.refusedCount == counted + 1)
            // A Hello for a new channel is no change; the change that opens it late is one.
            let newcomer = try WireClient(port: port)
            let hello = try MissingChannelTests.Support.helloed(newcomer)
            #expect(hello.channelStatus?.reason == .overloaded)
            #expect(try Self.journal(client).checkpoints.refusedCount == counted + 1)
            #expect(try newcomer.call(vote, sequence: 1).status?.reason == .overloaded)
            #expect(try Self.journal(client).checkpoints.refusedCount == counted + 2)
            jump.withLock { $0 = 3_600_000 }
            let create = Request.createPost(CreatePostRequest(post: Post(title: "b")))
            #expect(try client.call(create).status?.reason == .clockJumped)
            for _ in 0..<10 {
                #expect(try client.call(vote).status?.reason == .clockJumped)
            }
            #expect(try Self.journal(client).checkpoints.refusedCount == counted + 2)
        }
    }

    @Test("votes are slowed and then refused while checkpointing stands still, each is answered")
    func answersEveryVote() async throws {
        try await Self.withGate { port, gate in
            let voter = try WireClient(port: port)
            let id = try voter.createPost(title: "a")
            gate.close()
            _ = try Self.fill(try WireClient(port: port))
            let vote = Request.castVote(CastVoteRequest(postID: id, direction: .up))
            var counted: UInt64 = 0
            for _ in 0..<20 {
                for _ in 0..<64 { try voter.send(vote) }
                for _ in 0..<64 {
                    let answer = try #require(try voter.receive())
                    guard let status = answer.status else {
                        counted += 1
                        continue
                    }
                    #expect(status.reason == .overloaded && status.isNotExecuted)
                    #expect(status.retryAfterMilliseconds >= 50)
                }
            }
            gate.open()
            // Once there is room all are taken again, those that were refused were not counted.
            while true {
                let answer = try voter.call(vote)
                guard case .castVote(let counts) = answer.response else { continue }
                #expect(counts.upvoteCount == counted + 1)
                break
            }
            while try Self.journal(voter).checkpoints.backlogByteCount > 1 << 20 {}
            for _ in 0..<64 { #expect(try voter.call(vote).status == nil) }
        }
    }

    @Test("segments are given back while the rest of a long backlog waits")
    func forgetsSegmentsDuringALongBacklog() async throws {
        try await Self.withGate { port, gate in
            let client = try WireClient(port: port)
            _ = try client.createPost(title: "a")
            gate.close()
            _ = try Self.fill(client)
            let before = try Self.journal(client)
            while true {
                gate.letOneThrough()
                gate.awaitSync()
                let stats = try Self.journal(client)
                guard stats.checkpointedPosition > before.checkpointedPosition else { continue }
                #expect(stats.checkpointedPosition < stats.durablePosition)
                #expect(stats.checkpoints.backlogByteCount > 0)
                break
            }
        }
    }
}
