import FeedClient
import FeedProto
import Testing

/// The app CLReddit: posts with a title and votes, one list.
@Suite(.timeLimit(.minutes(10))) struct CLRedditTests {
    @Test func twentyPostsWithNamesOfFruitAreThereAtTheStart() async throws {
        try await AppService.run("--sample-data") { service in
            let app = try await service.launch()
            let page = try await app.listPosts(in: "posts", order: .top)
            #expect(page.posts.count == 20)
            #expect(page.totalSize == 20)
            // No post has a vote yet, so the titles decide.
            #expect(page.posts.first?.title == "Apple")
            #expect(page.posts.last?.title == "Strawberry")
            #expect(page.posts.map(\.title) == page.posts.map(\.title).sorted())
            await app.close()
        }
    }

    @Test func theMostVotesAreFirstThenTheTitles() async throws {
        try await AppService.run { service in
            let app = try await service.launch()
            var ids: [String: UInt64] = [:]
            for title in ["b", "d", "a", "c"] {
                ids[title] = try await app.createPost(PostDraft(title: title)).id
            }
            try await app.vote(on: #require(ids["d"]), .up)
            try await app.vote(on: #require(ids["a"]), .down)
            let page = try await app.listPosts(in: "posts", order: .top)
            #expect(page.posts.map(\.title) == ["d", "b", "c", "a"])
            #expect(page.posts.map(\.score) == [1, 0, 0, -1])
            await app.close()
        }
    }

    @Test func titlesMayBeEqualOrBlankAndHave255Characters() async throws {
        try await AppService.run { service in
            let app = try await service.launch()
            let flag = "\u{1F1E9}\u{1F1EA}"
            for title in ["twice", "twice", "   ", String(repeating: "é", count: 255), flag] {
                let created = try await app.createPost(PostDraft(title: title))
                #expect(try await app.getPost(created.id).title == title)
            }
            let status = await expectRefusal(.titleTooLong) { () throws(FeedClientError) in
                try await app.createPost(PostDraft(title: String(repeating: "x", count: 256)))
            }
            #expect(status?.violations.first?.limit == 255)
            #expect(status?.violations.first?.actual == 256)
            await app.close()
        }
    }

    @Test func aVoteChangesItsRowOnlyAndAReloadSortsAnew() async throws {
        try await AppService.run("--sample-data") { service in
            let app = try await service.launch()
            var rows = try await app.listPosts(in: "posts", order: .top).posts
            let last = try #require(rows.last)
            for votes in 1...3 {
                let counts = try await app.vote(on: last.id, .up)
                #expect(counts.postID == last.id)
                #expect(counts.score == Int64(votes))
                rows[rows.count - 1].score = counts.score
            }
            // What the reload shows is what the row showed, now in the first place.
            let reloaded = try await app.listPosts(in: "posts", order: .top).posts
            #expect(reloaded.first?.id == last.id)
            #expect(reloaded.first?.score == rows.last?.score)
            #expect(reloaded.dropFirst().map(\.id) == rows.dropLast().map(\.id))
            await app.close()
        }
    }

    @Test func theVotesOfOthersChangeTheirRowsAndTheOrderStays() async throws {
        try await AppService.run("--sample-data") { service in
            let app = try await service.launch()
            let others = try await service.launch()
            let watch = app.watch(PostWatch(.top(20), in: "posts", order: .top))
            var elements = watch.makeAsyncIterator()
            let first = try #require(try await elements.next())
            let last = try #require(first.rows.last)
            for _ in 1...3 { try await others.vote(on: last.id, .up) }
            var posts = first
            while posts.rows[19].score < 3 { posts = try #require(try await elements.next()) }
            #expect(posts.rows.map(\.id) == first.rows.map(\.id))
            #expect(posts.rows.dropLast() == first.rows.dropLast())
            #expect(posts.hasNewOrder)
            // The Reload button asks for the order of now.
            watch.refresh()
            while posts.hasNewOrder { posts = try #require(try await elements.next()) }
            #expect(posts.rows.first?.id == last.id)
            #expect(posts.rows == (try await app.listPosts(in: "posts", order: .top).posts))
            await app.close()
            await others.close()
        }
    }
}
