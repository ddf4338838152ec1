import FeedProto
import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// Which role a caller has where there are service keys, and what each role may do then.
@Suite(.timeLimit(.minutes(1)))
struct ServiceKeyTests {
    private static let device = [UInt8](repeating: 1, count: 16)

    private static func hello(
        _ client: WireClient,
        key: [UInt8],
        device: [UInt8] = []
    ) throws -> Status? {
        try client.call(.hello(HelloRequest(clientID: device, serviceKey: key))).status
    }

    /// The reason why CreateFeed is refused; nil where the caller is a service.
    private static func refusal(_ client: WireClient, _ name: String) throws -> Reason? {
        try client.call(.createFeed(CreateFeedRequest(feed: Feed(name: name)))).status?.reason
    }

    @Test("T-KEY-1: only who shows a key is a service, from this machine too")
    func aKeyMakesAService() async throws {
        try await withTestKeys { port, keys in
            let client = try WireClient(port: port)
            #expect(try Self.refusal(client, "a") == .serviceOnly)
            #expect(try Self.hello(client, key: keys.web.bytes) == nil)
            #expect(try Self.refusal(client, "a") == nil)
            let other = try WireClient(port: port)
            #expect(try Self.hello(other, key: keys.batch.bytes, device: Self.device) == nil)
            #expect(try Self.refusal(other, "b") == nil)
            // A Hello without a key withdraws the role.
            #expect(try Self.hello(client, key: []) == nil)
            #expect(try Self.refusal(client, "c") == .serviceOnly)
        }
    }

    @Test("T-KEY-2: a wrong key of any length is refused, and the caller stays what it was")
    func refusesWrongKeys() async throws {
        try await withTestKeys { port, keys in
            let client = try WireClient(port: port)
            var almost = keys.web.bytes
            almost[31] ^= 1
            let wrong = [
                almost, Array(keys.web.bytes.dropLast()), keys.web.bytes + [0], [0],
                [UInt8](repeating: 7, count: 1_000_000),
            ]
            for key in wrong {
                let status = try Self.hello(client, key: key, device: Self.device)
                #expect(status?.code == .unauthenticated)
                #expect(status?.reason == .badCredentials)
                #expect(try Self.refusal(client, "a") == .serviceOnly)
                // Nor has it become a device.
                let mark = MarkPostsRequest(mark: .read, postIDs: [1])
                let marked = try client.call(.markPosts(mark)).status
                #expect(marked?.reason == .identityRequired)
            }
            #expect(try Self.hello(client, key: keys.web.bytes) == nil)
            #expect(try Self.refusal(client, "a") == nil)
        }
    }

    @Test("T-KEY-3: a replaced key is void at once, and a kept one stays good")
    func replacesKeys() async throws {
        try await withTestKeys { port, keys in
            let old = try WireClient(port: port)
            let kept = try WireClient(port: port)
            #expect(try Self.hello(old, key: keys.web.bytes) == nil)
            #expect(try Self.hello(kept, key: keys.batch.bytes) == nil)
            let next = NewServiceKey(name: "web-next")
            keys.valid.replace(with: [next.key, keys.batch.key])
            #expect(try Self.refusal(old, "a") == .serviceOnly)
            #expect(try Self.refusal(kept, "a") == nil)
            #expect(try Self.hello(old, key: keys.web.bytes)?.reason == .badCredentials)
            #expect(try Self.hello(old, key: next.bytes) == nil)
            #expect(try Self.refusal(old, "b") == nil)
            // A key that is put back is good again for who shows it again.
            keys.valid.replace(with: [keys.web.key])
            #expect(try Self.refusal(old, "c") == .serviceOnly)
            #expect(try Self.hello(kept, key: keys.web.bytes) == nil)
            #expect(try Self.refusal(kept, "c") == nil)
        }
    }

    @Test func withoutKeysACallerOfThisMachineMayShowAny() async throws {
        try await withService { port in
            let client = try WireClient(port: port)
            #expect(try Self.hello(client, key: [1, 2, 3]) == nil)
            #expect(try Self.refusal(client, "a") == nil)
        }
    }

