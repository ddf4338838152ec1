import FeedClient
import FeedOffline
import FeedProto
import FeedSQLite
import FeedTestSupport
import Testing

/// Which entries of the outbox lists show.
@Suite(.timeLimit(.minutes(10)))
struct OutboxShownTests {
    @Test func aPostThatWasRefusedIsShownOnceItIsSentAgain() async throws {
        try await TestService.run { service in
            try await service.withFeed { feed async throws in
                let title = String(repeating: "x", count: 300)
                let entry = try await feed.createPost(Post(title: title))
                let made = try #require(try await feed.titled(title))
                #expect(made.id == entry.localPostID)
                var reader = feed.changes.makeAsyncIterator()
                #expect(try await feed.sync().failedCount == 1)
                #expect(await reader.next()?.removedPosts == [made.id])
                #expect(try await feed.post(made.id) == nil)
                #expect(try await feed.posts(PostList(order: .new)).posts.isEmpty)
                #expect(try await feed.postCount() == 0)
                // A vote on it waits, and does not show it.
                try await feed.vote(on: made.id, .up)
                #expect(try await feed.postCount() == 0)

                try await feed.resend(entry.number)
                let again = try #require(try await feed.titled(title))
                #expect(again.id == made.id)
                #expect(again.createTimeMilliseconds == made.createTimeMilliseconds)
                #expect(again.score == 1)
            }
        }
    }

    @Test func anEditThatWasRefusedIsTakenBack() async throws {
        try await TestService.run { service in
            let id = try await service.withClient { try await $0.createPost(Post(title: "old")).id }
            try await service.withFeed { feed async throws in
                try await feed.sync()
                let long = String(repeating: "x", count: 300)
                let entry = try await feed.updatePost(Post(id: id, title: long), fields: [.title])
                #expect(try await feed.post(id)?.title == long)
                #expect(try await feed.sync().failedCount == 1)
                #expect(try await feed.post(id)?.title == "old")
                try await feed.resend(entry.number)
                #expect(try await feed.post(id)?.title == long)
            }
        }
    }

    /// Swift takes both titles for equal; the service and SQLite compare bytes.
    @Test func anEditOfTheBytesAloneIsShownAndSorted() async throws {
        try await TestService.run { service in
            let (composed, apart) = ("\u{e9}", "e\u{301}")
            let ids = try await service.withClient { client async throws in
                let last = try await client.createPost(Post(title: composed)).id
                return [last, try await client.createPost(Post(title: apart)).id]
            }
            try await service.withFeed { feed async throws in
                try await feed.sync()
                let top = PostList(order: .top)
                #expect(try await feed.posts(top).posts.map(\.id) == [ids[1], ids[0]])
                try await feed.updatePost(Post(id: ids[0], title: apart), fields: [.title])
                let shown = try #require(try await feed.post(ids[0]))
                #expect(Array(shown.title.utf8) == Array(apart.utf8))
                #expect(try await feed.posts(top).posts.map(\.id) == ids)
            }
        }
    }

