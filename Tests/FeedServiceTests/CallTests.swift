import FeedJournal
import FeedProto
import FeedService
import FeedState
import FeedTestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct CallTests {
    @Test("T-CALL-3: a deleted post is gone for votes, and a repeated delete is fine")
    func deletesForGood() async throws {
        try await withClient { client in
            let id = try client.createPost(title: "short-lived")
            _ = try client.vote(id)
            #expect(try client.call(.deletePost(DeletePostRequest(id: id))).status == nil)
            #expect(try client.call(.deletePost(DeletePostRequest(id: id))).status == nil)
            let vote = CastVoteRequest(postID: id, direction: .up)
            #expect(try client.call(.castVote(vote)).status?.reason == .postNotFound)
            let unknown = DeletePostRequest(id: id.advanced(by: 1_000))
            #expect(try client.call(.deletePost(unknown)).status?.reason == .postNotFound)
            #expect(try client.list(ListPostsRequest()).totalSize == 0)
        }
    }

    @Test("T-CALL-5: a new post has the service's id, times and votes, not the request's")
    func ignoresTheCallersClock() async throws {
        try await withClient { client in
            let forged = Post(
                id: 77,
                title: "forged",
                score: 5,
                upvoteCount: 5,
                createTimeMilliseconds: 1,
                updateTimeMilliseconds: .max,
                revision: 99
            )
            let answer = try client.call(.createPost(CreatePostRequest(post: forged)))
            guard case .post(let post) = answer.response
            else { throw Unexpected("CreatePost answers with the post.") }
            #expect((post.id, post.score, post.upvoteCount, post.revision) == (1, 0, 0, 1))
            #expect(post.createTimeMilliseconds > 1_700_000_000_000)
            #expect(post.updateTimeMilliseconds == post.createTimeMilliseconds)
        }
    }

    @Test("T-CALL-9: bounds the page size", arguments: [(0, 20), (7, 7), (100, 100), (1000, 100)])
    func boundsThePageSize(_ asked: Int32, _ given: Int) async throws {
        try await withClient { client in
            for number in 0..<120 { _ = try client.createPost(title: "post \(number)") }
            let page = try client.list(ListPostsRequest(pageSize: asked))
            #expect(page.posts.count == given)
            #expect(page.totalSize == 120)
        }
    }

    @Test("T-CALL-10: refuses tokens that were not given for this list")
    func refusesForgedTokens() async throws {
        try await withClient { client in
            for number in 0..<30 { _ = try client.createPost(title: "post \(number)") }
            let token = try client.list(ListPostsRequest(order: .top)).nextPageToken
            var forgeries = token.indices.map { index in
                var forged = token
                forged[index] ^= 1
                return forged
            }
            forgeries += token.indices.dropFirst().map { Array(token[..<$0]) }
            forgeries.append(token + [0])
            for forged in forgeries {
                let answer = try client.call(
                    .listPosts(ListPostsRequest(order: .top, pageToken: forged))
                )
                #expect(answer.status?.reason == .pageTokenMismatch)
            }
            let foreign = [
                ListPostsRequest(order: .new, pageToken: token),
                ListPostsRequest(feed: "posts", order: .top, pageToken: token),
            ]
            for request in foreign {
                let answer = try client.call(.listPosts(request))
                #expect(answer.status?.reason == .pageTokenMismatch)
            }
            #expect(
                try client.list(ListPostsRequest(order: .top, pageToken: token)).firstRank == 21
            )
            _ = try client.hello(clientID: [UInt8](1...16))
            let asAnother = try client.call(
                .listPosts(ListPostsRequest(order: .top, pageToken: token))
            )
            #expect(asAnother.status?.reason == .pageTokenMismatch)
        }
    }

    @Test("T-CALL-11: continues after the key of a deleted post")
    func continuesAfterADeletedAnchor() async throws {
        try await withClient { client in
            var ids: [PostID] = []
            for number in 0..<30 {
                ids.append(try client.createPost(title: String(UnicodeScalar(UInt8(65 + number)))))
            }
            let first = try client.list(ListPostsRequest(order: .top, pageSize: 10))
            _ = try client.call(.deletePost(DeletePostRequest(id: ids[9])))
            let second = try client.list(
                ListPostsRequest(order: .top, pageSize: 10, pageToken: first.nextPageToken)
            )
            #expect(second.posts.map(\.id) == Array(ids[10..<20]))
            let back = try client.list(
                ListPostsRequest(order: .top, pageSize: 10, pageToken: second.previousPageToken)
            )
            #expect(back.posts.map(\.id) == Array(ids[0..<9]))
        }
    }

    @Test("T-TEXT-3: takes a title of 255 characters and 1,024 bytes")
    func takesTheLongestTitle() async throws {
        try await withClient { client in
            let title = String(repeating: "\u{1f34e}", count: 255)
            let id = try client.createPost(title: title)
            let post = try client.post(id)
            #expect(post.title == title)
        }
    }

    @Test("updates the fields that the mask names, and only on the revision that was read")
    func updates() async throws {
        try await withClient { client in
            let id = try client.createPost(title: "before")
            func get() throws -> Post {
                guard
                    case .post(let post) = try client.call(.getPost(GetPostRequest(id: id)))
                        .response
                else { throw TestSocket.Failure.endOfFile(received: 0, wanted: 1) }
                return post
            }
            let before = try get()
            _ = try client.vote(id)
            var change = Post(id: id, title: "after", text: "ignored", revision: before.revision)
            let update = UpdatePostRequest(post: change, updateMask: [.title])
            #expect(try client.call(.updatePost(update)).status == nil)
            let after = try get()
            #expect((after.title, after.text, after.score) == ("after", "", 1))
            #expect(after.revision > before.revision)
            change.title = "too late"
            let late = UpdatePostRequest(post: change, updateMask: [.title])
            #expect(try client.call(.updatePost(late)).status?.reason == .revisionMismatch)
            #expect(try get().title == "after")
        }
    }

    @Test("takes the revision of any answer since the last edit, and none from before or to come")
    func updatesOnTheRevisionOfAnAnswer() async throws {
        try await withClient { client in
            let id = try client.createPost(title: "a")
            let other = try client.createPost(title: "b")
            _ = try client.vote(other)
            // The answer's revision is above the post's: other posts have changed since.
            let read = try client.call(.getPost(GetPostRequest(id: id))).revision
            func edit(_ revision: UInt64) throws -> ServerFrame {
                let post = Post(id: id, title: "edited", revision: revision)
                return try client.call(
                    .updatePost(UpdatePostRequest(post: post, updateMask: [.title]))
                )
            }
            let future = try edit(read + 1000)
            #expect(future.status?.reason == .revisionMismatch)
            let first = try edit(read)
            #expect(first.status == nil)
            #expect(try edit(read).status?.reason == .revisionMismatch)
            _ = try client.vote(other)
            let seen = try client.call(.getPost(GetPostRequest(id: id))).revision
            let early = DeletePostRequest(id: id, revision: read)
            #expect(try client.call(.deletePost(early)).status?.reason == .revisionMismatch)
            let late = DeletePostRequest(id: id, revision: seen)
            #expect(try client.call(.deletePost(late)).status == nil)
        }
    }

    @Test("finds a post's place, and the page around it")
    func findsPlaces() async throws {
        try await withClient { client in
            var ids: [PostID] = []
            for number in 0..<50 {
                ids.append(try client.createPost(title: String(UnicodeScalar(UInt8(65 + number)))))
            }
            let rank = try client.call(.getPostRank(GetPostRankRequest(id: ids[29], order: .top)))
            #expect(rank.response == .postRank(PostRank(rank: 30, totalSize: 50)))
            let around = try client.list(
                ListPostsRequest(feed: "posts", order: .top, start: .aroundPostID(ids[29]))
            )
            #expect(around.posts.contains { $0.id == ids[29] })
            #expect(around.posts.first?.id == ids[Int(around.firstRank) - 1])
            let fromRank = try client.list(
                ListPostsRequest(feed: "posts", order: .top, start: .rank(41))
            )
            #expect(fromRank.posts.map(\.id) == Array(ids[40...]))
            #expect(fromRank.nextPageToken.isEmpty)
        }
    }

    @Test(
        "a tweet has 1 to 140 characters",
        arguments: [(0, false), (1, true), (140, true), (141, false)]
    )
    func boundsTweets(_ length: Int, _ isAccepted: Bool) async throws {
        try await withClient { client in
            let post = Post(text: String(repeating: "t", count: length))
            let answer = try client.call(.createPost(CreatePostRequest(feed: "tweets", post: post)))
            #expect((answer.status == nil) == isAccepted)
        }
    }

    @Test("a page of the longest feed name and texts fits, and ends early")
    func fitsAPageOfLongNames() async throws {
        try await withClient { client in
            let feed = String(repeating: "f", count: 63)
            _ = try client.call(.createFeed(CreateFeedRequest(feed: Feed(name: feed))))
            let post = Post(
                title: "t",
                text: String(repeating: "x", count: 10_000),
                linkURL: String(repeating: "u", count: 399)
            )
            for _ in 0..<100 {
                let create = CreatePostRequest(feed: feed, post: post)
                #expect(try client.call(.createPost(create)).status == nil)
            }
            let first = try client.list(ListPostsRequest(feed: feed, pageSize: 100))
            #expect(first.posts.count < 100)
            let rest = try client.list(
                ListPostsRequest(feed: feed, pageSize: 100, pageToken: first.nextPageToken)
            )
            #expect(first.posts.count + rest.posts.count == 100)
        }
    }

    @Test("a feed's name that no feed can have is not repeated")
    func refusesAHugeFeedName() async throws {
        try await withClient { client in
            let name = String(repeating: "n", count: 1_000_000)
            let answer = try client.call(.listPosts(ListPostsRequest(feed: name)))
            #expect(answer.status?.reason == .feedNotFound)
            #expect((answer.status?.message.utf8.count ?? 0) < 200)
            #expect(try client.call(.getServerStats).status == nil)
        }
    }

    @Test("a page ends early, with a token, where the next post would not fit into the frame")
    func endsAPageThatWouldNotFit() async throws {
        try await withClient { client in
            let text = String(repeating: "x", count: 10_000)
            for number in 0..<110 {
                let post = Post(
                    title: "\(number)",
                    text: text,
                    linkURL: String(repeating: "u", count: 2000)
                )
                _ = try client.call(.createPost(CreatePostRequest(post: post)))
            }
            var seen: [PostID] = []
            var token: [UInt8] = []
            var counts: [Int] = []
            repeat {
                let page = try client.list(
                    ListPostsRequest(order: .old, pageSize: 100, pageToken: token)
                )
                seen += page.posts.map(\.id)
                token = page.nextPageToken
                counts.append(page.posts.count)
            } while !token.isEmpty
            #expect(counts[0] < 100)
            #expect(seen == seen.sorted())
            #expect(seen.count == 110)
        }
    }
}

