import FeedAccounts
import FeedProto
import FeedService
import FeedState
import FeedTestSupport
import FeedTransport
import Foundation
import Testing

/// Sessions of users, and their ends.
@Suite(.timeLimit(.minutes(10))) struct SessionTests {
    @Test func aTokenMakesTheConnectionAUsers() async throws {
        try await withAccounts { port in
            let created = try WireClient(port: port).signUp("a@x", name: "Ann").session
            let client = try WireClient(port: port)
            #expect(try client.refusal(.getSession) == .identityRequired)
            guard case .hello(let hello) = try client.hello(token: created.token).response
            else { throw Unexpected("Hello answers with a Hello.") }
            #expect(hello.user == created.user)
            #expect(hello.capabilities.contains(.accounts))
            let session = try client.call(.getSession).session
            #expect(session.user == created.user)
            #expect(session.expireTimeMilliseconds == created.expireTimeMilliseconds)
            // A token is shown once, where the session begins.
            #expect(session.token.isEmpty)
            // A Hello without a token is another caller.
            _ = try client.hello()
            #expect(try client.refusal(.getSession) == .identityRequired)
        }
    }

    @Test func aSignInMakesTheConnectionAUsers() async throws {
        try await withAccounts { port in
            let client = try WireClient(port: port)
            let created = try client.signUp("a@x").session
            #expect(try client.call(.getSession).session.user == created.user)
        }
    }

    @Test(
        "T-AUTH-2: wrong tokens are refused, by their length first",
        arguments: [0, 1, 31, 33, 1_000_000]
    )
    func refusesWrongTokens(_ byteCount: Int) async throws {
        try await withAccounts { port in
            let client = try WireClient(port: port)
            let token = try client.signUp("a@x").session.token
            let other = try WireClient(port: port)
            let wrong = [UInt8](repeating: 5, count: byteCount)
            let reason = try other.hello(token: wrong).status?.reason
            #expect(reason == (byteCount == 0 ? nil : .badCredentials))
            for place in token.indices {
                var forged = token
                forged[place] ^= 1
                #expect(try other.hello(token: forged).status?.reason == .sessionExpired)
            }
            #expect(try other.refusal(.getSession) == .identityRequired)
            #expect(try other.hello(token: token).status == nil)
        }
    }

    @Test("T-AUTH-3: an ended session ends on its open connections, with the next request")
    func endsOnOpenConnections() async throws {
        try await withAccounts(threads: 2) { port in
            let first = try WireClient(port: port)
            let token = try first.signUp("a@x").session.token
            let others = try (0..<3).map { _ in
                let client = try WireClient(port: port)
                _ = try client.hello(token: token)
                return client
            }
            let post = try first.createPost(title: "a post")
            for client in others { _ = try client.vote(post) }
            #expect(try first.refusal(.signOut(SignOutRequest())) == nil)
            let vote = CastVoteRequest(postID: post, direction: .up)
            let batch = BatchCastVotesRequest(votes: [vote, vote])
            #expect(try others[0].refusal(.castVote(vote)) == .sessionExpired)
            #expect(try others[1].refusal(.batchCastVotes(batch)) == .sessionExpired)
            #expect(try others[2].refusal(.getPost(GetPostRequest(id: post))) == .sessionExpired)
            // And with all requests after it, until the caller says who it is.
            #expect(try others[0].refusal(.castVote(vote)) == .sessionExpired)
            #expect(try others[0].refusal(.ping(PingRequest())) == nil)
            #expect(try others[0].hello(token: token).status?.reason == .sessionExpired)
            _ = try others[0].hello()
            #expect(try others[0].vote(post).score == 4)
            #expect(try others[1].signIn("a@x").status == nil)
            #expect(try others[1].vote(post).score == 5)
            // The connection that signed out has no user, and goes on.
            #expect(try first.refusal(.getSession) == .identityRequired)
            #expect(try first.vote(post).score == 6)
        }
    }

    @Test func allSessionsOfAUserEnd() async throws {
        try await withAccounts(threads: 2) { port in
            let clients = try (0..<4).map { number in
                let client = try WireClient(port: port)
                _ = try client.signIn(number < 3 ? "a@x" : "b@x", creates: true).session
                return client
            }
            let tokens = try (0..<2).map { _ in
                try WireClient(port: port).signIn("a@x").session.token
            }
            let everywhere = SignOutRequest(endsEverywhere: true)
            #expect(try clients[0].refusal(.signOut(everywhere)) == nil)
            #expect(try clients[0].refusal(.getSession) == .identityRequired)
            #expect(try clients[1].refusal(.getSession) == .sessionExpired)
            #expect(try clients[2].refusal(.getSession) == .sessionExpired)
            #expect(try clients[3].refusal(.getSession) == nil)
            for token in tokens {
                #expect(try clients[0].hello(token: token).status?.reason == .sessionExpired)
            }
            #expect(try clients[0].signIn("a@x").status == nil)
        }
    }

    @Test("requests of a session read no clock before it may have expired")
    func readsNoClockBeforeTheSessionMayHaveExpired() async throws {
        let clock = ManualClock()
        let looks = Locked(0)
        let offset = Locked<Int64>(0)
        try await withAccounts {
            $0.loopClock = clock
            $0.limits.accounts.sessionDuration = .seconds(40)
            $0.timeOfDay = {
                looks.withLock { $0 += 1 }
                return 1_700_000_000_000 + offset.withLock { $0 }
            }
        } _: { port in
            let client = try WireClient(port: port)
            #expect(try client.signUp("a@x").status == nil)
            let read = Request.getPost(GetPostRequest(id: try client.createPost(title: "a post")))
            let before = looks.withLock { $0 }
            for _ in 0..<100 { #expect(try client.refusal(read) == nil) }
            #expect(looks.withLock { $0 } == before)
            for second in 1...45 {
                offset.withLock { $0 += 1_000 }
                clock.advance(by: .seconds(1))
                // The loop learns of the instant in the iteration of this request at the latest,
                // which may have begun with the instant before.
                _ = try client.refusal(read)
                let refusal = try client.refusal(read)
                #expect(
                    refusal == (second < 40 ? nil : .sessionExpired),
                    "After \(second) s: \(refusal as Any)"
                )
            }
        }
    }

    /// The time of day is moved by less than what counts as a jump of the clock.
    @Test func anExpiredSessionEndsOnItsOpenConnection() async throws {
        let offset = Locked<Int64>(0)
        try await withAccounts {
            $0.limits.accounts.sessionDuration = .seconds(200)
            $0.limits.accounts.renewalInterval = .seconds(100)
            $0.timeOfDay = { Int64(Date.now.timeIntervalSince1970 * 1000) + offset.withLock { $0 } }
        } _: { port in
            let client = try WireClient(port: port)
            let created = try client.signUp("a@x").session
            offset.withLock { $0 += 90_000 }
            let early = try client.call(.getSession).session
            #expect(early.expireTimeMilliseconds == created.expireTimeMilliseconds)
            offset.withLock { $0 += 60_000 }
            let used = try client.call(.getSession).session
            #expect(used.expireTimeMilliseconds >= created.expireTimeMilliseconds + 149_000)
            offset.withLock { $0 += 190_000 }
            #expect(try client.refusal(.getSession) == nil)
            offset.withLock { $0 += 210_000 }
            #expect(try client.refusal(.getSession) == .sessionExpired)
            let other = try WireClient(port: port)
            #expect(try other.hello(token: created.token).status?.reason == .sessionExpired)
        }
    }
}