    @Test func listsShowTheChangesOfTheOneWhoHasSignedIn() async throws {
        try await Device.run { device in
            let id = try await device.service.withClient { client async throws in
                try await client.createFeed(
                    Feed(name: "polls", voteMode: .ballot, voters: .users)
                )
                return try await client.createPost(Post(title: "poll"), in: "polls").id
            }
            try await device.signIn("bob")
            _ = try await device.withClient { try await $0.vote(on: id, .up) }
            try await device.signIn("ann")
            try await device.withFeed { feed async throws in
                try await feed.sync()
                try await feed.vote(on: id, .down)
                try await feed.mark(through: id, as: .dismissed)
                try await feed.createPost(Post(title: "Ann's"))
                #expect(try await feed.titled("poll") == nil)
                #expect(try await feed.post(id)?.viewer?.vote == .down)
                #expect(try await feed.titled("Ann's") != nil)
            }
            try await device.signIn("bob")
            try await device.withFeed { feed async throws in
                #expect(try await feed.titled("poll")?.score == 1)
                #expect(try await feed.titled("Ann's") == nil)
                #expect(try await feed.sync().otherUserCount == 3)
                #expect(try await feed.titled("poll")?.viewer?.vote == .up)
                #expect(try await feed.titled("poll")?.score == 1)
                #expect(try await feed.titled("Ann's") == nil)
                #expect(try await feed.outbox().count == 3)
            }
            // Ann's changes are there again, before they are sent and after.
            try await device.signIn("ann")
            try await device.withFeed { feed async throws in
                for sentCount in [3, 0] {
                    #expect(try await feed.titled("poll") == nil)
                    #expect(try await feed.post(id)?.viewer?.vote == .down)
                    #expect(try await feed.titled("Ann's") != nil)
                    #expect(try await feed.sync().sentCount == sentCount)
                }
                #expect(try await feed.post(id)?.score == 0)
            }
        }
    }

    @Test func aFileThatShowedTheChangesOfAllShowsThoseOfOne() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/offline.db"
        let sessions = FileSessionStore(path: folder.path + "/session")
        var configuration = OfflineConfiguration(path: path, address: "127.0.0.1:1")
        configuration.client.sessionStore = sessions
        let feed = try await OfflineFeed.open(configuration)
        let mine = try await feed.createPost(Post(title: "the device's")).localPostID
        let token = try #require(Secret(bytes: [UInt8](repeating: 1, count: 32)))
        sessions.save(StoredSession(token: token, userID: 5))
        try await feed.createPost(Post(title: "Ann's"))
        try await feed.vote(on: mine, .up)
        await feed.close()
        sessions.remove()
        // The file as an earlier version has left it.
        try Database(path: path).execute(
            """
            UPDATE posts SET is_gone = 0;
            ALTER TABLE identity DROP COLUMN shown_user;
            PRAGMA user_version = 2
            """
        )
        let again = try await OfflineFeed.open(configuration)
        #expect(again.notice == nil)
        let posts = try await again.posts(PostList(order: .new)).posts
        #expect(posts.map(\.title) == ["the device's"])
        #expect(posts.map(\.score) == [0])
        #expect(try await again.outbox().count == 3)
        await again.close()
    }

    @Test func noChangeNamesThePostZero() async throws {
        let folder = try TemporaryDirectory()
        let configuration = OfflineConfiguration(
            path: folder.path + "/offline.db",
            address: "127.0.0.1:1"
        )
        let feed = try await OfflineFeed.open(configuration)
        let post = try await feed.createPost(Post(title: "post"))
        let unknown = OfflineError.unknownPost(0)
        await #expect(throws: unknown) { try await feed.vote(on: 0, .up) }
        await #expect(throws: unknown) { try await feed.deletePost(0) }
        await #expect(throws: unknown) { try await feed.mark([post.localPostID, 0], as: .read) }
        await #expect(throws: unknown) {
            try await feed.updatePost(Post(title: "edited"), fields: [.title])
        }
        await #expect(throws: unknown) { try await feed.mark(through: 0, as: .read) }
        #expect(try await feed.outbox().map(\.number) == [post.number])
        await feed.close()
    }

    @Test func onlyAMarkThroughAPostIsOneOfAllPosts() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/offline.db"
        let configuration = OfflineConfiguration(path: path, address: "127.0.0.1:1")
        let feed = try await OfflineFeed.open(configuration)
        let first = try await feed.createPost(Post(title: "first")).localPostID
        let second = try await feed.createPost(Post(title: "second")).localPostID
        try await feed.vote(on: first, .up)
        await feed.close()
        // As an earlier version has left a vote on the post 0.
        try Database(path: path).execute("UPDATE targets SET post = 0")
        let again = try await OfflineFeed.open(configuration)
        try await again.vote(on: second, .up)
        #expect(try await again.post(second)?.score == 1)
        await again.close()
    }
}
