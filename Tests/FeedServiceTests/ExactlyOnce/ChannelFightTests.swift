import Dispatch
import FeedProto
import FeedService
import FeedTestSupport
import Testing

/// Connections on several loops that take one channel from each other all the time.
@Suite(.timeLimit(.minutes(10)))
struct ChannelFightTests {
    static let fighterCount = 3
    static let voteCount: UInt64 = 20_000

    /// Vote number s has the sequence s on every connection, so each vote is executed once in all.
    @Test func everyVoteCountsOnce() async throws {
        try await withService(threads: 2) { port in
            let observer = try WireClient(port: port)
            let id = try observer.createPost(title: "a")
            let failures = Locked<[String]>([])
            DispatchQueue.concurrentPerform(iterations: Self.fighterCount) { _ in
                do { try Self.fight(port, for: id) } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
            #expect(failures.withLock { $0 } == [])
            #expect(try observer.vote(id).upvoteCount == Self.voteCount + 1)
        }
    }

    /// Takes the channel over and continues after its last vote, until all votes are cast.
    private static func fight(_ port: UInt16, for id: UInt64) throws {
        let client = try WireClient(port: port)
        while true {
            let last = try ExactlyOnceTests.helloed(client).lastSequence
            guard last < voteCount else { return }
            // The last ones once more: the connection that cast them may not have their answers.
            let first = last < 10 ? 1 : last - 9
            let sequences = first...min(voteCount, last + 200)
            var bytes: [UInt8] = []
            for sequence in sequences {
                bytes += try ClientFrame(
                    id: client.nextID(),
                    request: ExactlyOnceTests.vote(id),
                    sequence: sequence
                ).encoded()
            }
            try client.socket.send(bytes)
            var isFenced = false
            for _ in sequences {
                let status = try #require(try client.receive()).status
                // Once fenced, a connection stays so.
                guard let status else {
                    #expect(!isFenced)
                    continue
                }
                #expect(status.reason == .channelFenced)
                isFenced = true
            }
        }
    }
}
