import FeedConcurrency
import FeedProto
import FeedService
import FeedState
import FeedTestSupport
import FeedTransport
import Testing

/// The end of an account, and what becomes of its posts.
@Suite(.timeLimit(.minutes(10))) struct AccountDeletionTests {
    private static func delete(
        _ password: String = "password",
        keepsPosts: Bool = false
    ) -> Request {
        .deleteAccount(
            DeleteAccountRequest(password: SecretText(password), keepsPosts: keepsPosts)
        )
    }

    @Test(
        "T-AUTH-18: of a deleted account no session, token or e-mail is left, and nobody acts for it"
    )
    func nothingOpensADeletedAccount() async throws {
        try await withAccounts(threads: 2) { port in
            let client = try WireClient(port: port)
            let token = try client.signUp("ann@x").session.token
            let (other, service) = (try WireClient(port: port), try WireClient(port: port))
            _ = try other.signIn("ann@x")
            let reset = try service.passwordReset(MakePasswordResetRequest(userID: 1)).token
            #expect(try client.refusal(Self.delete()) == nil)
            // As after SignOut: the connection is nobody's, and the others are told.
            #expect(try client.refusal(.getSession) == .identityRequired)
            #expect(try other.refusal(.getSession) == .sessionExpired)
            #expect(try other.hello(token: token).status?.reason == .sessionExpired)
            let use = ResetPasswordRequest(token: reset, newPassword: "another one")
            #expect(try other.refusal(.resetPassword(use)) == .badCredentials)
            #expect(try other.signIn("ann@x").status?.reason == .badCredentials)
            #expect(try service.call(.listFeeds, acting: 1).status?.reason == .badField)
            for change in [UserChange.suspend, .endSessions, .delete] {
                let request = ChangeUserRequest(userID: 1, change: change)
                #expect(try service.refusal(.changeUser(request)) == .userNotFound)
            }
            #expect(try other.signUp("ANN@x").session.user?.id == 2)
        }
    }

    @Test func thePostsGoWithTheAccount() async throws {
        try await withAccounts(threads: 2) {
            $0.limits.maximumDeletedPostCount = 3
        } _: { port in
            let (ann, bob) = (try WireClient(port: port), try WireClient(port: port))
            _ = try ann.signUp("ann@x")
            _ = try bob.signUp("bob@x")
            let posts = try (0..<10).map { try ann.createPost(title: "ann's \($0)") }
            let kept = try bob.createPost(title: "bob's")
            #expect(try ann.refusal(Self.delete()) == nil)
            for post in posts { try bob.awaitPost(post) { $0 == nil } }
            #expect(try bob.post(kept)?.author?.id == 2)
        }
    }

    @Test func thePostsStayWithoutTheirAuthor() async throws {
        try await withAccounts(threads: 2) { port in
            let (ann, bob) = (try WireClient(port: port), try WireClient(port: port))
            _ = try ann.signUp("ann@x", name: "Ann")
            _ = try bob.signUp("bob@x", name: "Bob")
            let post = try ann.createPost(title: "ann's")
            let other = try bob.createPost(title: "bob's")
            _ = try bob.vote(post)
            let before = try #require(try bob.post(post))
            #expect(before.author?.displayName == "Ann")
            #expect(try ann.refusal(Self.delete(keepsPosts: true)) == nil)
            try bob.awaitPost(post) { $0?.author == nil }
            let after = try #require(try bob.post(post))
            #expect(after.title == "ann's" && after.score == 1 && after.revision > before.revision)
            #expect(after.updateTimeMilliseconds == before.updateTimeMilliseconds)
            #expect(try bob.post(other)?.author?.displayName == "Bob")
            // A copy learns it as it does an edit.
            let sync = SyncPostsRequest(sinceRevision: before.revision)
            let answer = try bob.call(.syncPosts(sync))
            guard case .syncPosts(let changes) = answer.response else { throw Unexpected(answer) }
            #expect(changes.posts.first { $0.id == post } == after)
        }
    }

    @Test func aServiceDeletesAUser() async throws {
        try await withAccounts { port in
            let (ann, service) = (try WireClient(port: port), try WireClient(port: port))
            _ = try ann.signUp("ann@x")
            let post = try ann.createPost(title: "a post")
            let suspend = ChangeUserRequest(userID: 1, change: .suspend)
            #expect(try service.refusal(.changeUser(suspend)) == nil)
            let delete = ChangeUserRequest(email: "Ann@x", change: .deleteKeepingPosts)
            #expect(try service.refusal(.changeUser(delete)) == nil)
            #expect(try service.refusal(.changeUser(delete)) == .userNotFound)
            #expect(try ann.signIn("ann@x").status?.reason == .badCredentials)
            try service.awaitPost(post) { $0?.author == nil }
        }
    }

    @Test("T-AUTH-5: wrong passwords of a deletion count as failed sign-ins do")
    func limitsWrongPasswords() async throws {
        let passwords = CountedPasswords()
        try await withAccounts {
            passwords.install(&$0)
        } _: { port in
            let client = try WireClient(port: port)
            #expect(try client.refusal(Self.delete()) == .identityRequired)
            _ = try client.signUp("ann@x")
            for _ in 0..<6 {
                let status = try client.call(Self.delete("wrong one")).status
                #expect(status?.reason == .badCredentials && status?.isNotExecuted == true)
            }
            let count = passwords.runCount
            #expect(try client.refusal(Self.delete()) == .rateLimited)
            #expect(passwords.runCount == count)
            #expect(try client.refusal(.getSession) == nil)
        }
    }

    /// Nobody counts such an account as created, so it would be a way around the limit.
    @Test func aSignInThatWasBegunBeforeCreatesNoAccount() async throws {
        let passwords = CountedPasswords(isGated: true)
        try await withAccounts {
            passwords.install(&$0)
        } _: { port in
            let (client, other) = (try WireClient(port: port), try WireClient(port: port))
            passwords.gate.signal()
            _ = try client.signUp("ann@x")
            passwords.begun.wait()
            try client.send(Self.delete())
            passwords.begun.wait()
            let signIn = SignInRequest(email: "ann@x", password: "password", createsIfMissing: true)
            try other.send(.signIn(signIn))
            #expect(try other.refusal(.ping(PingRequest())) == nil)
            for _ in 0..<3 { passwords.gate.signal() }
            #expect(try #require(try client.receive()).status == nil)
            #expect(try #require(try other.receive()).status?.reason == .badCredentials)
            #expect(passwords.runCount == 3)
        }
    }

    /// A step logs as much as a correction of times, and no record overflows.
    @Test func aStepTakesItsRoomInARecord() async throws {
        let directory = try TemporaryDirectory()
        let (path, clock) = (directory.path, ManualClock())
        try await withAccounts {
            $0.state = StateOptions(path: path, logCount: 1)
            $0.limits.correctedTextByteCount = .max / 2
            $0.loopClock = clock
        } _: { port in
            let client = try WireClient(port: port)
            _ = try client.signUp("ann@x")
            let post = try client.createPost(title: "a post")
            #expect(try client.refusal(Self.delete()) == nil)
            for _ in 0..<10 {
                clock.advance(by: .seconds(1))
                for _ in 0..<4 { #expect(try client.refusal(.ping(PingRequest())) == nil) }
            }
            #expect(try client.post(post)?.author?.id == 1)
        }
    }

    /// The accounts of a pass end a few in a step.
    @Test func manyAccountsGoTogether() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path
        try await withAccounts {
            $0.state = StateOptions(path: path, logCount: 1)
            $0.limits.maximumDeletedPostCount = 3
        } _: { port in
            let service = try WireClient(port: port)
            var posts: [PostID] = []
            for user in (1...10).map(UserID.init(rawValue:)) {
                let client = try WireClient(port: port)
                _ = try client.signUp("\(user)@x")
                posts.append(try client.createPost(title: "a post"))
            }
            for user in (1...10).map(UserID.init(rawValue:)) {
                let delete = ChangeUserRequest(userID: user, change: .delete)
                #expect(try service.refusal(.changeUser(delete)) == nil)
            }
            for post in posts { try service.awaitPost(post) { $0 == nil } }
        }
        #expect(try StateVerification.run(path: path).postCount == 0)
    }

    /// The first service does nothing by itself, as its clock stands still.
    @Test(arguments: [false, true])
    func aStartGoesOnWithThePosts(keepsPosts: Bool) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path
        func serve(
            _ clock: ManualClock?,
            _ body: @escaping @Sendable (WireClient) throws -> Void
        ) async throws {
            try await withAccounts {
                $0.state = StateOptions(path: path, logCount: 1)
                $0.loopClock = clock
            } _: { port in
                try body(WireClient(port: port))
            }
        }
        try await serve(ManualClock()) { client in
            _ = try client.signUp("ann@x")
            for number in 1...3 { _ = try client.createPost(title: "post \(number)") }
            #expect(try client.refusal(Self.delete(keepsPosts: keepsPosts)) == nil)
            #expect(try client.post(1)?.author?.id == 1)
        }
        for _ in 0..<2 {
            try await serve(nil) { client in
                for id in (1...3).map(PostID.init(rawValue:)) {
                    try client.awaitPost(id) { keepsPosts ? $0?.author == nil : $0 == nil }
                    #expect(try (client.post(id) != nil) == keepsPosts)
                }
                #expect(try client.signIn("ann@x").status?.reason == .badCredentials)
            }
        }
        #expect(try StateVerification.run(path: path).postCount == (keepsPosts ? 3 : 0))
    }
}

extension WireClient {
    /// A post as the caller sees it; nil if there is none.
    fileprivate func post(_ id: PostID) throws -> Post? {
        let answer = try call(.getPost(GetPostRequest(id: id)))
        if answer.status?.reason == .postNotFound { return nil }
        guard case .post(let post) = answer.response else { throw Unexpected(answer) }
        return post
    }

    /// Reads a post until it is as expected.
    fileprivate func awaitPost(_ id: PostID, _ isExpected: (Post?) -> Bool) throws {
        while try !isExpected(post(id)) {}
    }
}
