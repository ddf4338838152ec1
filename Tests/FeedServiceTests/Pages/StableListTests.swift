import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// STABLE lists of connections that read while others vote.
@Suite(.timeLimit(.minutes(10))) struct StableListTests {
    private struct Walk: Sendable {
        var stable: [PostID] = []
        var live: [PostID] = []
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
                    guard case .batchCastVotes = try voter.receive()?.response
                    else { throw Unexpected("Votes are refused.") }
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
                    postID: PostID(rawValue: .random(in: 1...limit, using: &random)),
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
            guard case .listPosts(let page) = try reader.receive()?.response
            else { throw Unexpected("A list is refused.") }
            #expect(page.posts.first?.id == 1)
        }
    }

    @Test("T-PAGE-3: the statistics count the snapshots, and an unused one is dropped")
    func countsAndDropsSnapshots() async throws {
        let clock = ManualClock()
        try await withClient { configuration in
            configuration.loopClock = clock
        } _: { client in
            for number in 0..<30 { _ = try client.createPost(title: "post \(number)") }
            let first = try client.list(ListPostsRequest(order: .old, consistency: .stable))
            #expect(first.consistency == .stable)
            #expect(try client.serverStats().snapshotCount == 1)
            // Each step is well below the silence after which the service closes a connection.
            for _ in 0..<4 {
                clock.advance(by: .seconds(31))
                _ = try client.call(.ping(PingRequest()))
            }
            #expect(try client.serverStats().snapshotCount == 0)
            let next = ListPostsRequest(order: .old, pageToken: first.nextPageToken)
            let page = try client.list(next)
            #expect(page.consistency == .live && page.posts.map(\.id.rawValue) == Array(21...30))
        }
    }

    @Test("T-PAGE-4: a refresh token brings what is newer, and each other token is refused")
    func refreshes() async throws {
        try await withClient { client in
            for number in 0..<30 { _ = try client.createPost(title: "post \(number)") }
            var page = try client.list(ListPostsRequest(order: .top, pageSize: 5))
            #expect(page.newerCount == 0)
            for number in 30..<50 { _ = try client.createPost(title: "post \(number)") }
            var ids: Set<PostID> = []
            repeat {
                let token = page.refreshToken
                let request = ListPostsRequest(order: .top, pageSize: 7, pageToken: token)
                page = try client.list(request)
                ids.formUnion(page.posts.map(\.id))
                let filtered = ListPostsRequest(order: .top, pageToken: token, authorID: 1)
                let refusal = try client.call(.listPosts(filtered)).status
                #expect(refusal?.reason == .pageTokenMismatch)
            } while page.newerCount > 0
            #expect(ids.isSuperset(of: (31...50).map(PostID.init(rawValue:))))
            // Posts of the same millisecond may come too, so a page takes all.
            let newer = try client.list(
                ListPostsRequest(order: .new, pageSize: 100, start: .newerThanPostID(45))
            )
            #expect(Set(newer.posts.map(\.id.rawValue)).isSuperset(of: 46...50))
            #expect(!newer.posts.contains { $0.id == 45 })
        }
    }
}

/// What the revision of a STABLE list says, and which snapshot shows a caller's own changes.
@Suite(.timeLimit(.minutes(10))) struct StableRevisionTests {
    private static let list = ListPostsRequest(
        feed: "ballots",
        order: .top,
        pageSize: 2,
        consistency: .stable
    )

    /// Runs a service whose loops stand still, with three posts of a feed that keeps ballots.
    private func withBallots(
        _ body: @escaping @Sendable (UInt16, [PostID]) throws -> Void
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
            func vote(_ post: PostID, _ sequence: UInt64) throws -> UInt64 {
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
            guard case .listPosts(let page) = first.response
            else { throw Unexpected("A list is refused.") }
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
            guard case .listPosts(let rest) = answer.response
            else { throw Unexpected("A list is refused.") }
            #expect(rest.consistency == .live)
        }
    }
}