/// Lists of further orders and of windows, as clients ask for them.
@Suite(.timeLimit(.minutes(10))) struct OrderTests {
    /// Four posts without votes, the second of a day before all others.
    private static func importPosts(_ client: WireClient) throws -> [PostID] {
        let now = try client.createPost(title: "first")
        let times = try client.list(ListPostsRequest(feed: "posts", order: .new)).posts
        let time = try #require(times.first).createTimeMilliseconds
        let posts = [
            Post(
                title: "old",
                upvoteCount: 9,
                downvoteCount: 9,
                commentCount: 4,
                createTimeMilliseconds: time - 25 * 3_600_000
            ),
            Post(title: "liked", upvoteCount: 9, commentCount: 1, createTimeMilliseconds: time),
            Post(
                title: "disputed",
                upvoteCount: 5,
                downvoteCount: 5,
                commentCount: 2,
                createTimeMilliseconds: time
            ),
        ]
        let answer = try client.call(.importPosts(ImportPostsRequest(feed: "posts", posts: posts)))
        guard case .importPosts(let imported) = answer.response else { return [] }
        return [now] + imported.ids
    }

    @Test func listsEachOrder() async throws {
        try await withClient { client in
            let ids = try Self.importPosts(client)
            func list(_ order: Order, _ window: Window = .unspecified) throws -> [Int] {
                let request = ListPostsRequest(feed: "posts", order: order, window: window)
                return try client.list(request).posts.map { ids.firstIndex(of: $0.id) ?? 9 }
            }
            #expect(try list(.best) == [2, 1, 3, 0])
            #expect(try list(.controversial) == [1, 3, 0, 2])
            #expect(try list(.discussed) == [1, 3, 2, 0])
            #expect(try list(.rising) == [2, 3, 0, 1])
            #expect(try list(.top, .day) == [2, 3, 0])
            #expect(try list(.top, .week) == [2, 3, 0, 1])
            #expect(try list(.discussed, .hour) == [3, 2, 0])
            #expect(try list(.controversial, .year) == [1, 3, 0, 2])
        }
    }

    @Test func ranksWithinAWindow() async throws {
        try await withClient { client in
            let ids = try Self.importPosts(client)
            let rank = try client.call(
                .getPostRank(GetPostRankRequest(id: ids[3], order: .top, window: .day))
            )
            #expect(rank.response == .postRank(PostRank(rank: 2, totalSize: 3)))
            let old = try client.call(
                .getPostRank(GetPostRankRequest(id: ids[1], order: .top, window: .day))
            )
            #expect(old.status?.reason == .postNotFound)
        }
    }

    @Test(arguments: [Order.new, .old, .hot, .best, .rising])
    func refusesAWindow(order: Order) async throws {
        try await withClient { client in
            let id = try client.createPost(title: "a")
            let requests: [Request] = [
                .listPosts(ListPostsRequest(order: order, window: .hour)),
                .getPostRank(GetPostRankRequest(id: id, order: order, window: .year)),
            ]
            for request in requests {
                let answer = try client.call(request)
                #expect(answer.status?.code == .invalidArgument)
                #expect(answer.status?.reason == .badField)
                #expect(answer.status?.violations.first?.field == "window")
            }
        }
    }

    @Test func bindsATokenToItsWindow() async throws {
        try await withClient { client in
            for number in 0..<3 { _ = try client.createPost(title: "post \(number)") }
            let request = ListPostsRequest(order: .top, window: .hour, pageSize: 2)
            let token = try client.list(request).nextPageToken
            let next = ListPostsRequest(order: .top, window: .hour, pageToken: token)
            #expect(try client.list(next).posts.count == 1)
            for window in [Window.unspecified, .day] {
                let foreign = ListPostsRequest(order: .top, window: window, pageToken: token)
                let answer = try client.call(.listPosts(foreign))
                #expect(answer.status?.reason == .pageTokenMismatch)
            }
        }
    }
}

/// SyncPosts over the wire.
@Suite(.timeLimit(.minutes(10))) struct SyncCallTests {
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
        try await withClient { client in
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
        try await withClient { client in
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
        try await withClient { client in
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
            try await withClient {
                var state = StateOptions(path: directory.path, logCount: $0.threadCount)
                state.journal.space.ballastByteCount = 1 << 20
                $0.state = state
            } _: { client in
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
