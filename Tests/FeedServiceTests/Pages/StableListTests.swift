import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// STABLE lists of connections that read while others vote.
@Suite(.timeLimit(.minutes(10)))
struct StableListTests {
    /// A walk of a connection to the end of the list.
    private struct Walk: Sendable {
        var stable: [UInt64] = []
        var live: [UInt64] = []
        var faults: [String] = []
        var next: ListPostsRequest? = ListPostsRequest(
            order: .top,
            pageSize: 100,
            consistency: .stable
        )

        mutating func send(_ client: WireClient) throws {
            if let next { _ = try client.send(.listPosts(next)) }
        }

        mutating func receive(_ client: WireClient) throws {
            guard next != nil, case .listPosts(let page) = try client.receive()?.response else {
                return
            }
            let ids = page.posts.map(\.id)
            if page.consistency == .stable {
                if !live.isEmpty { faults.append("STABLE after LIVE") }
                if page.firstRank != UInt64(stable.count) + 1 {
                    faults.append("rank \(page.firstRank) after \(stable.count) posts")
                }
                stable += ids
            } else {
                live += ids
            }
            next = nil
            guard !page.nextPageToken.isEmpty else { return }
            next = ListPostsRequest(order: .top, pageSize: 100, pageToken: page.nextPageToken)
        }
    }

    /// The loops execute the votes of 8 connections between the pages of 100 others.
    @Test(
        "T-PAGE-1: a snapshot has each of its posts once while others vote, and its end is announced",
        arguments: [1_000, 3_000]
    )
    func pagesDoNotMove(postCount: Int) async throws {
        try await withService(threads: 4) { port in
            try Self.fill(port, postCount)
            let voters = try (0..<8).map { _ in try WireClient(port: port) }
            let readers = try (0..<100).map { _ in try WireClient(port: port) }
            var walks = readers.map { _ in Walk() }
            var random = SeededGenerator(seed: UInt64(postCount))
            while walks.contains(where: { $0.next != nil }) {
                for voter in voters {
                    _ = try voter.send(.batchCastVotes(Self.votes(postCount, &random)))
                }
                for index in readers.indices { try walks[index].send(readers[index]) }
                for voter in voters {
                    guard case .batchCastVotes = try voter.receive()?.response else {
                        Issue.record("Votes are refused.")
                        return
                    }
                }
                for index in readers.indices { try walks[index].receive(readers[index]) }
            }
            for walk in walks {
                #expect(walk.faults.isEmpty, "\(walk.faults)")
                #expect(walk.stable.count == 1_000)
                #expect(Set(walk.stable).count == 1_000)
                #expect(walk.live.isEmpty == (postCount == 1_000))
            }
        }
    }

    private static func fill(_ port: UInt16, _ postCount: Int) throws {
        let client = try WireClient(port: port)
        for first in stride(from: 0, to: postCount, by: 250) {
            let posts = (first..<first + 250).map { Post(title: "post \($0)") }
            let answer = try client.call(.importPosts(ImportPostsRequest(posts: posts)))
            #expect(answer.status == nil)
        }
    }

    /// Votes for random posts, half of them for few posts.
    private static func votes(
        _ postCount: Int,
        _ random: inout SeededGenerator
    ) -> BatchCastVotesRequest {
        BatchCastVotesRequest(
            votes: (0..<100).map { _ in
                let limit = UInt64(random.oneIn(2) ? postCount : postCount / 10)
                return CastVoteRequest(
                    postID: UInt64.random(in: 1...limit, using: &random),
                    direction: random.oneIn(3) ? .down : .up
                )
            }
        )
    }

    @Test("T-PAGE-2: a caller sees its own post, in a snapshot or in a list that says LIVE")
    func showsTheCallersOwnChanges() async throws {
        try await withService { port in
            let (writer, reader) = (try WireClient(port: port), try WireClient(port: port))
            let request = ListPostsRequest(order: .new, consistency: .stable)
            for number in 0..<20 {
                let id = try writer.createPost(title: "post \(number)")
                #expect(try writer.list(request).posts.first?.id == id)
                // Others may see a snapshot that is a quarter of a second old.
                #expect([.stable, .live].contains(try reader.list(request).consistency))
            }
            let answer = try writer.call(.castVote(CastVoteRequest(postID: 1, direction: .up)))
            let named = ClientFrame(
                id: reader.nextID(),
                request: .listPosts(ListPostsRequest(order: .top, consistency: .stable)),
                minimumRevision: answer.revision
            )
            try reader.send(named)
            guard case .listPosts(let page) = try reader.receive()?.response else {
                Issue.record("A list is refused.")
                return
            }
            #expect(page.posts.first?.id == 1)
        }
    }

    @Test("T-PAGE-3: the statistics count the snapshots, and an unused one is dropped")
    func countsAndDropsSnapshots() async throws {
        let clock = ManualClock()
        try await withService { configuration in
            configuration.loopClock = clock
        } _: { port in
            let client = try WireClient(port: port)
            for number in 0..<30 { _ = try client.createPost(title: "post \(number)") }
            let first = try client.list(ListPostsRequest(order: .old, consistency: .stable))
            #expect(first.consistency == .stable)
            #expect(try client.snapshotCount() == 1)
            // Each step is well below the silence after which the service closes a connection.
            for _ in 0..<4 {
                clock.advance(by: .seconds(31))
                _ = try client.call(.ping(PingRequest()))
            }
            #expect(try client.snapshotCount() == 0)
            let next = ListPostsRequest(order: .old, pageToken: first.nextPageToken)
            let page = try client.list(next)
            #expect(page.consistency == .live && page.posts.map(\.id) == Array(21...30))
        }
    }

    @Test("T-PAGE-4: a refresh token brings what is newer, and each other token is refused")
    func refreshes() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            for number in 0..<30 { _ = try client.createPost(title: "post \(number)") }
            var page = try client.list(ListPostsRequest(order: .top, pageSize: 5))
            #expect(page.newerCount == 0)
            for number in 30..<50 { _ = try client.createPost(title: "post \(number)") }
            var ids: Set<UInt64> = []
            repeat {
                let token = page.refreshToken
                let request = ListPostsRequest(order: .top, pageSize: 7, pageToken: token)
                page = try client.list(request)
                ids.formUnion(page.posts.map(\.id))
                let filtered = ListPostsRequest(order: .top, pageToken: token, authorID: 1)
                let refusal = try client.call(.listPosts(filtered)).status
                #expect(refusal?.reason == .pageTokenMismatch)
            } while page.newerCount > 0
            #expect(ids.isSuperset(of: 31...50))
            // Posts of the same millisecond may come too, so a page takes all.
            let newer = try client.list(
                ListPostsRequest(order: .new, pageSize: 100, start: .newerThanPostID(45))
            )
            #expect(Set(newer.posts.map(\.id)).isSuperset(of: 46...50))
            #expect(!newer.posts.contains { $0.id == 45 })
        }
    }
}

extension WireClient {
    fileprivate func snapshotCount() throws -> UInt64? {
        let answer = try call(.getServerStats)
        guard case .serverStats(let stats) = answer.response else { return nil }
        return stats.snapshotCount
    }
}
