import FeedClient
import FeedProto
import Testing

/// The app reddit (MVVM): a repository of posts, and the top 20.
@Suite(.timeLimit(.minutes(10))) struct RedditMVVMTests {
    @Test func aRepositoryFindsListsAddsUpdatesAndDeletes() async throws {
        try await AppService.run { service in
            // Without accounts, the callers of a service on the loopback address may edit any post.
            let repository = try await service.launch()
            let added = try await repository.createPost(PostDraft(title: "first", text: "words"))
            #expect(try await repository.getPost(added.id) == added)
            _ = try await repository.createPost(PostDraft(title: "second"))
            #expect(try await repository.listPosts(in: "posts", order: .new).totalSize == 2)

            let edited = try await repository.editPost(added) { $0.title = "first, edited" }
            #expect(edited.title == "first, edited")
            #expect(edited.text == "words")
            // Somebody else has edited it: the old revision is refused, and nothing is lost.
            await expectRefusal(.revisionMismatch) { () throws(FeedClientError) in
                try await repository.editPost(added) { $0.title = "first, late" }
            }

            try await repository.deletePost(added.id)
            try await repository.deletePost(added.id)
            await expectRefusal(.postNotFound) { () throws(FeedClientError) in
                try await repository.getPost(added.id)
            }
            let left = try await repository.listPosts(in: "posts", order: .new).posts
            #expect(left.map(\.title) == ["second"])
            await repository.close()
        }
    }

    @Test func theListIsTheTopTwenty() async throws {
        try await AppService.run { service in
            let app = try await service.launch()
            var ids: [UInt64] = []
            for number in 0..<25 {
                ids.append(try await app.createPost(PostDraft(title: "post \(number)")).id)
            }
            for (place, id) in ids.enumerated() {
                for _ in 0..<place { try await app.vote(on: id, .up) }
            }
            let page = try await app.listPosts(in: "posts", order: .top)
            #expect(page.posts.map(\.id) == Array(ids.reversed().prefix(20)))
            #expect(page.posts.first?.score == 24)
            await app.close()
        }
    }

    @Test func titlesMayBeEmptyAndErrorsSayWhatToTellTheUser() async throws {
        try await AppService.run { service in
            let app = try await service.launch()
            #expect(try await app.createPost(PostDraft(title: "")).title == "")
            let tooLong = await expectRefusal(.titleTooLong) { () throws(FeedClientError) in
                try await app.createPost(PostDraft(title: String(repeating: "t", count: 300)))
            }
            #expect(tooLong?.code == .invalidArgument)
            #expect(tooLong?.message.contains("300") == true)
            #expect(tooLong?.message.contains("255") == true)
            #expect(tooLong?.violations.map(\.field) == ["post.title"])
            let missing = await expectRefusal(.postNotFound) { () throws(FeedClientError) in
                try await app.vote(on: 77, .up)
            }
            #expect(missing?.code == .notFound)
            await app.close()
        }
    }

    @Test func repeatedPressesCountAndTheListStaysWhileVoting() async throws {
        try await AppService.run { service in
            let app = try await service.launch()
            var ids: [UInt64] = []
            for number in 0..<30 {
                ids.append(
                    try await app.createPost(PostDraft(title: "p\(number / 10)\(number % 10)")).id
                )
            }
            let list = PostList(feed: "posts", order: .top, consistency: .stable)
            let first = try await app.listPosts(list, pageSize: 10)
            // The button is pressed again and again; the post would be first in a new list.
            for press in 1...40 {
                let counts = try await app.vote(on: ids[29], press % 8 == 0 ? .down : .up)
                #expect(counts.upvoteCount + counts.downvoteCount == UInt64(press))
            }
            let next = try #require(first.next)
            let second = try await app.listPosts(list, pageSize: 10, from: .token(next))
            #expect(second.consistency == .stable)
            #expect(first.posts.map(\.id) + second.posts.map(\.id) == Array(ids.prefix(20)))
            // Adding a post, or pulling to refresh, sorts the list anew.
            let added = try await app.createPost(PostDraft(title: "added")).id
            let anew = try await app.listPosts(list, pageSize: 50).posts.map(\.id)
            #expect(anew.first == ids[29])
            #expect(anew.contains(added))
            await app.close()
        }
    }

    @Test func aWatchedListStaysWhileTheUserVotesAndSaysWhatIsNew() async throws {
        try await AppService.run { service in
            let app = try await service.launch()
            var ids: [UInt64] = []
            for title in ["a", "b", "c"] {
                ids.append(try await app.createPost(PostDraft(title: title)).id)
            }
            let watch = app.watch(PostWatch(.top(20), in: "posts", order: .top))
            var elements = watch.makeAsyncIterator()
            var posts = try #require(try await elements.next())
            #expect(posts.rows.map(\.id) == ids)
            for press in 1...8 {
                let counts = try await app.vote(on: ids[2], press == 8 ? .down : .up)
                #expect(counts.upvoteCount + counts.downvoteCount == UInt64(press))
            }
            let added = try await app.createPost(PostDraft(title: "added")).id
            while posts.newPostCount == 0 || posts.rows[2].downvoteCount == 0 {
                posts = try #require(try await elements.next())
                #expect(posts.rows.map(\.id) == ids)
            }
            #expect(posts.rows[2].score == 6)
            #expect(posts.ranking == [ids[2], ids[0], added, ids[1]])
            watch.refresh()
            posts = try #require(try await elements.next())
            #expect(posts.rows.map(\.id) == posts.ranking)
            await app.close()
        }
    }
}
