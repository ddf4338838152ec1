import FeedClient
import FeedProto
import Testing

/// Posts and votes are the same over a connection and in memory.
@Suite(.timeLimit(.minutes(10)))
struct PostConformanceTests {
    @Test(arguments: ClientKind.allCases)
    func createsReadsChangesAndDeletes(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await bench.device()
            let made = try await client.createPost(
                Post(author: User(displayName: "Ada"), title: "Apple", text: "red")
            )
            #expect(made.feed == "posts")
            #expect(made.author?.displayName == "Ada")
            #expect(made.viewer == Viewer())
            #expect(try await client.getPost(made.id) == made)
            var change = made
            change.title = "Pear"
            change.text = "not read"
            let changed = try await client.updatePost(change, fields: [.title])
            #expect(changed.title == "Pear")
            #expect(changed.text == "red")
            #expect(
                await refusal { try await client.updatePost(made, fields: [.title]) }
                    == .revisionMismatch
            )
            // An edit names the revision that the edit before has made; votes are no edits.
            try await client.vote(on: made.id, .up)
            change = changed
            change.title = "Plum"
            #expect(try await client.updatePost(change, fields: [.title]).title == "Plum")
            try await client.deletePost(made.id)
            try await client.deletePost(made.id)
            #expect(await refusal { try await client.getPost(made.id) } == .postNotFound)
            #expect(await refusal { try await client.deletePost(made.id + 9) } == .postNotFound)
        }
    }

    @Test(arguments: ClientKind.allCases)
    func refusesTextsAndAddressesOutOfBounds(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await bench.anonymous()
            let long = String(repeating: "x", count: 256)
            let wrong: [(Post, String, Reason)] = [
                (Post(title: long), "", .titleTooLong),
                (Post(title: String(repeating: Self.bomb, count: 200)), "", .titleTooLong),
                (Post(), "tweets", .textEmpty),
                (Post(text: long), "tweets", .textTooLong),
                (Post(linkURL: "a b"), "", .badURL),
                (Post(linkURL: "javascript:alert(1)"), "", .badURL),
                (Post(linkURL: "data:text/html,x"), "", .badURL),
                (Post(author: User(displayName: long)), "", .nameTooLong),
                (Post(), "none", .feedNotFound),
            ]
            for (post, feed, reason) in wrong {
                let found = await refusal { try await client.createPost(post, in: feed) }
                #expect(found == reason)
            }
            _ = try await client.createPost(Post(title: String(repeating: "é", count: 255)))
            _ = try await client.createPost(Post(title: "   "))
            for link in ["HTTPS://example.org:80/", "/r/a:b", "example.org?a:b", "#a:b", ""] {
                _ = try await client.createPost(Post(linkURL: link))
            }
        }
    }

    /// A letter of 41 bytes.
    private static let bomb = "e" + String(repeating: "\u{301}", count: 20)

    @Test(arguments: ClientKind.allCases)
    func titlesAreAsLongAsTheirFeedSaysInEveryScript(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await bench.anonymous()
            let feed = try await client.createFeed(Feed(name: "long", maximumTitleLength: 1_000))
            #expect(feed.maximumTitleLength == 1_000)
            for (letter, feed, limit) in [
                ("स्त्री", "", 255), ("क्षि", "long", 1_000), ("រី", "long", 1_000), ("x", "long", 1_000),
            ] {
                let longest = String(repeating: letter, count: limit)
                _ = try await client.createPost(Post(title: longest), in: feed)
                let post = Post(title: longest + letter)
                #expect(
                    await refusal { try await client.createPost(post, in: feed) } == .titleTooLong
                )
            }
            let longer = Feed(name: "longer", maximumTitleLength: 1_001)
            #expect(await refusal { try await client.createFeed(longer) } == .badField)
        }
    }

    @Test(arguments: ClientKind.allCases)
    func talliesCountEachVote(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await bench.anonymous()
            let post = try await client.createPost(Post(title: "Apple"))
            try await client.vote(on: post.id, .up)
            #expect(try await client.vote(on: post.id, .up).score == 2)
            let results = try await client.votes([
                CastVoteRequest(postID: post.id, direction: .down),
                CastVoteRequest(postID: 999, direction: .up),
                CastVoteRequest(postID: post.id, direction: .clear),
            ])
            #expect(try results[0].get().score == 1)
            #expect(throws: Status.self) { try results[1].get() }
            #expect(throws: Status.self) { try results[2].get() }
            #expect(await refusal { try await client.vote(on: post.id, .clear) } == .badVote)
            #expect(await refusal { try await client.votes([]) } == .badField)
            let counts = try await client.getPost(post.id)
            #expect((counts.upvoteCount, counts.downvoteCount) == (2, 1))
        }
    }

    @Test(arguments: ClientKind.allCases)
    func ballotsStandOnceForADevice(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let ada = try await bench.device()
            let ben = try await bench.device()
            let nobody = try await bench.anonymous()
            let feed = try await ada.createFeed(Feed(name: "polls", voteMode: .ballot))
            #expect(feed.voters == .devices)
            let post = try await ada.createPost(Post(title: "Apple"), in: "polls")
            try await ada.vote(on: post.id, .up)
            #expect(try await ada.vote(on: post.id, .up).score == 1)
            let counts = try await ben.vote(on: post.id, .down)
            #expect((counts.score, counts.vote) == (0, .down))
            #expect(try await ada.getPost(post.id).viewer?.vote == .up)
            #expect(try await ada.vote(on: post.id, .clear).vote == .unspecified)
            #expect(try await nobody.getPost(post.id).viewer == nil)
            #expect(await refusal { try await nobody.vote(on: post.id, .up) } == .identityRequired)
            try await ada.createFeed(Feed(name: "users", voteMode: .ballot, voters: .users))
            let second = try await ada.createPost(Post(title: "Pear"), in: "users")
            #expect(await refusal { try await ada.vote(on: second.id, .up) } == .identityRequired)
            let user = ada.acting(for: 1 << 63 | 7)
            #expect(try await user.vote(on: second.id, .up).score == 1)
            #expect(try await user.getPost(second.id).viewer?.vote == .up)
        }
    }

    @Test(arguments: ClientKind.allCases)
    func importsWithTimesAndCounts(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await bench.anonymous()
            let ids = try await client.importPosts([
                Post(title: "Apple", upvoteCount: 5, downvoteCount: 2),
                Post(title: "Pear", createTimeMilliseconds: 1_000),
            ])
            let answer = try await client.getPosts([ids[1], 999, ids[0]])
            #expect(answer.posts.map(\.title) == ["Pear", "Apple"])
            #expect(answer.posts.map(\.score) == [0, 3])
            #expect(answer.posts.map(\.createTimeMilliseconds) == [1_000, 0])
            #expect(answer.missingIDs == [999])
            let wrong = Post(title: "Fig", createTimeMilliseconds: -1)
            #expect(await refusal { try await client.importPosts([wrong]) } == .badTime)
        }
    }
}
