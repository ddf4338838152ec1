import FeedClient
import FeedProto
import Testing

/// The app CLReddit: posts with a title and votes, one list.
@MainActor @Suite(.timeLimit(.minutes(10))) struct CLRedditTests {
    @Test func twentyPostsWithNamesOfFruitAreThereAtTheStart() async throws {
        try await AppService.run("--sample-data") { service in
            let client = try await service.launch()
            let app = CLRedditData(client)
            try await onScreen(app.follow) {
                try await shown { !app.rows.isEmpty }
                #expect(app.rows.count == 20)
                // No post has a vote yet, so the titles decide.
                #expect(app.rows.first?.title == "Apple")
                #expect(app.rows.last?.title == "Strawberry")
                #expect(app.rows.map(\.title) == app.rows.map(\.title).sorted())
            }
            #expect(app.message == nil)
            #expect(try await client.listPosts(in: "posts").totalSize == 20)
            await client.close()
        }
    }

    @Test func theMostVotesAreFirstThenTheTitles() async throws {
        try await AppService.run { service in
            let client = try await service.launch()
            let app = CLRedditData(client)
            try await onScreen(app.follow) {
                for title in ["b", "d", "a", "c"] { await app.add(title: title) }
                try await shown { app.rows.map(\.title) == ["a", "b", "c", "d"] }
                // A reload that is still under way may sort the rows after the first vote.
                let first = app.rows
                await app.vote(on: first[3], .up)
                await app.vote(on: first[0], .down)
                app.reload()
                try await shown { app.rows.map(\.title) == ["d", "b", "c", "a"] }
                #expect(app.rows.map(\.score) == [1, 0, 0, -1])
            }
            await client.close()
        }
    }

    @Test func titlesMayBeEqualOrBlankAndHave255Characters() async throws {
        try await AppService.run { service in
            let client = try await service.launch()
            let app = CLRedditData(client)
            let flag = "\u{1F1E9}\u{1F1EA}"
            let titles = ["twice", "twice", "   ", String(repeating: "é", count: 255), flag]
            try await onScreen(app.follow) {
                for title in titles { await app.add(title: title) }
                #expect(app.message == nil)
                try await shown { app.rows.map(\.title).sorted() == titles.sorted() }
                await app.add(title: String(repeating: "x", count: 256))
                #expect(app.message == "The title is too long.")
            }
            let status = await expectRefusal(.titleTooLong) { () throws(FeedClientError) in
                try await client.createPost(PostDraft(title: String(repeating: "x", count: 256)))
            }
            #expect(status?.violations.first?.limit == 255)
            #expect(status?.violations.first?.actual == 256)
            await client.close()
        }
    }

    @Test func aVoteChangesItsRowOnlyAndAReloadSortsAnew() async throws {
        try await AppService.run("--sample-data") { service in
            let client = try await service.launch()
            let app = CLRedditData(client)
            try await onScreen(app.follow) {
                try await shown { !app.rows.isEmpty }
                let first = app.rows
                for votes in 1...3 {
                    await app.vote(on: first[19], .up)
                    try await shown { app.rows[19].score == votes }
                    #expect(app.rows.map(\.id) == first.map(\.id))
                }
                #expect(app.rows.dropLast() == first.dropLast())
                // What the reload shows is what the row showed, now in the first place.
                app.reload()
                try await shown { app.rows.first?.id == first[19].id }
                #expect(app.rows.first?.score == 3)
                #expect(app.rows.dropFirst().map(\.id) == first.dropLast().map(\.id))
            }
            await client.close()
        }
    }

    @Test func theVotesOfOthersChangeTheirRowsAndTheOrderStays() async throws {
        try await AppService.run("--sample-data") { service in
            let client = try await service.launch()
            let others = try await service.launch()
            let app = CLRedditData(client)
            try await onScreen(app.follow) {
                try await shown { !app.rows.isEmpty }
                let first = app.rows
                for _ in 1...3 { try await others.vote(on: first[19].id, .up) }
                try await shown { app.rows[19].score == 3 }
                #expect(app.rows.map(\.id) == first.map(\.id))
                #expect(app.rows.dropLast() == first.dropLast())
                // The Reload button asks for the order of now.
                app.reload()
                try await shown { app.rows.first?.id == first[19].id }
                #expect(app.rows == (try await others.listPosts(in: "posts", order: .top).posts))
            }
            await client.close()
            await others.close()
        }
    }
}
