import FeedClient
import FeedProto
import Testing

/// The app reddit (MVVM): a repository of posts, and the top 20.
@MainActor @Suite(.timeLimit(.minutes(10))) struct RedditMVVMTests {
    @Test func aRepositoryFindsListsAddsUpdatesAndDeletes() async throws {
        try await AppService.run { service in
            // Without accounts, the callers of a service on the loopback address may edit any post.
            let client = try await service.launch()
            let app = RedditMVVMData(client)
            let added = try #require(await app.add(title: "first", text: "words"))
            #expect(await app.find(added.id) == added)
            await app.add(title: "second")

            let edited = await app.update(added) { $0.title = "first, edited" }
            #expect(edited?.title == "first, edited")
            #expect(edited?.text == "words")
            #expect(app.message == nil)
            // Somebody else has edited it: the old revision is refused, and nothing is lost.
            #expect(await app.update(added) { $0.title = "first, late" } == nil)
            #expect(app.message == Reason.revisionMismatch.text)
            #expect(await app.find(added.id)?.title == "first, edited")

            try await onScreen(app.follow) {
                try await shown { app.rows.map(\.title) == ["first, edited", "second"] }
                await app.delete(added)
                try await shown { app.rows.map(\.title) == ["second"] }
            }
            app.message = nil
            await app.delete(added)
            #expect(app.message == nil)
            #expect(await app.find(added.id) == nil)
            #expect(app.message == "This post is not there any more.")
            #expect(try await client.listPosts(in: "posts", order: .new).totalSize == 1)
            await client.close()
        }
    }

    @Test func theListIsTheTopTwenty() async throws {
        try await AppService.run { service in
            let client = try await service.launch()
            let app = RedditMVVMData(client)
            var posts: [Post] = []
            for number in 0..<25 {
                posts.append(try #require(await app.add(title: "post \(number)")))
            }
            for (place, post) in posts.enumerated() {
                for _ in 0..<place { await app.vote(on: post, .up) }
            }
            try await onScreen(app.follow) {
                try await shown { !app.rows.isEmpty }
                #expect(app.rows.map(\.id) == posts.reversed().prefix(20).map(\.id))
                #expect(app.rows.first?.score == 24)
            }
            await client.close()
        }
    }

    @Test func titlesMayBeEmptyAndErrorsSayWhatToTellTheUser() async throws {
        try await AppService.run { service in
            let client = try await service.launch()
            let app = RedditMVVMData(client)
            let untitled = try #require(await app.add(title: ""))
            #expect(untitled.title == "")
            #expect(await app.add(title: String(repeating: "t", count: 300)) == nil)
            #expect(app.message == "The title is too long.")
            let tooLong = await expectRefusal(.titleTooLong) { () throws(FeedClientError) in
                try await client.createPost(PostDraft(title: String(repeating: "t", count: 300)))
            }
            #expect(tooLong?.code == .invalidArgument)
            #expect(tooLong?.message.contains("300") == true)
            #expect(tooLong?.message.contains("255") == true)
            #expect(tooLong?.violations.map(\.field) == ["post.title"])
            await app.delete(untitled)
            await app.vote(on: untitled, .up)
            #expect(app.message == "This post is not there any more.")
            let missing = await expectRefusal(.postNotFound) { () throws(FeedClientError) in
                try await client.vote(on: untitled.id, .up)
            }
            #expect(missing?.code == .notFound)
            await client.close()
        }
    }

    @Test func repeatedPressesCountAndTheListStaysWhileVoting() async throws {
        try await AppService.run { service in
            let client = try await service.launch()
            let app = RedditMVVMData(client)
            var posts: [Post] = []
            for number in 0..<30 {
                let title = "p\(number / 10)\(number % 10)"
                posts.append(try #require(await app.add(title: title)))
            }
            let ids = posts.map(\.id)
            try await onScreen(app.follow) {
                try await shown { !app.rows.isEmpty }
                // Another screen reads the list page by page.
                let list = PostList(feed: "posts", order: .top, consistency: .stable)
                let first = try await client.listPosts(list, pageSize: 10)
                // The button is pressed again and again; the post would be first in a new list.
                for press in 1...40 { await app.vote(on: posts[29], press % 8 == 0 ? .down : .up) }
                #expect(app.message == nil)
                let counted = await app.find(ids[29])
                #expect((counted?.upvoteCount, counted?.downvoteCount) == (35, 5))
                #expect(app.rows.map(\.id) == Array(ids.prefix(20)))
                let second = try #require(try await client.next(after: first))
                #expect(second.consistency == .stable)
                #expect(first.posts.map(\.id) + second.posts.map(\.id) == Array(ids.prefix(20)))
                // Adding a post, or pulling to refresh, sorts the list anew.
                let added = try #require(await app.add(title: "added"))
                try await shown { app.rows.first?.id == ids[29] }
                #expect(app.rows.contains { $0.id == added.id })
            }
            await client.close()
        }
    }

    @Test func theListStaysWhileTheUserVotesAndSaysWhatIsNew() async throws {
        try await AppService.run { service in
            let client = try await service.launch()
            let others = try await service.launch()
            let app = RedditMVVMData(client)
            for title in ["a", "b", "c"] { await app.add(title: title) }
            try await onScreen(app.follow) {
                try await shown { !app.rows.isEmpty }
                let first = app.rows
                #expect(first.map(\.title) == ["a", "b", "c"])
                for press in 1...8 { await app.vote(on: first[2], press == 8 ? .down : .up) }
                try await others.createPost(PostDraft(title: "added"), in: "posts")
                try await shown { app.newPostCount == 1 && app.rows[2].downvoteCount == 1 }
                #expect(app.rows.map(\.id) == first.map(\.id))
                #expect(app.rows[2].score == 6)
                app.refresh()
                try await shown { app.rows.map(\.title) == ["c", "a", "added", "b"] }
                #expect(app.newPostCount == 0)
            }
            await client.close()
            await others.close()
        }
    }
}
