import FeedClient
import FeedProto
import Testing

/// Accounts, sessions and feeds are the same over a connection and in memory.
@Suite(.timeLimit(.minutes(10))) struct AccountConformanceTests {
    @Test(arguments: ClientKind.allCases)
    func signsUpInAndOut(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await bench.device()
            #expect(await refusal { try await client.session() } == .identityRequired)
            let made = try await client.signUp(
                email: "Ada@example.org",
                password: "lovelace",
                displayName: "Ada"
            )
            #expect(made.createdUser)
            let token = try #require(made.secret)
            #expect(try await client.session().user == made.user)
            let post = try await client.createPost(PostDraft(title: "Apple"))
            #expect(post.author?.displayName == "Ada")
            let other = try await bench.connect(nil, token)
            #expect(other.service?.user?.displayName == "Ada")
            #expect(try await other.session().user?.id == made.user?.id)
            try await client.signOut(everywhere: true)
            #expect(await refusal { try await other.session() } == .sessionExpired)
            #expect(await refusal { try await client.session() } == .identityRequired)
            let again = try await client.signIn(email: "ada@EXAMPLE.org", password: "lovelace")
            #expect(again.user?.id == made.user?.id)
            #expect(!again.createdUser)
        }
    }

    @Test(arguments: ClientKind.allCases)
    func aSessionThatHasEndedElsewhereLeavesTheDevice(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await bench.device()
            let made = try await client.signUp(email: "ada@example.org", password: "lovelace")
            let post = try await client.createPost(PostDraft(title: "Apple"))
            let other = try await bench.connect(ClientID(), made.secret)
            #expect(other.service?.user?.id == made.user?.id)
            try await client.signOut(everywhere: true)
            #expect(await refusal { try await other.getPost(post.id) } == .sessionExpired)
            #expect(other.user == nil)
            for score in 1...3 as ClosedRange<Int64> {
                #expect(try await other.getPost(post.id).viewer == Viewer())
                #expect(try await other.vote(on: post.id, .up).score == score)
            }
            #expect(await refusal { try await other.session() } == .identityRequired)
            let again = try await other.signIn(email: "ada@example.org", password: "lovelace")
            #expect(try await other.session().user == again.user)
            #expect(other.user == again.user)
        }
    }

    @Test(arguments: ClientKind.allCases)
    func refusesWrongPasswordsAndAddresses(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await bench.device()
            let known = try await client.signIn(
                email: "ada@example.org",
                password: "lovelace",
                createsIfMissing: true
            )
            #expect(known.createdUser)
            #expect(known.user?.displayName == "ada")
            let wrong: [(String, String, Reason)] = [
                ("ada@example.org", "babbage", .badCredentials),
                ("ben@example.org", "babbage", .badCredentials),
                ("nowhere", "babbage", .badEmail),
                ("ben@example.org", "short", .passwordTooShort),
            ]
            for (email, password, reason) in wrong {
                let found = await refusal {
                    try await client.signIn(email: email, password: password)
                }
                #expect(found == reason)
            }
            let taken = await refusal {
                try await client.signUp(email: "ada@example.org", password: "babbage")
            }
            #expect(taken == .emailTaken)
        }
    }

    @Test(arguments: ClientKind.allCases)
    func eMailsAreComparedByteByByte(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await bench.device()
            let composed = try await client.signUp(email: "\u{e9}@x", password: "lovelace")
            let apart = try await client.signUp(email: "e\u{301}@x", password: "babbage")
            #expect(composed.user?.id != apart.user?.id)
            let again = try await client.signIn(email: "\u{e9}@x", password: "lovelace")
            #expect(again.user?.id == composed.user?.id)
        }
    }

    @Test(arguments: ClientKind.allCases)
    func whatIsLeftOfADevicesBatchIsNobodyElses(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await bench.device()
            try await client.createFeed(Feed(name: "polls", voteMode: .ballot, voters: .devices))
            let post = try await client.createPost(PostDraft(title: "a"), in: "polls").id
            let votes = [post, post + 1].map { CastVoteRequest(postID: $0, direction: .up) }
            guard case .failure(let refused) = try await client.votes(votes)[1] else {
                return #expect(Bool(false), "There is no such post.")
            }
            #expect(refused.reason == .postNotFound)
            try await client.signUp(email: "ada@x", password: "lovelace")
            #expect(try await client.createPost(PostDraft(title: "b"), in: "polls").id == post + 1)
            // The device's ballot stays the device's, and the refused vote is cast for nobody.
            let posts = try await client.getPosts([post, post + 1]).posts
            #expect(posts.map(\.score) == [1, 0])
            #expect(posts.allSatisfy { $0.viewer?.vote != .up })
        }
    }

    @Test(arguments: ClientKind.allCases)
    func listsAndCreatesFeeds(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await bench.anonymous()
            #expect(try await client.feeds().map(\.name) == ["posts", "tweets"])
            let made = try await client.createFeed(
                Feed(name: "polls", defaultOrder: .new, voteMode: .ballot, maximumTextLength: 9)
            )
            #expect(try await client.feeds().last == made)
            #expect(await refusal { try await client.createFeed(made) } == .feedExists)
            let bad = await refusal { try await client.createFeed(Feed(name: "Polls")) }
            #expect(bad == .badFeedName)
            #expect(try await client.ping(payload: [1, 2]).payload == [1, 2])
            #expect(try await client.stats().durability == "none")
        }
    }

    @Test(arguments: ClientKind.allCases)
    func closedClientsTakeNoCalls(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await bench.anonymous()
            let user = client.acting(for: 1 << 63 | 7)
            await client.close()
            let error = await failure { try await user.feeds() }
            #expect(error == .closed)
        }
    }

    @Test(arguments: ClientKind.allCases)
    func readsNeverShowAnOlderState(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let client = try await bench.anonymous()
            let answer = try await client.call(
                .createPost(CreatePostRequest(post: Post(title: "Apple")))
            )
            let read = try await client.call(.listFeeds, minimumRevision: answer.revision)
            #expect(read.revision >= answer.revision)
            let newer = await refusal {
                try await client.call(.listFeeds, minimumRevision: answer.revision + 1_000)
            }
            #expect(newer == .instanceChanged)
        }
    }
}
