import FeedClient
import FeedOffline
import FeedProto
import FeedTestSupport
import Testing

/// The app Reddit where there is no network: a database on the phone comes first.
@Suite(.timeLimit(.minutes(10)))
struct RedditAppOfflineTests {
    @Test func theListIsThereWithoutANetworkAndFollowsLater() async throws {
        try await AppService.run { service in
            let folder = try TemporaryDirectory()
            let web = try await service.launch()
            let post = try await web.createPost(Post(title: "first"))
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
            try await feed.createPost(Post(title: "from the tunnel"))
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
            _ = try await app.createPost(Post(title: "with", thumbnailURL: url))
            _ = try await app.createPost(Post(title: "without"))
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
