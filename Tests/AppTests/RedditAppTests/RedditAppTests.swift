import FeedClient
import FeedOffline
import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// The Reddit app: a database on the phone comes first, and rows have pictures, are read and dismissed.
@MainActor @Suite(.timeLimit(.minutes(10))) struct RedditAppTests {
    private static let top = PostList(feed: "posts", order: .top)
    private static let unread = PostList(feed: "posts", order: .top, unreadOnly: true)

    /// Posts of others, imported as they were.
    private static func importPosts(_ count: Int, over client: FeedClient) async throws -> [PostID]
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

    /// The app on a phone, which is a folder.
    private static func launch(
        on phone: TemporaryDirectory,
        _ service: AppService,
        images: ImageCache = ImageCache(byteCount: 0) { _ in [] }
    ) async throws -> RedditAppData {
        var configuration = OfflineConfiguration(
            path: phone.path + "/feed.db",
            address: service.address
        )
        configuration.client = .patient
        configuration.client.sessionStore = FileSessionStore(path: phone.path + "/session")
        return try await RedditAppData(configuration, images: images)
    }

    /// What the service says to the phone.
    private static func client(
        as app: RedditAppData,
        _ service: AppService
    ) async throws -> FeedClient {
        let id = try await app.feed.clientID()
        return try await service.launch { $0.clientID = id }
    }

    @Test func aRowHasAuthorDatePicturesAndComments() async throws {
        try await AppService.run { service in
            let phone = try TemporaryDirectory()
            let web = try await service.launch()
            let ids = try await Self.importPosts(4, over: web)
            let app = try await Self.launch(on: phone, service)
            await app.sync()
            await app.show(Self.top)
            #expect(app.rows.map(\.id) == ids)
            let row = try #require(app.rows.last)
            #expect(row.author?.displayName == "author 3")
            #expect(row.createTime.timeIntervalSince1970 == 1_700_000_003)
            #expect(row.commentCount == 3)
            #expect(row.imageURL == "https://example.org/i3.png")
            // No thumbnail is an empty URL.
            #expect(app.rows.map(\.thumbnailURL.isEmpty) == [true, false, false, true])
            await app.feed.close()
            await web.close()
        }
    }

    @Test func whatIsUnreadIsTheDevicesOwnUntilAPersonSignsIn() async throws {
        try await AppService.run { service in
            let (phone, tablet) = (try TemporaryDirectory(), try TemporaryDirectory())
            let web = try await service.launch()
            let ids = try await Self.importPosts(6, over: web)
            let app = try await Self.launch(on: phone, service)
            await app.sync()
            await app.show(Self.top)
            await app.mark(app.rows[0], as: .read)
            await app.mark(app.rows[2], as: .read)
            #expect(app.unreadCount == 4)
            #expect(app.rows.map { $0.viewer?.isRead } == [true, false, true, false, false, false])
            await app.show(Self.unread)
            #expect(app.rows.map(\.id) == [ids[1]] + ids[3...])
            await app.sync()
            let device = try await Self.client(as: app, service)
            #expect(try await device.listPosts(Self.unread).posts.map(\.id) == [ids[1]] + ids[3...])
            let other = try await Self.launch(on: tablet, service)
            await other.sync()
            await other.show(Self.unread)
            #expect(other.rows.map(\.id) == ids)
            await other.feed.close()
            await app.show(Self.top)
            await app.mark(app.rows[0], as: .unread)
            #expect(app.unreadCount == 5)
            await app.feed.close()

            // Launched again on the same phone, then with a person.
            let again = try await Self.launch(on: phone, service)
            await again.show(Self.unread)
            #expect(again.rows.count == 5)
            await again.sync()
            await again.signIn(email: "ann@example.org", password: "secret1")
            #expect(again.user?.displayName == "ann")
            #expect(again.rows.map(\.id) == ids)
            await again.markAll(as: .read)
            #expect(again.unreadCount == 0)
            await again.sync()
            await again.signOut()
            #expect(again.user == nil)
            #expect(again.rows.count == 5)
            #expect(try await device.listPosts(Self.unread).posts.count == 5)
            try await device.signIn(email: "ann@example.org", password: "secret1")
            #expect(try await device.listPosts(Self.unread).posts.isEmpty)
            #expect((app.message, other.message, again.message) == (nil, nil, nil))
            await again.feed.close()
            await device.close()
            await web.close()
        }
    }

    @Test func aPostIsDismissedAllAreAndComeBack() async throws {
        try await AppService.run { service in
            let phone = try TemporaryDirectory()
            let web = try await service.launch()
            let ids = try await Self.importPosts(5, over: web)
            let app = try await Self.launch(on: phone, service)
            await app.sync()
            await app.show(Self.top)
            let second = app.rows[1]
            await app.mark(second, as: .dismissed)
            #expect(app.rows.map(\.id) == [ids[0]] + ids[2...])
            await app.mark(second, as: .restored)
            #expect(app.rows.map(\.id) == ids)
            await app.mark(second, as: .dismissed)
            await app.markAll(as: .dismissed)
            #expect(app.rows.isEmpty)
            // A post that comes afterwards is shown.
            let new = try await web.createPost(PostDraft(title: "new"))
            await app.refresh()
            #expect(app.rows.map(\.id) == [new.id])
            let device = try await Self.client(as: app, service)
            #expect(try await device.listPosts(Self.top).posts.map(\.id) == [new.id])
            let all = PostList(feed: "posts", order: .top, includesDismissed: true)
            await app.show(all)
            #expect(app.rows.count { $0.viewer?.isDismissed == true } == 5)
            // Undo.
            await app.show(Self.top)
            await app.markAll(as: .restored)
            #expect(app.rows.count == 6)
            await app.sync()
            #expect(try await device.listPosts(Self.top).posts.count == 6)
            #expect(app.message == nil)
            await app.feed.close()
            await device.close()
            await web.close()
        }
    }

    @Test func aPullShowsWhatIsNewerAndPagesGoOnBelow() async throws {
        try await AppService.run { service in
            let phone = try TemporaryDirectory()
            let web = try await service.launch()
            let ids = try await Self.importPosts(45, over: web)
            let app = try await Self.launch(on: phone, service)
            await app.sync()
            await app.show(PostList(feed: "posts", order: .new))
            #expect(app.rows.map(\.id) == Array(ids.reversed().prefix(20)))
            let new = try await web.createPost(PostDraft(title: "new"))
            await app.sync()
            // The pages below stay where they were.
            while app.rows.count < 45 { await app.showMore() }
            await app.showMore()
            #expect(app.rows.map(\.id) == ids.reversed())
            await app.refresh()
            #expect(app.rows.map(\.id) == [new.id] + ids.reversed().prefix(19))
            #expect(app.message == nil)
            await app.feed.close()
            await web.close()
        }
    }

    @Test func aVoteIsOneBallotAPerson() async throws {
        try await AppService.run { service in
            let phone = try TemporaryDirectory()
            let web = try await service.launch()
            try await web.createFeed(
                Feed(name: "people", defaultOrder: .hot, voteMode: .ballot, voters: .devices)
            )
            let post = try await web.createPost(PostDraft(title: "once"), in: "people")
            let app = try await Self.launch(on: phone, service)
            await app.sync()
            await app.show(PostList(feed: "people", order: .new))
            try await onScreen(app.follow) { () async throws in
                for _ in 0..<3 { await app.vote(on: post, .up) }
                try await shown { app.rows.first?.score == 1 }
                await app.sync()
                #expect(try await web.getPost(post.id).score == 1)
                await app.vote(on: post, .down)
                try await shown { app.rows.first?.score == -1 }
                #expect(app.rows.first?.viewer?.vote == .down)
                await app.sync()
                #expect(try await web.getPost(post.id).score == -1)
                await app.vote(on: post, .clear)
                await app.sync()
                #expect(try await web.getPost(post.id).score == 0)
            }
            #expect(app.message == nil)
            await app.feed.close()
            await web.close()
        }
    }

    @Test func theListIsThereWithoutANetworkAndFollowsLater() async throws {
        try await AppService.run { service in
            let phone = try TemporaryDirectory()
            let web = try await service.launch()
            let post = try await web.createPost(PostDraft(title: "first"))
            var app = try await Self.launch(on: phone, service)
            await app.sync()
            await app.feed.close()

            // In a tunnel the app is started anew.
            await service.kill()
            app = try await Self.launch(on: phone, service)
            await app.show(PostList(feed: "posts", order: .hot))
            #expect(app.rows.map(\.title) == ["first"])
            try await onScreen(app.follow) {
                await app.vote(on: post, .up)
                try await shown { app.rows.first?.score == 1 }
                await app.write(PostDraft(title: "from the tunnel"))
                await app.mark(post, as: .dismissed)
                #expect(app.rows.map(\.title) == ["from the tunnel"])
                await app.sync()
                #expect(app.message == Reason.noConnection.text)

                // Behind it everything is sent once.
                try await service.start()
                app.message = nil
                await app.sync()
                #expect(try await app.feed.outbox().isEmpty)
                await app.refresh()
                #expect(try await web.getPost(post.id).score == 1)
                let posts = try await web.listPosts(in: "posts", order: .new).posts
                #expect(posts.map(\.title) == ["from the tunnel", "first"])
                #expect(app.rows.map(\.id) == [posts[0].id])

                // A deletion elsewhere takes the row away, and a refusal is told once.
                try await web.deletePost(posts[0].id)
                await app.sync()
                try await shown { app.rows.isEmpty }
                #expect(app.message == nil)
                await app.write(PostDraft(title: String(repeating: "x", count: 300)))
                await app.refresh()
                #expect(app.message == "The title is too long.")
                #expect(app.rows.isEmpty)
                app.message = nil
                await app.refresh()
                #expect(app.message == nil)
            }
            await app.feed.close()
            await web.close()
        }
    }

    @Test func picturesAreLoadedOnceAndKept() async throws {
        try await AppService.run { service in
            let phone = try TemporaryDirectory()
            let web = try await service.launch()
            let url = "https://example.org/small.png"
            _ = try await web.createPost(PostDraft(title: "with", thumbnailURL: url))
            _ = try await web.createPost(PostDraft(title: "without"))
            let loads = Locked(0)
            let images = ImageCache(byteCount: 1 << 20) { _ in
                loads.withLock { $0 += 1 }
                return [1, 2, 3]
            }
            let app = try await Self.launch(on: phone, service, images: images)
            await app.sync()
            await app.show(PostList(feed: "posts", order: .old))
            var pictures: [[UInt8]?] = []
            for row in app.rows + app.rows { pictures.append(await app.thumbnail(of: row)) }
            #expect(pictures == [[1, 2, 3], nil, [1, 2, 3], nil])
            #expect(loads.withLock { $0 } == 1)
            await app.feed.close()
            await web.close()
        }
    }
}
