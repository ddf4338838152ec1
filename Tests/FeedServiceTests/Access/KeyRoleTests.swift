import FeedProto
import FeedService
import FeedTestSupport
import Testing

/// What the role of a key changes beside the rows of the table.
@Suite(.timeLimit(.minutes(10)))
struct KeyRoleTests {
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
        guard case .post(let post) = try client.call(.getPost(GetPostRequest(id: 1))).response
        else {
            return nil
        }
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
                frame.actingUserID = 1 << 63 | 1
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
