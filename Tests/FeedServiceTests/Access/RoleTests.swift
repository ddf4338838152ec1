import FeedProto
import FeedService
import FeedTLS
import FeedTestSupport
import FeedTransport
import Foundation
import Testing

/// Every method, made by a caller of every role over every transport.
@Suite(.timeLimit(.minutes(10))) struct RoleTests {
    /// How a connection reaches the service, and how its caller shows a role; one that is added is
    /// tested with each role.
    enum Transport: CaseIterable {
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
            let asksForMore =
                [
                    .getSession, .signOut, .changePassword, .changeEmail, .deleteAccount,
                    .listSessions, .endSession, .markPosts,
                ].contains(method)
            if asksForMore, method.access.admits(role) { continue }
            #expect(isRefused == !method.access.admits(role), "\(method.name): \(reason as Any)")
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
            (
                .changePassword,
                .changePassword(ChangePasswordRequest(password: "", newPassword: ""))
            ),
            (.changeEmail, .changeEmail(ChangeEmailRequest(password: "", email: ""))),
            (.deleteAccount, .deleteAccount(DeleteAccountRequest(password: ""))),
            (.listSessions, .listSessions),
            (.endSession, .endSession(EndSessionRequest(id: 1))),
            (.changeUser, .changeUser(ChangeUserRequest(userID: 99, change: .suspend))),
            (.makePasswordReset, .makePasswordReset(MakePasswordResetRequest(userID: 99))),
            (.resetPassword, .resetPassword(ResetPasswordRequest(token: [], newPassword: ""))),
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
            (.clusterStatus, .clusterStatus(ClusterStatusRequest())),
            (.changeMembers, .changeMembers(ChangeMembersRequest())),
            (.transferLeadership, .transferLeadership(TransferLeadershipRequest())),
            (.unknown, nil),
            // The last two: the caller is no user any more, and the service stops.
            (.signOut, .signOut(SignOutRequest())),
            (.drain, .drain),
        ]
    }
}

/// The authorisation table, cell by cell, and its copy in docs/PROTOCOL.md.
@Suite struct AccessTableTests {
    /// A role for each column; a dot where the role may not make the call.
    private static let expected = """
        hello               anonymous device user reader service operator local
        ping                anonymous device user reader service operator local
        cancel              anonymous device user reader service operator local
        sign_up             anonymous device user .      service .        local
        sign_in             anonymous device user .      service .        local
        get_session         .         .      user .      service .        local
        sign_out            .         .      user .      service .        local
        change_password     .         .      user .      service .        local
        change_email        .         .      user .      service .        local
        delete_account      .         .      user .      service .        local
        list_sessions       .         .      user .      service .        local
        end_session         .         .      user .      service .        local
        change_user         .         .      .    .      service .        local
        make_password_reset .         .      .    .      service .        local
        reset_password      anonymous device user .      service .        local
        create_post         anonymous device user .      service .        local
        import_posts        .         .      .    .      service .        local
        get_post            anonymous device user reader service .        local
        batch_get_posts     anonymous device user reader service .        local
        list_posts          anonymous device user reader service .        local
        update_post         .         device user .      service .        local
        delete_post         .         device user .      service .        local
        sync_posts          anonymous device user reader service .        local
        watch_posts         anonymous device user reader service .        local
        get_post_rank       anonymous device user reader service .        local
        cast_vote           anonymous device user .      service .        local
        batch_cast_votes    anonymous device user .      service .        local
        mark_posts          .         device user .      service .        local
        list_feeds          anonymous device user reader service .        local
        create_feed         .         .      .    .      service .        local
        get_server_stats    anonymous device user reader service operator local
        backup              .         .      .    .      .       operator local
        correct_times       .         .      .    .      service .        local
        delete_posts        .         .      .    .      service operator local
        drain               .         .      .    .      .       operator local
        set_log_level       .         .      .    .      .       operator local
        cluster_status      .         .      .    .      .       operator local
        change_members      .         .      .    .      .       operator local
        transfer_leadership .         .      .    .      .       operator local
        unknown             anonymous device user reader service operator local
        """

