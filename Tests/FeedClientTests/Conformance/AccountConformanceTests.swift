import FeedClient
import FeedProto
import FeedTestSupport
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
    func aPersonChangesTheAccount(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let (client, other) = (try await bench.device(), try await bench.device())
            let email = "ada@example.org"
            let signedOut = await refusal { try await client.changePassword("a", to: "b") }
            #expect(signedOut == .identityRequired)
            let made = try await client.signUp(email: email, password: "lovelace")
            _ = try await other.signUp(email: "ben@example.org", password: "lovelace")
            let second = try await other.signIn(email: email, password: "lovelace")
            let wrong: [(String, String, Reason)] = [
                ("short", "short", .passwordTooShort), ("babbage", "short", .passwordTooShort),
                ("babbage", "byronbyron", .badCredentials),
            ]
            for (old, new, reason) in wrong {
                #expect(await refusal { try await client.changePassword(old, to: new) } == reason)
            }
            let taken = await refusal {
                try await client.changeEmail(to: "BEN@example.org", password: "lovelace")
            }
            #expect(taken == .emailTaken)
            let list = try await client.sessions()
            #expect(list.map(\.isCurrent) == [true, false])
            try await client.endSession(list[1].id)
            #expect(await refusal { try await other.session() } == .sessionExpired)
            try await client.changeEmail(to: "countess@example.org", password: "lovelace")
            let changed = try await client.changePassword("lovelace", to: "byronbyron")
            #expect(changed.user == made.user && changed.secret != made.secret)
            #expect(try await client.session().user == second.user)
            #expect(try await client.sessions().count == 1)
            let old = await refusal { try await other.signIn(email: email, password: "byronbyron") }
            #expect(old == .badCredentials)
            let again = try await other.signIn(
                email: "countess@example.org",
                password: "byronbyron"
            )
            #expect(again.user?.id == made.user?.id)
        }
    }

    @Test(arguments: ClientKind.allCases)
    func aServiceHelpsAndSuspendsAUser(_ kind: ClientKind) async throws {
        try await ConformanceBench.run(kind) { bench in
            let (client, service) = (try await bench.device(), try await bench.anonymous())
            let email = "ada@example.org"
            _ = try await client.signUp(email: email, password: "lovelace")
            let byEmail = MakePasswordResetRequest(email: email)
            let first = try await service.makePasswordReset(byEmail)
            let reset = try await service.makePasswordReset(MakePasswordResetRequest(userID: 1))
            for token in [first.token, [1]] {
                let refused = await refusal {
                    try await client.resetPassword(token: token, to: "byronbyron")
                }
                #expect(refused == .badCredentials)
            }
            _ = try await client.resetPassword(token: reset.token, to: "byronbyron")
            #expect(try await client.session().user?.id == 1)
            for _ in 0..<2 {
                try await service.changeUser(ChangeUserRequest(userID: 1, change: .suspend))
            }
            #expect(await refusal { try await client.session() } == .sessionExpired)
            let suspended = await refusal {
                try await client.signIn(email: email, password: "byronbyron")
            }
            #expect(suspended == .userSuspended)
            #expect(
                await refusal { try await service.makePasswordReset(byEmail) } == .userSuspended
            )
            #expect(await refusal { try await service.acting(for: 1).feeds() } == .userSuspended)
            try await service.changeUser(ChangeUserRequest(email: email, change: .restore))
            _ = try await client.signIn(email: email, password: "byronbyron")
            try await service.changeUser(ChangeUserRequest(userID: 1, change: .endSessions))
            #expect(await refusal { try await client.session() } == .sessionExpired)
            let unknown = ChangeUserRequest(userID: 9, change: .suspend)
            #expect(await refusal { try await service.changeUser(unknown) } == .userNotFound)
            let nothing = ChangeUserRequest(userID: 1, change: .unspecified)
            #expect(await refusal { try await service.changeUser(nothing) } == .badField)
        }
    }

    @Test(arguments: ClientKind.allCases, [false, true])
    func aDeletedAccountIsGone(_ kind: ClientKind, keepsPosts: Bool) async throws {
        try await ConformanceBench.run(kind) { bench in
            let (client, other) = (try await bench.device(), try await bench.device())
            let email = "ada@example.org"
            _ = try await client.signUp(email: email, password: "lovelace")
            let post = try await client.createPost(PostDraft(title: "Apple")).id
            let wrong = await failure { try await client.deleteAccount(password: "babbage") }
            guard case .refused(let status) = wrong else { throw Unexpected(wrong) }
            #expect(status.reason == .badCredentials)
            #expect(status.message == "The user has another password.")
            try await client.deleteAccount(password: "lovelace", keepsPosts: keepsPosts)
            #expect(await refusal { try await client.session() } == .identityRequired)
            let gone = await refusal { try await other.signIn(email: email, password: "lovelace") }
            #expect(gone == .badCredentials)
            #expect(await refusal { try await other.acting(for: 1).feeds() } == .badField)
            #expect(try await other.signUp(email: email, password: "lovelace").user?.id == 2)
            while let found = try await other.getPosts([post]).posts.first, found.author != nil {}
            #expect(try await other.getPosts([post]).posts.count == (keepsPosts ? 1 : 0))
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
            let next = post.advanced(by: 1)
            let votes = [post, next].map { CastVoteRequest(postID: $0, direction: .up) }
            guard case .failure(let refused) = try await client.votes(votes)[1] else {
                return #expect(Bool(false), "There is no such post.")
            }
            #expect(refused.reason == .postNotFound)
            try await client.signUp(email: "ada@x", password: "lovelace")
            #expect(try await client.createPost(PostDraft(title: "b"), in: "polls").id == next)
            // The device's ballot stays the device's, and the refused vote is cast for nobody.
            let posts = try await client.getPosts([post, next]).posts
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
            let user = client.acting(for: .ofService(7))
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