/// Accounts and sessions of a service with a data directory.
@Suite(.timeLimit(.minutes(10))) struct AccountRestartTests {
    /// Sessions of Ann, who stays, and of Bob, who signs out.
    struct Sessions {
        var ann: UserSession
        var bob: UserSession
    }

    @Test func accountsSessionsAndTheirEndsOutliveTheService() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path
        let sessions = Locked<Sessions?>(nil)
        try await withAccounts {
            $0.state = StateOptions(path: path, logCount: 1)
        } _: { port in
            let ann = try WireClient(port: port).signUp("ann@x", name: "Ann").session
            let client = try WireClient(port: port)
            let bob = try client.signUp("bob@x", name: "Bob").session
            #expect(try client.refusal(.signOut(SignOutRequest())) == nil)
            sessions.withLock { $0 = Sessions(ann: ann, bob: bob) }
        }
        let known = try #require(sessions.withLock { $0 })
        let (ann, bob) = (known.ann, known.bob)
        try await withAccounts {
            $0.state = StateOptions(path: path, logCount: 1)
        } _: { port in
            let client = try WireClient(port: port)
            #expect(try client.hello(token: ann.token).status == nil)
            #expect(try client.call(.getSession).session.user == ann.user)
            let other = try WireClient(port: port)
            #expect(try other.hello(token: bob.token).status?.reason == .sessionExpired)
            #expect(try other.signIn("bob@x").session.user == bob.user)
            #expect(try other.signUp("ann@x").status?.reason == .emailTaken)
            // Numbers of users continue.
            let third = try WireClient(port: port).signUp("eve@x").session.user
            #expect(third?.id == 3)
        }
    }

    @Test("T-AUTH-13: a restored service gives no number again that was given after the backup")
    func aRestoreGivesNoNumberAgain() async throws {
        let directory = try TemporaryDirectory()
        let data = "\(directory.path)/data"
        let restored = "\(directory.path)/restored"
        let known = Locked<(backup: String, revision: UInt64)>(("", 0))
        try await withAccounts {
            $0.state = StateOptions(path: data, logCount: 1)
        } _: { port in
            let client = try WireClient(port: port)
            #expect(try client.signUp("ann@x").session.user?.id == 1)
            #expect(try client.createPost(title: "before") == 1)
            guard case .backup(let backup) = try client.call(.backup).response
            else { throw Unexpected("There is no backup.") }
            #expect(try client.signUp("bob@x").session.user?.id == 2)
            #expect(try client.createPost(title: "after") == 2)
            known.withLock { $0 = (backup.name, backup.revision) }
        }
        let (backup, revision) = known.withLock { $0 }
        try BackupRestore.run(backup: "\(data)/backups/\(backup)", into: restored)
        try await withAccounts {
            $0.state = StateOptions(path: restored, logCount: 1)
        } _: { port in
            let client = try WireClient(port: port)
            #expect(try client.createPost(title: "another").rawValue == (1 << 24) + 2)
            let answer = try client.call(.listFeeds)
            #expect(answer.revision > revision + (1 << 40))
        }
        // The numbers stay skipped in later runs, where the first one created no account.
        try await withAccounts {
            $0.state = StateOptions(path: restored, logCount: 1)
        } _: { port in
            let client = try WireClient(port: port)
            let id = try #require(try client.signUp("eve@x").session.user?.id)
            #expect(id.rawValue > 1 << 32 && id.rawValue <= 2 + (1 << 44))
            #expect(try client.signUp("joe@x").session.user?.id == id.advanced(by: 1))
            #expect(try client.signIn("ann@x").session.user?.id == 1)
            #expect(try client.signIn("bob@x").status?.reason == .badCredentials)
            #expect(try client.createPost(title: "next").rawValue == (1 << 24) + 3)
        }
    }
}