    private static func rows() -> [(call: String, roles: [String])] {
        expected.split(separator: "\n").map { line in
            let words = line.split(separator: " ").map(String.init)
            return (words[0], Array(words.dropFirst()))
        }
    }

    @Test("T-CALL-8: each call is open to the roles of its row and to no other")
    func everyCellIsAsExpected() throws {
        let rows = Self.rows()
        #expect(rows.map(\.call) == Method.allCases.map(\.name))
        for (row, method) in zip(rows, Method.allCases) {
            for (cell, role) in zip(row.roles, Role.allCases) {
                #expect(
                    method.access.admits(role) == (cell == role.rawValue),
                    "\(method.name), \(role)"
                )
            }
        }
    }

    @Test("the fast path of votes, which asks for single votes, may serve batches, too")
    func votesAndBatchesAreOpenToTheSameRoles() {
        for role in Role.allCases {
            #expect(
                Method.castVote.access.admits(role) == Method.batchCastVotes.access.admits(role)
            )
        }
    }

    @Test(
        "each role of a key is a role of the table, but an app's, which is that of a keyless caller"
    )
    func keysHaveRolesOfTheTable() {
        for role in KeyRole.allCases where role != .app {
            #expect(Role(rawValue: role.rawValue) != nil, "\(role)")
        }
        #expect(Role(rawValue: KeyRole.app.rawValue) == nil)
    }

    @Test("docs/PROTOCOL.md has the table")
    func thePageShowsTheTable() throws {
        let page = try String(contentsOf: Self.page, encoding: .utf8)
        #expect(page.contains(Self.table()), "docs/PROTOCOL.md should have:\n\(Self.table())")
    }

    /// The table as the page shows it.
    private static func table() -> String {
        let roles = Role.allCases.map(\.rawValue)
        let head = [row("Call", roles), "|---|" + roles.map { _ in "---|" }.joined()]
        let rows = Method.allCases.filter { $0 != .unknown }.map { method in
            let access = method.access
            return row(
                "`\(method.name)`",
                Role.allCases.map { access.admits($0) ? "yes" : access.refusal(of: $0) }
            )
        }
        return (head + rows).joined(separator: "\n")
    }

    private static func row(_ call: String, _ cells: [String]) -> String {
        "| \(call) | \(cells.joined(separator: " | ")) |"
    }

    private static var page: URL {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "docs/PROTOCOL.md")
    }
}

extension Access {
    /// The reason that a caller of another role gets, as the page names it.
    fileprivate func refusal(of role: Role) -> String {
        switch (role, self) {
        case (.reader, _), (.service, _), (.operator, _), (_, .operators),
            (_, .servicesAndOperators):
            "ROLE_DENIED"
        case (_, .services): "SERVICE_ONLY"
        default: "IDENTITY_REQUIRED"
        }
    }
}

