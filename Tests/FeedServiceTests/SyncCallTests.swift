import FeedJournal
import FeedProto
import FeedService
import FeedState
import FeedTestSupport
import Testing

/// SyncPosts over the wire.
@Suite(.timeLimit(.minutes(10)))
struct SyncCallTests {
    private static let device = [UInt8](1...16)

    private static func sync(
        _ client: WireClient,
        _ request: SyncPostsRequest
    ) throws -> SyncPostsResponse {
        let answer = try client.call(.syncPosts(request))
        guard case .syncPosts(let response) = answer.response else {
            throw answer.status ?? Status(code: .unknown, reason: .internal, message: "\(answer)")
        }
        return response
    }

    /// The request that continues the chain of an answer.
    private static func next(_ answer: SyncPostsResponse, feed: String = "") -> SyncPostsRequest {
        SyncPostsRequest(
            feed: feed,
            sinceRevision: answer.nextRevision,
            copyRevision: answer.copyRevision,
            instanceID: answer.instanceID
        )
    }

    @Test("T-SYNC-1: a caller gets what has changed since its last answer, and what was deleted")
    func showsChanges() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            guard case .hello(let hello) = try client.hello(clientID: Self.device).response else {
                return #expect(Bool(false))
            }
            #expect(hello.capabilities.contains(.sync))
            #expect(hello.limits?.maximumSyncPostCount == 500)
            let ids = try (0..<4).map { try client.createPost(title: "post \($0)") }
            let copy = try Self.sync(client, SyncPostsRequest())
            #expect(copy.isReset && !copy.hasMore)
            #expect(copy.copyRevision == 0 && copy.instanceID == hello.instanceID)
            #expect(copy.posts.map(\.id) == ids)
            #expect(copy.posts[0].title == "post 0" && copy.posts[0].viewer == Viewer())

            _ = try client.call(.castVote(CastVoteRequest(postID: ids[1], direction: .up)))
            let mark = MarkPostsRequest(mark: .read, postIDs: [ids[1]])
            _ = try client.call(.markPosts(mark))
            _ = try client.call(.deletePost(DeletePostRequest(id: ids[0])))
            let changed = try Self.sync(client, Self.next(copy))
            #expect(!changed.isReset && !changed.hasMore)
            #expect(changed.posts.map(\.id) == [ids[1], ids[0]])
            #expect(changed.posts[0].score == 1)
            #expect(changed.posts[0].viewer == Viewer(isRead: true))
            let gone = changed.posts[1]
            let deletion = Post(id: ids[0], revision: gone.revision, isDeleted: true)
            #expect(gone == deletion)

            // Of one feed, and nothing new.
            #expect(try Self.sync(client, Self.next(copy, feed: "tweets")).posts.isEmpty)
            #expect(try Self.sync(client, Self.next(changed)).posts.isEmpty)
        }
    }

    @Test("T-SYNC-2: who comes from another instance, or from the future, begins a new copy")
    func resetsStrangers() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            _ = try client.createPost(title: "post")
            let copy = try Self.sync(client, SyncPostsRequest())
            var other = Self.next(copy)
            other.instanceID &+= 1
            let reset = try Self.sync(client, other)
            #expect(reset.isReset && reset.posts.count == 1)
            var ahead = Self.next(copy)
            ahead.sinceRevision += 1 << 40
            #expect(try Self.sync(client, ahead).isReset)
            #expect(try !Self.sync(client, Self.next(copy)).isReset)
        }
    }

    @Test("T-SYNC-3: a page has at most 500 posts, fits into a frame, and refuses a negative size")
    func limitsPages() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            for part in 0..<8 {
                let text = String(repeating: "x", count: 2_000)
                let posts = (0..<100).map { Post(title: "\(part) \($0)", text: text) }
                _ = try client.call(.importPosts(ImportPostsRequest(posts: posts)))
            }
            var answer = try Self.sync(client, SyncPostsRequest(pageSize: 10_000))
            var ids = Set(answer.posts.map(\.id))
            while answer.hasMore {
                #expect(answer.posts.count <= 500 && answer.copyRevision > 0)
                answer = try Self.sync(client, Self.next(answer))
                #expect(!answer.isReset)
                ids.formUnion(answer.posts.map(\.id))
            }
            #expect(ids.count == 800 && answer.copyRevision == 0)
            let status = try client.call(.syncPosts(SyncPostsRequest(pageSize: -1))).status
            #expect(status?.reason == .badPageSize)
            let unknown = try client.call(.syncPosts(SyncPostsRequest(feed: "none"))).status
            #expect(unknown?.reason == .feedNotFound)
        }
    }

    @Test("T-SYNC-4: a chain goes on after a restart, and has the deletions of before")
    func restartsAreNoSilentGap() async throws {
        let directory = try TemporaryDirectory()
        let answers = Locked<[SyncPostsResponse]>([])
        for run in 0..<2 {
            try await withService {
                var state = StateOptions(path: directory.path, logCount: $0.threadCount)
                state.journal.space.ballastByteCount = 1 << 20
                $0.state = state
            } _: { port in
                let client = try WireClient(port: port)
                guard run == 1 else {
                    let ids = try (0..<3).map { try client.createPost(title: "\($0)") }
                    let copy = try Self.sync(client, SyncPostsRequest())
                    answers.withLock { $0.append(copy) }
                    _ = try client.call(.deletePost(DeletePostRequest(id: ids[2])))
                    return
                }
                guard let before = answers.withLock({ $0.first }) else { return }
                let after = try Self.sync(client, Self.next(before))
                #expect(after.instanceID == before.instanceID)
                #expect(!after.isReset && after.posts.map(\.id) == [before.posts[2].id])
                #expect(after.posts.first?.isDeleted == true)
            }
        }
    }
}