/// The authors of posts, and who may change them.
@Suite(.timeLimit(.minutes(10))) struct AuthorTests {
    /// Runs a service that callers of another address than loopback reach: they are no services.
    private func withRemoteCallers(
        _ body: @escaping @Sendable (_ port: UInt16, _ host: UInt32) throws -> Void
    ) async throws {
        let own = try #require(TestSocket.ownAddress)
        try await withAccounts {
            $0.addresses = [SocketAddress(host: .v4(0), port: 0)]
        } _: { port in
            try body(port, own)
        }
    }

    private func create(_ client: WireClient, _ author: User? = nil) throws -> Post {
        let request = CreatePostRequest(post: Post(author: author, title: "a title"))
        let answer = try client.call(.createPost(request))
        guard case .post(let post) = answer.response else {
            throw answer.status ?? Status(code: .unknown, reason: .internal, message: "No post.")
        }
        return post
    }

    private func update(_ id: PostID) -> Request {
        let post = Post(id: id, title: "another title")
        return .updatePost(UpdatePostRequest(post: post, updateMask: [.title]))
    }

    @Test func aUserIsTheAuthor() async throws {
        try await withRemoteCallers { port, host in
            let client = try WireClient(port: port, host: host)
            let user = try client.signUp("ann@x", name: "Ann").session.user
            // A name in the request does not make another author.
            let post = try create(client, User(id: 5, displayName: "Bob"))
            #expect(post.author?.id == user?.id)
            #expect(post.author?.displayName == "Ann")
            let reader = try WireClient(port: port, host: host)
            let read = try reader.call(.getPost(GetPostRequest(id: post.id)))
            guard case .post(let seen) = read.response
            else { throw Unexpected("GetPost answers with the post.") }
            #expect(seen.author == post.author)
            #expect(try reader.list(ListPostsRequest()).posts.first?.author == post.author)
        }
    }

    @Test func aNameWithoutAUserIsOnlyAName() async throws {
        try await withRemoteCallers { port, host in
            let client = try WireClient(port: port, host: host)
            let post = try create(client, User(id: 5, displayName: "Bob"))
            #expect(post.author?.id == 0)
            #expect(post.author?.displayName == "Bob")
        }
    }

    @Test("T-AUTH-4: only the author or a service changes a post")
    func othersMayNotChangeAPost() async throws {
        try await withRemoteCallers { port, host in
            let ann = try WireClient(port: port, host: host)
            let bob = try WireClient(port: port, host: host)
            #expect(try ann.signUp("ann@x").status == nil)
            #expect(try bob.signUp("bob@x").status == nil)
            let id = try create(ann).id
            let anonymous = try create(try WireClient(port: port, host: host)).id
            for request in [
                update(id), .deletePost(DeletePostRequest(id: id)), update(anonymous),
                .deletePost(DeletePostRequest(id: anonymous)),
            ] {
                let status = try bob.call(request).status
                #expect(status?.code == .permissionDenied)
                #expect(status?.reason == .notAuthor)
                #expect(status?.isNotExecuted == true)
            }
            #expect(try bob.refusal(update(id.advanced(by: 100))) == .postNotFound)
            #expect(try ann.refusal(update(id)) == nil)
            // A loopback caller is a service.
            let service = try WireClient(port: port)
            #expect(try service.refusal(update(id)) == nil)
            #expect(try service.refusal(.deletePost(DeletePostRequest(id: anonymous))) == nil)
            #expect(try ann.refusal(.deletePost(DeletePostRequest(id: id))) == nil)
            #expect(try ann.refusal(.deletePost(DeletePostRequest(id: id))) == nil)
        }
    }

    private static func device(_ number: UInt8) -> [UInt8] { Array(repeating: number, count: 16) }

    @Test("T-AUTH-4: a device changes the posts that it has made, also after a restart")
    func aDeviceChangesThePostsThatItHasMade() async throws {
        let directory = try TemporaryDirectory()
        func listen(_ configuration: inout ServiceConfiguration) {
            configuration.state = StateOptions(path: directory.path, logCount: 1)
        }
        try await withTestKeys(listen) { port, _ in
            let phone = try WireClient(port: port)
            _ = try phone.hello(clientID: Self.device(1))
            let name = User(displayName: "Ann")
            // Nobody is told the device.
            #expect(try create(phone).author == nil)
            #expect(try create(phone, name).author == name)
            #expect(try create(phone).author == nil)
            #expect(try phone.refusal(update(1)) == nil)
        }
        try await withTestKeys(listen) { port, _ in
            let phone = try WireClient(port: port)
            #expect(try phone.refusal(update(1)) == .identityRequired)
            let tablet = try WireClient(port: port)
            _ = try tablet.hello(clientID: Self.device(2))
            for id in [1, 2] as [PostID] {
                #expect(try tablet.refusal(update(id)) == .notAuthor)
                #expect(
                    try tablet.refusal(.deletePost(DeletePostRequest(id: id))) == .notAuthor
                )
            }
            _ = try phone.hello(clientID: Self.device(1))
            #expect(try phone.refusal(update(1)) == nil)
            #expect(try phone.refusal(.deletePost(DeletePostRequest(id: 2))) == nil)
            #expect(try phone.refusal(.deletePost(DeletePostRequest(id: 2))) == nil)
            // Somebody signs in: the device stays what it is, and the user's posts are no device's.
            #expect(try phone.signUp("ann@x").status == nil)
            #expect(try phone.refusal(update(3)) == nil)
            let own = try create(phone).id
            _ = try phone.call(.signOut(SignOutRequest()))
            #expect(try phone.refusal(update(own)) == .notAuthor)
            #expect(try phone.refusal(update(3)) == nil)
        }
    }

    @Test func postsOfAServicesDeviceAndInAFeedOfUsersHaveNoDevice() async throws {
        try await withTestKeys { port, keys in
            let phone = try WireClient(port: port)
            let keyless = HelloRequest(clientID: Self.device(1))
            let keyed = HelloRequest(clientID: Self.device(1), serviceKey: keys.web.bytes)
            #expect(try phone.call(.hello(keyed)).status == nil)
            let feed = Feed(name: "people", voteMode: .ballot, voters: .users)
            #expect(try phone.refusal(.createFeed(CreateFeedRequest(feed: feed))) == nil)
            let ofService = try create(phone).id
            #expect(try phone.refusal(update(ofService)) == nil)
            #expect(try phone.call(.hello(keyless)).status == nil)
            #expect(try phone.refusal(update(ofService)) == .notAuthor)
            let ofPeople = try phone.createPost(title: "a title", feed: "people")
            #expect(try phone.refusal(update(ofPeople)) == .notAuthor)
        }
    }
}
