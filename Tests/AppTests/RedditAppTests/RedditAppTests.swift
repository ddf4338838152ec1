import FeedClient
import FeedOffline
import FeedProto
import FeedTestSupport
import Testing

/// The Reddit app: rows with pictures, what is unread, what is dismissed, refreshing and pages.
@Suite(.timeLimit(.minutes(10))) struct RedditAppTests {
    /// Posts of others, imported as they were.
    private static func importPosts(_ count: Int, over client: FeedClient) async throws -> [UInt64]
    {
        try await client.importPosts((0..<count).map(post), in: "posts")
    }

    private static func post(_ number: Int) -> Post {
        Post(
            author: User(displayName: "author \(number)"),
            title: "title \(number)",
            linkURL: "https://example.org/\(number)",
            thumbnailURL: number % 3 == 0 ? "" : "https://example.org/t\(number).png",
            imageURL: "https://example.org/i\(number).png",
            upvoteCount: UInt64(1_000 - number),
            commentCount: UInt64(number),
            createTimeMilliseconds: 1_700_000_000_000 + Int64(number) * 1_000
        )
    }

    @Test func aRowHasAuthorDatePicturesAndComments() async throws {
        try await AppService.run { service in
            let app = try await service.launch()
            let ids = try await Self.importPosts(4, over: app)
            let rows = try await app.listPosts(in: "posts", order: .top).posts
            #expect(rows.map(\.id) == ids)
            let row = try #require(rows.last)
            #expect(row.author?.displayName == "author 3")
            #expect(row.createTimeMilliseconds == 1_700_000_003_000)
            #expect(row.commentCount == 3)
            #expect(row.imageURL == "https://example.org/i3.png")
            // No thumbnail is an empty URL.
            #expect(rows.map(\.thumbnailURL.isEmpty) == [true, false, false, true])
            await app.close()
        }
    }

    @Test func whatIsUnreadIsTheDevicesOwnUntilAPersonSignsIn() async throws {
        try await AppService.run { service in
            let phone = ClientID()
            let app = try await service.launch { $0.clientID = phone }
            let other = try await service.launch { $0.clientID = ClientID() }
            let ids = try await Self.importPosts(6, over: app)
            #expect(try await app.mark([ids[0], ids[2]], as: .read, in: "posts") == 4)
            let rows = try await app.listPosts(in: "posts", order: .top).posts
            #expect(rows.map { $0.viewer?.isRead } == [true, false, true, false, false, false])
            let unread = PostList(feed: "posts", order: .top, unreadOnly: true)
            #expect(try await app.listPosts(unread).posts.map(\.id) == [ids[1]] + ids[3...])
            #expect(try await other.listPosts(unread).posts.map(\.id) == ids)
            #expect(try await app.mark([ids[0]], as: .unread, in: "posts") == 5)
            await app.close()

            // Launched again on the same device, then with a person.
            let again = try await service.launch { $0.clientID = phone }
            #expect(try await again.listPosts(unread).posts.count == 5)
            try await again.signUp(email: "ann@example.org", password: "secret1")
            #expect(try await again.listPosts(unread).posts.map(\.id) == ids)
            #expect(try await again.mark(through: ids[5], as: .read, in: "posts") == 0)
            try await again.signOut()
            #expect(try await again.listPosts(unread).posts.count == 5)
            await again.close()
            await other.close()
        }
    }

    @Test func aPostIsDismissedAllAreAndComeBack() async throws {
        try await AppService.run { service in
            let app = try await service.launch { $0.clientID = ClientID() }
            let ids = try await Self.importPosts(5, over: app)
            try await app.mark([ids[1]], as: .dismissed, in: "posts")
            let list = PostList(feed: "posts", order: .top)
            #expect(try await app.listPosts(list).posts.map(\.id) == [ids[0]] + ids[2...])
            try await app.mark(through: ids[4], as: .dismissed, in: "posts")
            #expect(try await app.listPosts(list).posts.isEmpty)
            // A post that comes afterwards is shown.
            let new = try await app.createPost(PostDraft(title: "new"))
            #expect(try await app.listPosts(list).posts.map(\.id) == [new.id])
            let all = PostList(feed: "posts", order: .top, includesDismissed: true)
            #expect(
                try await app.listPosts(all).posts.filter { $0.viewer?.isDismissed == true }.count
                    == 5
            )
            // Undo.
            try await app.mark(through: ids[4], as: .restored, in: "posts")
            #expect(try await app.listPosts(list).posts.count == 6)
            await app.close()
        }
    }

    @Test func aPullShowsWhatIsNewerAndPagesGoOnBelow() async throws {
        try await AppService.run { service in
            let app = try await service.launch { $0.clientID = ClientID() }
            let ids = try await Self.importPosts(45, over: app)
            let first = try await app.listPosts(in: "posts", order: .new)
            #expect(first.posts.map(\.id) == Array(ids.reversed().prefix(20)))
            let new = try await app.createPost(PostDraft(title: "new"))
            let refresh = try #require(first.refresh)
            let newer = try await app.listPosts(in: "posts", order: .new, from: .token(refresh))
            #expect(newer.posts.contains { $0.id == new.id })
            // The pages below stay where they were.
            var rows = first.posts.map(\.id)
            var next = first.next
            while let token = next {
                let page = try await app.listPosts(in: "posts", order: .new, from: .token(token))
                rows += page.posts.map(\.id)
                next = page.next
            }
            #expect(rows == ids.reversed())
            await app.close()
        }
    }

    @Test func aVoteIsOneBallotAPerson() async throws {
        try await AppService.run { service in
            let app = try await service.launch { $0.clientID = ClientID() }
            try await app.createFeed(
                Feed(name: "people", defaultOrder: .hot, voteMode: .ballot, voters: .devices)
            )
            let post = try await app.createPost(PostDraft(title: "once"), in: "people")
            for _ in 0..<3 { #expect(try await app.vote(on: post.id, .up).score == 1) }
            #expect(try await app.vote(on: post.id, .down).score == -1)
            #expect(try await app.getPost(post.id).viewer?.vote == .down)
            #expect(try await app.vote(on: post.id, .clear).score == 0)
            await app.close()
        }
    }
}