    @Test(
        "T-KEY-1: without keys a caller from another address shows none that is good",
        .enabled(if: TestSocket.ownAddress != nil, "this machine has a loopback address only")
    )
    func aRemoteCallerNeedsKeysOfTheService() async throws {
        let own = try #require(TestSocket.ownAddress)
        let everywhere = SocketAddress(host: .v4(0), port: 0)
        func listen(_ configuration: inout ServiceConfiguration) {
            configuration.addresses = [everywhere]
        }
        try await withService(threads: 1, listen) { port in
            let remote = try WireClient(port: port, host: own)
            let key = NewServiceKey(name: "web").bytes
            #expect(try Self.hello(remote, key: key)?.reason == .badCredentials)
        }
    }

    /// How a connection reaches the service; a transport that is added is tested with each role.
    enum Transport: CaseIterable {
        case tcp
    }

    @Test(
        "each refused cell of the table is refused over the wire",
        arguments: Role.allCases,
        Transport.allCases
    )
    func theHandlerReadsTheTable(role: Role, transport: Transport) async throws {
        guard role != .local else {
            return try await withAccounts(threads: 1) { port in
                try Self.makeAllCalls(WireClient(port: port), as: role)
            }
        }
        try await withTestKeys { port, keys in
            let client = try WireClient(port: port)
            switch role {
            case .anonymous, .local: break
            case .device: #expect(try Self.hello(client, key: [], device: Self.device) == nil)
            case .user: #expect(try client.signUp("ann@example.org").status == nil)
            case .reader: #expect(try Self.hello(client, key: keys.reader.bytes) == nil)
            case .service: #expect(try Self.hello(client, key: keys.web.bytes) == nil)
            case .operator: #expect(try Self.hello(client, key: keys.operator.bytes) == nil)
            }
            try Self.makeAllCalls(client, as: role)
        }
    }

    private static func makeAllCalls(_ client: WireClient, as role: Role) throws {
        // Hello comes first, and Cancel has no answer.
        #expect(Set(requests.map(\.0)).union([.hello, .cancel]) == Set(Method.allCases))
        for (method, request) in requests {
            let reason = try client.call(request).status?.reason
            let isRefused =
                reason == .serviceOnly || reason == .identityRequired || reason == .roleDenied
            // These ask for a user or a device of their own beside the role.
            let asksForMore = [.getSession, .signOut, .markPosts].contains(method)
            if asksForMore, method.access.admits(role) { continue }
            #expect(
                isRefused == !method.access.admits(role),
                "\(method.name): \(reason as Any)"
            )
        }
    }

    /// A request of each method; most are answered with an error, but not for want of a role.
    ///
    /// Computed: the address sanitizer takes the array of a constant for a leak.
    private static var requests: [(Method, Request?)] {
        [
            (.ping, .ping(PingRequest())),
            (.signUp, .signUp(SignUpRequest(email: "", password: ""))),
            (.signIn, .signIn(SignInRequest(email: "", password: ""))),
            (.getSession, .getSession),
            (.markPosts, .markPosts(MarkPostsRequest(mark: .read, postIDs: [1]))),
            (.createPost, .createPost(CreatePostRequest(post: Post(title: "a")))),
            (.importPosts, .importPosts(ImportPostsRequest(posts: [Post(title: "b")]))),
            (.getPost, .getPost(GetPostRequest(id: 1))),
            (.batchGetPosts, .batchGetPosts(BatchGetPostsRequest(ids: [1]))),
            (.listPosts, .listPosts(ListPostsRequest())),
            (.updatePost, .updatePost(UpdatePostRequest(post: Post(id: 1), updateMask: [.title]))),
            (.deletePost, .deletePost(DeletePostRequest(id: 99))),
            (.syncPosts, .syncPosts(SyncPostsRequest())),
            (
                .watchPosts,
                .watchPosts(WatchPostsRequest(topCount: 1, minimumIntervalMilliseconds: 60_000))
            ),
            (.getPostRank, .getPostRank(GetPostRankRequest(id: 1))),
            (.castVote, .castVote(CastVoteRequest(postID: 1, direction: .up))),
            (
                .batchCastVotes,
                .batchCastVotes(
                    BatchCastVotesRequest(votes: [CastVoteRequest(postID: 1, direction: .up)])
                )
            ),
            (.listFeeds, .listFeeds),
            (.createFeed, .createFeed(CreateFeedRequest(feed: Feed(name: "made")))),
            (.getServerStats, .getServerStats),
            (.backup, .backup),
            (.correctTimes, .correctTimes(CorrectTimesRequest())),
            (.unknown, nil),
            // The last two: the caller is no user any more, and the service stops.
            (.signOut, .signOut(SignOutRequest())),
            (.drain, .drain),
        ]
    }
}