/// MarkPosts, and what lists and posts show of marks.
@Suite(.timeLimit(.minutes(10))) struct MarkCallTests {
    private static let device = [UInt8](1...16)

    private static func mark(
        _ client: WireClient,
        _ request: MarkPostsRequest,
        sequence: UInt64 = 0
    ) throws -> UInt64 {
        let answer = try client.call(.markPosts(request), sequence: sequence)
        guard case .markPosts(let response) = answer.response else {
            throw MarkRefusal(status: answer.status)
        }
        return response.unreadCount
    }

    private struct MarkRefusal: Error {
        var status: Status?
    }

    @Test("T-MARK-1: read and dismissed posts are shown, counted and left out")
    func marksPosts() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            _ = try client.hello(clientID: Self.device)
            for number in 0..<10 { _ = try client.createPost(title: "post \(number)") }
            let read = MarkPostsRequest(feed: "posts", mark: .read, postIDs: [1, 2, 3])
            #expect(try Self.mark(client, read) == 7)
            let dismissed = MarkPostsRequest(mark: .dismissed, postIDs: [3, 4])
            #expect(try Self.mark(client, dismissed) == 6)
            func ids(_ request: ListPostsRequest) throws -> [UInt64] {
                try client.list(request).posts.map(\.id.rawValue)
            }
            #expect(try ids(ListPostsRequest(order: .old)) == [1, 2] + Array(5...10))
            #expect(try ids(ListPostsRequest(order: .old, unreadOnly: true)) == Array(5...10))
            let all = ListPostsRequest(order: .old, includesDismissed: true)
            let viewers = try client.list(all).posts.map(\.viewer)
            #expect(viewers[2] == Viewer(isRead: true, isDismissed: true))
            #expect(viewers[3] == Viewer(isRead: false, isDismissed: true))
            #expect(viewers[4] == Viewer())
            guard case .post(let post) = try client.call(.getPost(GetPostRequest(id: 3))).response
            else { return #expect(Bool(false)) }
            #expect(post.viewer == Viewer(isRead: true, isDismissed: true))
            // Nobody else sees them.
            let other = try WireClient(port: port)
            #expect(try other.list(ListPostsRequest(order: .old)).posts.count == 10)
            #expect(try other.list(ListPostsRequest(order: .old)).posts[0].viewer == nil)
        }
    }

    @Test("T-MARK-2: all posts up to one are dismissed, and restored")
    func marksThroughAPost() async throws {
        try await withClient { client in
            _ = try client.hello(clientID: Self.device)
            for number in 0..<10 { _ = try client.createPost(title: "post \(number)") }
            var request = MarkPostsRequest(feed: "posts", mark: .dismissed, throughPostID: 8)
            #expect(try Self.mark(client, request) == 2)
            let list = ListPostsRequest(order: .old)
            #expect(try client.list(list).posts.map(\.id) == [9, 10])
            request.mark = .restored
            request.throughPostID = 4
            #expect(try Self.mark(client, request) == 6)
            #expect(try client.list(list).posts.map(\.id) == [1, 2, 3, 4, 9, 10])
            guard case .listFeeds(let feeds) = try client.call(.listFeeds).response else {
                return #expect(Bool(false))
            }
            #expect(feeds.feeds.map(\.unreadCount) == [6, 0])
            #expect(feeds.feeds.map(\.postCount) == [10, 0])
        }
    }

    @Test("T-MARK-3: marks need an identity, one of two fields, and posts that exist")
    func refusesMarks() async throws {
        try await withClient { client in
            _ = try client.createPost(title: "post")
            func reason(_ request: MarkPostsRequest) throws -> Reason? {
                try client.call(.markPosts(request)).status?.reason
            }
            let one = MarkPostsRequest(mark: .read, postIDs: [1])
            #expect(try reason(one) == .identityRequired)
            let unread = ListPostsRequest(unreadOnly: true)
            let refusal = try client.call(.listPosts(unread)).status
            #expect(refusal?.reason == .identityRequired)
            #expect(refusal?.message.hasPrefix("unread_only needs a viewer: ") == true)
            _ = try client.hello(clientID: Self.device)
            #expect(try reason(one) == nil)
            #expect(try reason(MarkPostsRequest(mark: .read)) == .badField)
            let both = MarkPostsRequest(mark: .read, postIDs: [1], throughPostID: 1)
            #expect(try reason(both) == .badField)
            let many = MarkPostsRequest(mark: .read, postIDs: (1...101).map(PostID.init(rawValue:)))
            #expect(try reason(many) == .batchTooLarge)
            #expect(try reason(MarkPostsRequest(mark: .unspecified, postIDs: [1])) == .badField)
            let missing = MarkPostsRequest(mark: .read, throughPostID: 99)
            #expect(try reason(missing) == .postNotFound)
            let feed = MarkPostsRequest(feed: "none", mark: .read, postIDs: [1])
            #expect(try reason(feed) == .feedNotFound)
            let foreign = MarkPostsRequest(feed: "tweets", mark: .read, throughPostID: 1)
            #expect(try reason(foreign) == .postNotFound)
        }
    }

    @Test("T-MARK-4: a repeated MarkPosts is executed once, and answered with the count of now")
    func repeatsAreExecutedOnce() async throws {
        try await withClient { client in
            _ = try client.hello(clientID: Self.device)
            for number in 0..<5 { _ = try client.createPost(title: "post \(number)") }
            let read = MarkPostsRequest(mark: .read, postIDs: [1, 2])
            #expect(try Self.mark(client, read, sequence: 1) == 3)
            let unread = MarkPostsRequest(mark: .unread, postIDs: [1])
            #expect(try Self.mark(client, unread, sequence: 2) == 4)
            #expect(try Self.mark(client, read, sequence: 1) == 4)
            let page = try client.list(ListPostsRequest(order: .old))
            #expect(page.posts[0].viewer == Viewer())
        }
    }
}