/// The app Reddit where there is no network: a database on the phone comes first.
@Suite(.timeLimit(.minutes(10))) struct RedditAppOfflineTests {
    @Test func theListIsThereWithoutANetworkAndFollowsLater() async throws {
        try await AppService.run { service in
            let folder = try TemporaryDirectory()
            let web = try await service.launch()
            let post = try await web.createPost(PostDraft(title: "first"))
            var feed = try await OfflineFeed.open(service.offline(folder))
            try await feed.sync()
            await feed.close()

            // In a tunnel the app is started anew.
            await service.kill()
            feed = try await OfflineFeed.open(service.offline(folder))
            var rows = feed.changes.makeAsyncIterator()
            let list = PostList(feed: "posts", order: .hot)
            #expect(try await feed.posts(list).posts.map(\.title) == ["first"])
            try await feed.vote(on: post.id, .up)
            #expect(await rows.next()?.changedPosts == [post.id])
            #expect(try await feed.post(post.id)?.score == 1)
            try await feed.createPost(PostDraft(title: "from the tunnel"))
            try await feed.mark([post.id], as: .dismissed)
            #expect(try await feed.posts(list).posts.map(\.title) == ["from the tunnel"])
            await #expect(throws: OfflineError.self) { try await feed.sync() }

            // Behind it everything is sent once.
            try await service.start()
            #expect(try await feed.sync().sentCount == 3)
            #expect(try await feed.sync().sentCount == 0)
            #expect(try await web.getPost(post.id).score == 1)
            let titles = try await web.listPosts(in: "posts", order: .new).posts.map(\.title)
            #expect(titles == ["from the tunnel", "first"])
            #expect(try await feed.posts(list).posts.map(\.title) == ["from the tunnel"])

            // A deletion elsewhere reaches the copy.
            try await web.deletePost(post.id)
            #expect(try await feed.sync().removedPostCount == 1)
            await feed.close()
            await web.close()
        }
    }

    @Test func picturesAreLoadedOnceAndKept() async throws {
        try await AppService.run { service in
            let app = try await service.launch()
            let url = "https://example.org/small.png"
            _ = try await app.createPost(PostDraft(title: "with", thumbnailURL: url))
            _ = try await app.createPost(PostDraft(title: "without"))
            let loads = Locked(0)
            let images = ImageCache(byteCount: 1 << 20) { _ in
                loads.withLock { $0 += 1 }
                return [1, 2, 3]
            }
            var pictures: [[UInt8]?] = []
            for _ in 0..<2 {
                for post in try await app.listPosts(in: "posts", order: .old).posts {
                    pictures.append(try await images.image(post.thumbnailURL))
                }
            }
            #expect(pictures == [[1, 2, 3], nil, [1, 2, 3], nil])
            #expect(loads.withLock { $0 } == 1)
            await app.close()
        }
    }
}

extension AppService {
    /// The app's database in a folder of the phone.
    func offline(_ folder: TemporaryDirectory) -> OfflineConfiguration {
        OfflineConfiguration(path: folder.path + "/feed.db", address: address)
    }
}
