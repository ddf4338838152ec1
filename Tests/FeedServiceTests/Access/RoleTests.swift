import FeedProto
import FeedService
import FeedTLS
import FeedTestSupport
import FeedTransport
import Testing

/// Every method, made by a caller of every role over every transport.
@Suite(.timeLimit(.minutes(10)))
struct RoleTests {
    /// How a connection reaches the service, and how its caller shows a role; one that is added is
    /// tested with each role.
    enum Transport: CaseIterable {
        /// From this machine.
        case loopback
        /// From an address that other machines have, too.
        case remote
        /// With TLS, where Hello shows the key.
        case secured
        /// With TLS, where the certificate has an identity, and Hello shows no key.
        case certificate

        /// Those that this machine has.
        static var available: [Self] {
            allCases.filter { $0 != .remote || TestSocket.ownAddress != nil }
        }

        func configure(_ configuration: inout ServiceConfiguration, _ made: TestCertificates) throws
        {
            switch self {
            case .loopback: break
            case .remote: configuration.addresses = [SocketAddress(host: .v4(0), port: 0)]
            case .secured, .certificate:
                configuration.addresses = []
                configuration.tls = try made.service(asksForCertificates: self == .certificate)
            }
        }

        func client(port: UInt16, _ made: TestCertificates) throws -> WireClient {
            switch self {
            case .loopback: try WireClient(port: port)
            case .remote:
                try WireClient(port: port, host: #require(TestSocket.ownAddress))
            case .secured: try made.client(port: port)
            case .certificate: try made.client(port: port, "client")
            }
        }
    }

    private static let device = [UInt8](repeating: 1, count: 16)

    private static func hello(
        _ client: WireClient,
        key: [UInt8] = [],
        device: [UInt8] = []
    ) throws -> Status? {
        try client.call(.hello(HelloRequest(clientID: device, serviceKey: key))).status
    }

    @Test(
        "each refused cell of the table is refused over the wire",
        arguments: Role.allCases,
        Transport.available
    )
    func theHandlerReadsTheTable(role: Role, transport: Transport) async throws {
        let made = try TestCertificates()
        var tls = ServiceConfiguration(addresses: [.loopback(port: 0)], threadCount: 1)
        try transport.configure(&tls, made)
        if transport == .certificate {
            try made.add(.init("client", alternativeNames: "URI:spiffe://test/\(role.rawValue)"))
        }
        func listen(_ configuration: inout ServiceConfiguration) {
            configuration.addresses = tls.addresses
            configuration.tls = tls.tls
        }
        guard role != .local else {
            return try await withAccounts(threads: 1, listen) { port in
                let client = try transport.client(port: port, made)
                // Who comes from elsewhere is a caller without a key.
                try Self.makeAllCalls(client, as: transport == .remote ? .anonymous : .local)
            }
        }
        try await withTestKeys(listen) { port, keys in
            keys.nameCertificates()
            let client = try transport.client(port: port, made)
            // The certificate alone makes the caller a holder of a key.
            let showsKey = transport != .certificate
            func show(_ key: NewServiceKey) throws -> Status? {
                showsKey ? try Self.hello(client, key: key.bytes) : nil
            }
            switch role {
            case .anonymous, .local: break
            case .device: #expect(try Self.hello(client, device: Self.device) == nil)
            case .user: #expect(try client.signUp("ann@example.org").status == nil)
            case .reader: #expect(try show(keys.reader) == nil)
            case .service: #expect(try show(keys.web) == nil)
            case .operator: #expect(try show(keys.operator) == nil)
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
            (.deletePosts, .deletePosts(DeletePostsRequest())),
            (.setLogLevel, .setLogLevel(SetLogLevelRequest(level: "info"))),
            (.unknown, nil),
            // The last two: the caller is no user any more, and the service stops.
            (.signOut, .signOut(SignOutRequest())),
            (.drain, .drain),
        ]
    }
}
