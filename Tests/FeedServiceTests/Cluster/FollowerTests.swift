import FakeReplica
import FeedAccounts
import FeedConcurrency
import FeedJournal
import FeedProto
import FeedReplica
import FeedService
import FeedState
import FeedTestSupport
import Testing

/// What a service answers while it follows the leader of a cluster.
@Suite(.serialized, .timeLimit(.minutes(10))) struct FollowerTests {
    /// One of each call that the leader alone takes.
    private static let changes: [Request] = [
        .createPost(CreatePostRequest(post: Post(title: "a"))),
        .importPosts(ImportPostsRequest(posts: [Post(title: "a")])),
        .updatePost(UpdatePostRequest(post: Post(id: 1, title: "a"), updateMask: [.title])),
        .deletePost(DeletePostRequest(id: 1)),
        .castVote(CastVoteRequest(postID: 1, direction: .up)),
        .batchCastVotes(
            BatchCastVotesRequest(votes: [CastVoteRequest(postID: 1, direction: .up)])
        ),
        .markPosts(MarkPostsRequest(mark: .read, postIDs: [1])),
        .createFeed(CreateFeedRequest(feed: Feed(name: "news"))),
        .correctTimes(CorrectTimesRequest()),
        .deletePosts(DeletePostsRequest()),
        .signUp(SignUpRequest(email: "a@example.org", password: "a password")),
        .signIn(SignInRequest(email: "a@example.org", password: "a password")),
        .signOut(SignOutRequest()),
        .changePassword(ChangePasswordRequest(password: "a password", newPassword: "another")),
        .changeEmail(ChangeEmailRequest(password: "a password", email: "b@example.org")),
        .endSession(EndSessionRequest(id: 1)),
        .changeUser(ChangeUserRequest(userID: 1, change: .suspend)),
        .makePasswordReset(MakePasswordResetRequest(userID: 1)),
        .resetPassword(ResetPasswordRequest(token: [], newPassword: "another")),
        .changeMembers(ChangeMembersRequest(addName: "b", addURL: "https://b:1")),
        .transferLeadership(TransferLeadershipRequest()),
    ]

    @Test func changesAreRefusedUnexecutedWithTheLeader() async throws {
        let service = try await ClusterService(leads: false)
        try service.other.begin()
        try await service.run { running in
            let (client, _) = try running.greet()
            for request in Self.changes {
                for sequence in [0, 1] as [UInt64] {
                    let status = try client.call(request, sequence: sequence).status
                    #expect(status?.code == .unavailable, "\(request)")
                    #expect(status?.reason == .notLeader)
                    #expect(status?.isNotExecuted == true)
                    // The other node has no service, so nobody has said where it is.
                    #expect(status?.leader == "")
                    #expect(status?.retryAfterMilliseconds == 500)
                    #expect(status?.violations == [])
                }
            }
            #expect(service.cluster.proposalCount == 0)
        }
    }

    @Test func helloIsAnsweredWithoutAChannel() async throws {
        let service = try await ClusterService(leads: false)
        try service.other.begin()
        try await service.run { running in
            let (_, hello) = try running.greet()
            #expect(hello.role == .follower)
            #expect(hello.channelStatus?.reason == .notLeader)
            #expect(hello.channelStatus?.isNotExecuted == true)
            #expect(!hello.capabilities.contains(.exactlyOnce))
            #expect((hello.isClientKnown, hello.lastSequence) == (false, 0))
            let nobody = try running.connect().hello()
            guard case .hello(let anonymous) = nobody.response else { throw Unexpected(nobody) }
            #expect(anonymous.role == .follower)
            #expect(anonymous.channelStatus == nil)
            // The replica says once a second whom it knows.
            var members: [ClusterMember] = []
            while members.isEmpty {
                let answer = try running.connect().hello()
                guard case .hello(let hello) = answer.response else { throw Unexpected(answer) }
                members = hello.members
            }
            #expect(members == [ClusterMember(address: ClusterService.address, role: .follower)])
        }
    }

    @Test func aServiceWithoutAClusterHasNoRole() async throws {
        try await withClient { client in
            let answer = try client.hello()
            guard case .hello(let hello) = answer.response else { throw Unexpected(answer) }
            #expect((hello.role, hello.members) == (.unspecified, []))
        }
    }

    @Test func readsShowWhatTheLogHas() async throws {
        let service = try await ClusterService(leads: false)
        try service.other.begin()
        try await service.run { running in
            let post = try service.other.createPost(title: "a")
            try running.awaitPost(post.id)
            let client = try running.connect()
            #expect(try client.list(ListPostsRequest(feed: "posts")).posts.map(\.title) == ["a"])
            let answer = try client.call(.getPost(GetPostRequest(id: post.id)))
            #expect(answer.revision == post.revision)
            #expect(try client.serverStats().postCount == 1)
        }
    }

    @Test("a follower backs up what it has, by its schedule and when asked, and it is restored")
    func aFollowerBacksUp() async throws {
        let service = try await ClusterService(leads: false)
        try service.other.begin()
        let copies = Transferred(try TemporaryDirectory())
        let path = copies.value.path
        let made = Locked("")
        try await service.run {
            $0.state?.backups.interval = .seconds(3_600)
        } _: { running in
            // The schedule's first one begins at once.
            let client = try running.connect()
            while try client.serverStats().backups?.lastName.hasSuffix("-scheduled") != true {}
            let first = try service.other.createPost(title: "a")
            try running.awaitPost(first.id)
            // A record is shown just before it counts as one that the node has.
            var backup: BackupResponse
            repeat {
                let answer = try client.call(.backup)
                guard case .backup(let made) = answer.response else { throw Unexpected(answer) }
                backup = made
            } while backup.revision < first.revision
            let second = try service.other.createPost(title: "b")
            let third = try service.other.createPost(title: "c")
            try running.awaitPost(third.id)
            let name = backup.name
            made.withLock { $0 = name }
            // The journal goes on from the backup, while the service serves.
            _ = try MomentRestore.run(
                of: RestoreSource(path: service.path),
                to: .revision(second.revision),
                into: path + "/moment"
            )
        }
        let backup = "\(service.path)/backups/\(made.withLock { $0 })"
        try BackupRestore.run(backup: backup, into: path + "/backup")
        for (name, titles) in [("backup", ["a"]), ("moment", ["a", "b"])] {
            try await withService {
                var state = StateOptions(path: "\(path)/\(name)", logCount: $0.threadCount)
                state.journal.space.ballastByteCount = 1 << 20
                $0.state = state
            } _: { port in
                let posts = try WireClient(port: port).list(ListPostsRequest(feed: "posts")).posts
                #expect(posts.map(\.title).sorted() == titles, "\(name)")
            }
        }
        withExtendedLifetime(copies) {}
    }

    @Test("a read waits for its revision, and others of its connection do not wait for it")
    func aReadWaitsForItsRevision() async throws {
        let service = try await ClusterService(leads: false)
        try service.other.begin()
        try await service.run { configuration in
            configuration.limits.catchUpTime = .seconds(60)
        } _: { running in
            let first = try service.other.createPost(title: "a")
            try running.awaitPost(first.id)
            let client = try running.connect()
            let read = Request.listPosts(ListPostsRequest(feed: "posts"))
            let later = first.revision + 1
            try client.send(ClientFrame(id: 1, request: read, minimumRevision: later))
            try client.send(ClientFrame(id: 2, request: .ping(PingRequest())))
            try client.send(
                ClientFrame(id: 3, request: read, minimumRevision: first.revision)
            )
            #expect(try [client.receive(), client.receive()].map { $0?.id } == [2, 3])
            let second = try service.other.createPost(title: "b")
            #expect(second.revision >= later)
            let answer = try client.receive()
            #expect(answer?.id == 1)
            #expect(answer?.status == nil)
            #expect(answer.map { $0.revision >= later } == true)
        }
    }

    @Test("T-CALL-18: reads that wait for a revision are bounded, and refused if it does not come")
    func aRevisionThatDoesNotComeIsRefused() async throws {
        let service = try await ClusterService(leads: false)
        try service.other.begin()
        try await service.run { configuration in
            configuration.limits.catchUpTime = .milliseconds(50)
            configuration.limits.waitingReadCount = 2
        } _: { running in
            let post = try service.other.createPost(title: "a")
            try running.awaitPost(post.id)
            let client = try running.connect()
            let read = Request.getPost(GetPostRequest(id: post.id))
            let later = post.revision + 1_000
            // Two may wait, and the others are refused at once.
            for id in 1...4 as ClosedRange<UInt64> {
                try client.send(ClientFrame(id: id, request: read, minimumRevision: later))
            }
            var ids: [UInt64] = []
            for _ in 1...4 {
                let answer = try #require(try client.receive())
                ids.append(answer.id)
                #expect(answer.status?.code == .unavailable)
                #expect(answer.status?.reason == .notCaughtUp)
                #expect(answer.status?.isNotExecuted == true)
                #expect(answer.status?.retryAfterMilliseconds == 100)
                #expect(answer.status?.leader == "")
            }
            #expect(ids == [3, 4, 1, 2])
            // And there is room again.
            try client.send(ClientFrame(id: 5, request: read, minimumRevision: later))
            try client.send(ClientFrame(id: 6, request: .ping(PingRequest())))
            #expect(try [client.receive(), client.receive()].map { $0?.id } == [6, 5])
        }
    }

    @Test("a session that only the leader knows is not called expired, which clients forget")
    func aSessionMayBeInARecordToCome() async throws {
        let service = try await ClusterService(leads: false)
        try service.other.begin()
        try await service.run { running in
            let token = [UInt8](repeating: 7, count: 32)
            let client = try running.connect()
            let status = try client.call(.hello(HelloRequest(sessionToken: token))).status
            #expect(status?.code == .unavailable)
            #expect(status?.reason == .notLeader)
            #expect(status?.isNotExecuted == true)
            #expect(status?.retryAfterMilliseconds == 0)
        }
    }

    /// A use at a follower is no change of the state.
    @Test("a session that was not used at the leader for half of its time is sent there")
    func aSessionIsRenewedAtTheLeader() async throws {
        let service = try await ClusterService(leads: false)
        try service.other.begin()
        try await service.run { running in
            let accounts = Accounts()
            let now = SystemClock.unixMilliseconds()
            var tokens: [[UInt8]] = []
            try service.other.write { _, changes in
                let email = try #require(EmailAddress("a@example.org"))
                let account = try accounts.create(
                    email,
                    displayName: "Ann",
                    passwordHash: "",
                    at: now,
                    changes
                )
                for days in [14, 16] as [Int64] {
                    let time = now - days * 86_400_000
                    let begun = accounts.beginSession(of: account.id, at: time, changes)
                    tokens.append(try #require(begun).token.bytes)
                }
            }
            // Nobody has said where the leader is: the session serves.
            var late = try running.connect()
            while try late.call(.hello(HelloRequest(sessionToken: tokens[1]))).status != nil {
                late = try running.connect()
            }
            #expect(try late.call(.getSession).status == nil)
            service.cluster.setAddress("feed9.example.org:7433", of: FakeCluster.otherNode)
            var isLeaderKnown = false
            while !isLeaderKnown {
                let answer = try running.connect()
                    .call(.hello(HelloRequest(sessionToken: tokens[0])))
                guard case .hello(let hello) = answer.response else { throw Unexpected(answer) }
                #expect(hello.user?.displayName == "Ann")
                isLeaderKnown = hello.members.contains { $0.role == .leader }
            }
            let watch = WatchPostsRequest(feed: "posts", topCount: 3)
            for request in [.getSession, .listFeeds, .watchPosts(watch)] as [Request] {
                let status = try late.call(request).status
                #expect(status?.reason == .notLeader, "\(request)")
                #expect(status?.isNotExecuted == true)
                #expect(status?.leader == "feed9.example.org:7433")
            }
            // Hello names the members, of which one leads.
            let hello = Request.hello(HelloRequest(sessionToken: tokens[1]))
            #expect(try late.call(hello).status == nil)
            #expect(try late.call(.ping(PingRequest())).status == nil)
            let early = Request.hello(HelloRequest(sessionToken: tokens[0]))
            #expect(try late.call(early).status == nil)
            #expect(try late.call(.listFeeds).status == nil)
        }
    }

    @Test("a reader who has come further than the follower does not begin anew there")
    func syncsAndWatchesDoNotGoBack() async throws {
        let service = try await ClusterService(leads: false)
        try service.other.begin()
        try await service.run { running in
            let post = try service.other.createPost(title: "a")
            try running.awaitPost(post.id)
            let client = try running.connect()
            let later = post.revision + 1
            let ahead: [Request] = [
                .syncPosts(SyncPostsRequest(feed: "posts", sinceRevision: later)),
                .syncPosts(
                    SyncPostsRequest(
                        feed: "posts",
                        sinceRevision: post.revision,
                        copyRevision: later
                    )
                ),
                .watchPosts(WatchPostsRequest(postIDs: [post.id], sinceRevision: later)),
            ]
            for request in ahead {
                let status = try client.call(request).status
                #expect(status?.reason == .notCaughtUp, "\(request)")
                #expect(status?.isNotExecuted == true)
            }
            let sync = SyncPostsRequest(feed: "posts", sinceRevision: post.revision)
            // The post is seen before the revision that its record ends with.
            let answer = try running.call(.syncPosts(sync)) { $0.status == nil }
            guard case .syncPosts(let changes) = answer.response else { throw Unexpected(sync) }
            #expect((changes.isReset, changes.posts.count) == (false, 0))
        }
    }

    @Test func readsAreRefusedIfTheFollowerHearsNothing() async throws {
        let service = try await ClusterService(leads: false)
        try service.other.begin()
        try await service.run { configuration in
            configuration.limits.maximumStaleness = .milliseconds(100)
        } _: { running in
            let read = Request.listFeeds
            _ = try running.call(read) { $0.status == nil }
            let watcher = try running.connect()
            let watch = WatchPostsRequest(feed: "posts", topCount: 3)
            try watcher.send(ClientFrame(id: 1, request: .watchPosts(watch)))
            service.cluster.hearsByItself(false)
            let status = try running.call(read) { $0.status != nil }.status
            #expect(status?.code == .unavailable)
            #expect(status?.reason == .staleReplica)
            #expect(status?.isNotExecuted == true)
            #expect(status?.retryAfterMilliseconds == 100)
            // What is watched ends, too.
            var event = try watcher.receive()
            while let shown = event, shown.status == nil { event = try watcher.receive() }
            #expect(event?.status?.reason == .staleReplica)
            let client = try running.connect()
            #expect(try client.call(.ping(PingRequest())).status == nil)
            #expect(try client.hello().status == nil)
            #expect(try client.call(.getServerStats).status == nil)
            service.cluster.hearsByItself(true)
            _ = try running.call(read) { $0.status == nil }
        }
    }
}
