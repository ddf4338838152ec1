import FeedClient
import FeedProto
import Testing

/// Every call of the contract against a real service.
@Suite(.timeLimit(.minutes(10)))
struct CallTests {
    @Test func introducesBothAndLearnsTheLimits() async throws {
        try await withClient { client in
            #expect(client.service.serverName.contains("feed-service"))
            #expect(client.service.limits?.maximumInFlightCount == 256)
        }
    }

    @Test func returnsThePayloadOfAPing() async throws {
        try await withClient { client in
            let answer = try await client.ping(payload: [1, 2, 3])
            #expect(answer.payload == [1, 2, 3])
            #expect(answer.serving == .serving)
        }
    }

    @Test func createsReadsChangesAndDeletesAPost() async throws {
        try await withClient { client in
            let made = try await client.createPost(
                Post(author: User(displayName: "Ada"), title: "Apple", text: "red")
            )
            #expect(try await client.getPost(made.id) == made)
            var change = made
            change.title = "Pear"
            change.text = "not read"
            let changed = try await client.updatePost(change, fields: [.title])
            #expect(changed.title == "Pear")
            #expect(changed.text == "red")
            try await client.deletePost(made.id)
            try await client.deletePost(made.id)
            let error = await failure {
                try await client.getPost(made.id)
            }
            guard case .refused(let status) = error else {
                Issue.record("A deleted post was read: \(String(describing: error))")
                return
            }
            #expect(status.code == .notFound)
            #expect(status.reason == .postNotFound)
            #expect(error?.effect == CallEffect.none)
        }
    }

    @Test func namesTheFieldAtFault() async throws {
        try await withClient { client in
            let error = await failure {
                try await client.createPost(Post(title: String(repeating: "x", count: 256)))
            }
            guard case .refused(let status) = error else {
                Issue.record("A long title was taken: \(String(describing: error))")
                return
            }
            #expect(status.violations.map(\.field) == ["post.title"])
            #expect(status.violations.first?.limit == 255)
        }
    }

    @Test func importsPostsWithTheirCounts() async throws {
        try await withClient { client in
            let ids = try await client.importPosts([
                Post(title: "Apple", upvoteCount: 5, downvoteCount: 2),
                Post(title: "Pear", createTimeMilliseconds: 1_000),
            ])
            let posts = try await client.getPosts(ids).posts
            #expect(posts.map(\.title) == ["Apple", "Pear"])
            #expect(posts.map(\.score) == [3, 0])
            #expect(posts.last?.createTimeMilliseconds == 1_000)
        }
    }

    @Test func readsSeveralPostsAndNamesTheMissing() async throws {
        try await withClient { client in
            let apple = try await client.createPost(Post(title: "Apple"))
            let pear = try await client.createPost(Post(title: "Pear"))
            let answer = try await client.getPosts([pear.id, 999, apple.id])
            #expect(answer.posts.map(\.title) == ["Pear", "Apple"])
            #expect(answer.missingIDs == [999])
        }
    }

    @Test func votesAloneAndInABatch() async throws {
        try await withClient { client in
            let post = try await client.createPost(Post(title: "Apple"))
            #expect(try await client.vote(on: post.id, .up).score == 1)
            let results = try await client.votes([
                CastVoteRequest(postID: post.id, direction: .up),
                CastVoteRequest(postID: 999, direction: .up),
                CastVoteRequest(postID: post.id, direction: .down),
            ])
            #expect(try results[0].get().score == 2)
            #expect(throws: Status.self) { try results[1].get() }
            #expect(try results[2].get().score == 1)
        }
    }

    @Test func keepsTheBallotOfAClientWithAnID() async throws {
        var configuration = ClientConfiguration.patient
        configuration.clientID = ClientID()
        try await withClient(configuration) { client in
            let feed = try await client.createFeed(Feed(name: "polls", voteMode: .ballot))
            #expect(feed.voters == .devices)
            let post = try await client.createPost(Post(title: "Apple"), in: "polls")
            try await client.vote(on: post.id, .up)
            #expect(try await client.vote(on: post.id, .up).score == 1)
            #expect(try await client.getPost(post.id).viewer?.vote == .up)
        }
    }

    @Test func readsFeedsRanksAndStatistics() async throws {
        try await withClient { client in
            let post = try await client.createPost(Post(title: "Apple"))
            #expect(try await client.feeds().map(\.name) == ["posts", "tweets"])
            let rank = try await client.rank(of: post.id, order: .new)
            #expect(rank == PostRank(rank: 1, totalSize: 1))
            let stats = try await client.stats()
            #expect(stats.postCount == 1)
            #expect(stats.connectionCount == 1)
        }
    }

    @Test func answersCarryTheRevisionToReadFromElsewhere() async throws {
        try await withClient { client in
            let request = Request.createPost(CreatePostRequest(post: Post(title: "Apple")))
            let answer = try await client.call(request)
            let read = try await client.call(.listFeeds, minimumRevision: answer.revision)
            #expect(read.revision >= answer.revision)
            let error = await failure {
                try await client.call(.listFeeds, minimumRevision: answer.revision + 1_000)
            }
            guard case .refused(let status) = error else {
                Issue.record("A revision of the future was read: \(String(describing: error))")
                return
            }
            #expect(status.reason == .instanceChanged)
        }
    }
}