/// What the role of a key changes beside the rows of the table.
@Suite(.timeLimit(.minutes(10))) struct KeyRoleTests {
    private static let device = [UInt8](repeating: 1, count: 16)

    private static func hello(
        _ client: WireClient,
        _ key: NewServiceKey?,
        device: [UInt8] = []
    ) throws -> HelloResponse? {
        let request = HelloRequest(clientID: device, serviceKey: key?.bytes ?? [])
        guard case .hello(let response) = try client.call(.hello(request)).response else {
            return nil
        }
        return response
    }

    private static func vote(_ client: WireClient, sequence: UInt64 = 0) throws -> Status? {
        let vote = CastVoteRequest(postID: 1, direction: .up)
        return try client.call(.castVote(vote), sequence: sequence).status
    }

    private static func score(_ client: WireClient) throws -> Int64? {
        let post = try client.post(1)
        return post.score
    }

    /// A service with one post, and the client that has created it.
    private static func withPost(
        _ body: @escaping @Sendable (UInt16, TestKeys, WireClient) throws -> Void
    ) async throws {
        try await withTestKeys { port, keys in
            let client = try WireClient(port: port)
            _ = try client.call(.createPost(CreatePostRequest(post: Post(title: "Apple"))))
            try body(port, keys, client)
        }
    }

    @Test("T-KEY-6: neither the fast path of votes nor a batch counts the votes of a reader")
    func aReaderDoesNotVote() async throws {
        try await Self.withPost { port, keys, app in
            for key in [keys.reader, keys.operator] {
                let client = try WireClient(port: port)
                #expect(try Self.hello(client, key, device: Self.device) != nil)
                let vote = CastVoteRequest(postID: 1, direction: .up)
                let requests: [Request] = [
                    .castVote(vote), .castVote(vote),
                    .batchCastVotes(BatchCastVotesRequest(votes: [vote, vote])),
                ]
                for sequence in [UInt64(0), 1] {
                    for request in requests {
                        let status = try client.call(request, sequence: sequence).status
                        #expect(status?.code == .permissionDenied)
                        #expect(status?.reason == .roleDenied)
                        #expect(status?.isNotExecuted == true)
                    }
                }
            }
            #expect(try Self.score(app) == 0)
        }
    }

    @Test("T-KEY-6: a key that may change nothing opens no channel, and Hello says why")
    func aReaderHasNoChannel() async throws {
        try await Self.withPost { port, keys, _ in
            let client = try WireClient(port: port)
            let reader = try #require(try Self.hello(client, keys.reader, device: Self.device))
            #expect(reader.channelStatus?.reason == .roleDenied)
            #expect(!reader.capabilities.contains(.exactlyOnce))
            #expect(try Self.score(client) == 0)
            let service = try #require(try Self.hello(client, keys.web, device: Self.device))
            #expect(service.channelStatus == nil)
            // The reader's Hello has left nothing that the service would know again.
            #expect(!service.isClientKnown)
            #expect(try Self.vote(client, sequence: 1) == nil)
        }
    }

    @Test("T-KEY-6: only a service acts for users")
    func onlyAServiceActs() async throws {
        try await Self.withPost { port, keys, _ in
            for key in [keys.app, keys.reader, keys.operator] {
                let client = try WireClient(port: port)
                #expect(try Self.hello(client, key) != nil)
                var frame = ClientFrame(id: 2, request: .ping(PingRequest()))
                frame.actingUserID = .ofService(1)
                try client.send(frame)
                #expect(try client.receive()?.status?.reason == .serviceOnly)
            }
        }
    }

    @Test("an app's key gives what a caller without a key has")
    func anAppIsWhatItShowsOtherwise() async throws {
        try await Self.withPost { port, keys, _ in
            let client = try WireClient(port: port)
            #expect(try Self.hello(client, keys.app) != nil)
            #expect(try Self.vote(client) == nil)
            let mark = Request.markPosts(MarkPostsRequest(mark: .read, postIDs: [1]))
            #expect(try client.call(mark).status?.reason == .identityRequired)
            #expect(try Self.hello(client, keys.app, device: Self.device) != nil)
            #expect(try client.call(mark).status == nil)
            #expect(try client.signUp("ann@example.org").status == nil)
            #expect(try client.call(.getSession).status == nil)
            #expect(try client.call(.backup).status?.reason == .roleDenied)
        }
    }

    @Test("T-KEY-3: a key with another role in the new file has it at once")
    func aKeyChangesItsRole() async throws {
        try await Self.withPost { port, keys, app in
            let client = try WireClient(port: port)
            #expect(try Self.hello(client, keys.web) != nil)
            #expect(try Self.vote(client) == nil)
            let web = keys.web.key
            keys.valid.replace(with: [ServiceKey(name: "web", proof: web.proof, role: .reader)])
            #expect(try Self.vote(client)?.reason == .roleDenied)
            keys.valid.replace(with: [ServiceKey(name: "web", proof: web.proof, role: .app)])
            #expect(try Self.vote(client) == nil)
            #expect(try Self.score(app) == 2)
        }
    }
}
