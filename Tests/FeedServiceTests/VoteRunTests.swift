import FeedProto
import FeedTestSupport
import Testing

/// Votes that arrive together take the fast path, which gives the same answers as the path of all
/// calls.
@Suite(.timeLimit(.minutes(10)))
struct VoteRunTests {
    private static let postCount = 20

    /// Each vote is sent plain to one service, and with an unknown field to another, which keeps it
    /// from the fast path.
    @Test(arguments: 1...6 as ClosedRange<UInt64>, [true, false])
    func answersAsThePathOfAllCalls(seed: UInt64, isKnown: Bool) async throws {
        let calls = Self.calls(seed: seed)
        let plain = try calls.flatMap { try $0.encoded() }
        let marked = try calls.flatMap { try Self.marked($0.encoded()) }
        let fast = try await Self.answers(to: plain, isKnown: isKnown)
        let general = try await Self.answers(to: marked, isKnown: isKnown)
        #expect(fast == general, "seed \(seed)")
        // Each call before the one whose id does not rise, and that one.
        #expect(fast.count == calls.count - 20, "seed \(seed)")
        #expect(fast.last?.status?.reason == .badFrame, "seed \(seed)")
        #expect(fast.count { $0.status == nil } > 100, "Votes are counted; seed \(seed).")
        #expect(fast.count { $0.status != nil } > 50, "Votes are refused; seed \(seed).")
    }

    /// The answers that a new service with some posts gives to bytes that are sent at once.
    ///
    /// Every fourth post keeps ballots, the first three of them of users only: the first of a known
    /// client makes it a voter, and an unknown client's are refused.
    private static func answers(to bytes: [UInt8], isKnown: Bool) async throws -> [ServerFrame] {
        let result = Box()
        try await withService { port in
            let client = try WireClient(port: port)
            if isKnown { _ = try client.hello(clientID: .init(repeating: 7, count: 16)) }
            let feed = Feed(name: "polls", voteMode: .ballot)
            _ = try client.call(.createFeed(CreateFeedRequest(feed: feed)))
            let users = Feed(name: "users", voteMode: .ballot, voters: .users)
            _ = try client.call(.createFeed(CreateFeedRequest(feed: users)))
            for number in 0..<postCount {
                let feed = number.isMultiple(of: 4) ? number < 9 ? "users" : "polls" : "posts"
                _ = try client.createPost(title: "\(number)", feed: feed)
            }
            try client.socket.send(bytes)
            result.frames = try client.receiveAll()
        }
        return result.frames
    }

    /// 300 calls, most of them votes and many of those unusual; then one whose id does not rise,
    /// and 20 that must not be executed.
    private static func calls(seed: UInt64) -> [ClientFrame] {
        var random = SeededGenerator(seed: seed)
        var calls: [ClientFrame] = []
        for id in 100..<400 as Range<UInt64> {
            let vote = CastVoteRequest(
                postID: .random(in: 1...UInt64(postCount), using: &random),
                direction: Bool.random(using: &random) ? .up : .down
            )
            calls.append(unusual(ClientFrame(id: id, request: .castVote(vote)), vote, &random))
        }
        for id in 399..<420 as Range<UInt64> {
            let vote = CastVoteRequest(postID: 1, direction: .up)
            calls.append(ClientFrame(id: id, request: .castVote(vote)))
        }
        return calls
    }

    private static func unusual(
        _ frame: ClientFrame,
        _ vote: CastVoteRequest,
        _ random: inout SeededGenerator
    ) -> ClientFrame {
        var frame = frame
        var vote = vote
        switch Int.random(in: 0..<20, using: &random) {
        case 0: vote.postID = .random(in: 1_000...(.max), using: &random)
        case 1: vote.direction = VoteDirection(rawValue: .random(in: -1...4, using: &random))
        case 2: vote.direction = .clear
        case 3, 9, 10, 11: frame.sequence = .random(in: 1...30, using: &random)
        case 12: frame.sequence = .random(in: 1...1000, using: &random)
        case 4: frame.minimumRevision = .random(in: 1...2, using: &random)
        case 5: frame.minimumRevision = .max
        case 6: frame.timeoutMilliseconds = 60_000
        case 13...16: frame.actingUserID = .random(in: 1...3, using: &random) | 1 << 63
        case 7:
            frame.request = .ping(PingRequest())
            return frame
        case 8:
            frame.request = nil
            return frame
        default: break
        }
        frame.request = .castVote(vote)
        return frame
    }

    /// The frame with a field of number 1000 at its end.
    private static func marked(_ frame: [UInt8]) -> [UInt8] {
        RawMessage().raw(Array(frame.dropFirst(4))).field(1000, 1).framed
    }

    private final class Box: @unchecked Sendable {
        var frames: [ServerFrame] = []
    }
}
