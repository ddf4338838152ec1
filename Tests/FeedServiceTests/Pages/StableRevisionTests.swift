import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// What the revision of a STABLE list says, and which snapshot shows a caller's own changes.
@Suite(.timeLimit(.minutes(10)))
struct StableRevisionTests {
    private static let list = ListPostsRequest(
        feed: "ballots",
        order: .top,
        pageSize: 2,
        consistency: .stable
    )

    /// Runs a service whose loops stand still, with three posts of a feed that keeps ballots.
    private func withBallots(
        _ body: @escaping @Sendable (UInt16, [UInt64]) throws -> Void
    ) async throws {
        try await withService {
            $0.loopClock = ManualClock()
        } _: { port in
            let client = try WireClient(port: port)
            let feed = Feed(name: "ballots", voteMode: .ballot)
            #expect(try client.call(.createFeed(CreateFeedRequest(feed: feed))).status == nil)
            try body(
                port,
                try (0..<3).map { try client.createPost(title: "\($0)", feed: "ballots") }
            )
        }
    }

    @Test("T-PAGE-2: a vote that changes nothing hides no earlier one", arguments: [0, 1])
    func aRepeatedVoteHidesNoLaterOne(sequence: UInt64) async throws {
        try await withBallots { port, posts in
            let (writer, reader) = (try WireClient(port: port), try WireClient(port: port))
            _ = try writer.hello(clientID: [UInt8](repeating: 7, count: 16))
            func vote(_ post: UInt64, _ sequence: UInt64) throws -> UInt64 {
                let request = CastVoteRequest(postID: post, direction: .up)
                return try writer.call(.castVote(request), sequence: sequence).revision
            }
            let first = try vote(posts[2], sequence)
            let snapshot = try reader.list(Self.list)
            #expect(snapshot.consistency == .stable && snapshot.posts.first?.id == posts[2])
            _ = try vote(posts[1], 2 * sequence)
            #expect(try vote(posts[2], sequence) == first)
            let own = try writer.list(Self.list)
            #expect(own.consistency == .live && own.posts.map(\.id) == [posts[1], posts[2]])
        }
    }

    @Test("the revision of a stable page is its snapshot's")
    func theRevisionIsTheSnapshots() async throws {
        try await withBallots { port, posts in
            let (writer, reader) = (try WireClient(port: port), try WireClient(port: port))
            let first = try reader.call(.listPosts(Self.list))
            guard case .listPosts(let page) = first.response else {
                Issue.record("A list is refused.")
                return
            }
            _ = try writer.hello(clientID: [UInt8](repeating: 7, count: 16))
            let vote = CastVoteRequest(postID: posts[2], direction: .up)
            let change = try writer.call(.castVote(vote)).revision
            #expect(first.revision < change)
            #expect(try reader.call(.listPosts(Self.list)).revision == first.revision)
            var next = Self.list
            next.pageToken = page.nextPageToken
            #expect(try reader.call(.listPosts(next)).revision == first.revision)
            // Who asks for a later state does not get the rest of the snapshot.
            let frame = ClientFrame(
                id: reader.nextID(),
                request: .listPosts(next),
                minimumRevision: change
            )
            try reader.send(frame)
            let answer = try #require(try reader.receive())
            #expect(answer.revision >= change)
            guard case .listPosts(let rest) = answer.response else {
                Issue.record("A list is refused.")
                return
            }
            #expect(rest.consistency == .live)
        }
    }
}
