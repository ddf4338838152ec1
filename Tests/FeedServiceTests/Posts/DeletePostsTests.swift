import FeedJournal
import FeedProto
import FeedService
import FeedState
import FeedTestSupport
import Testing

/// What one user, device or host has made is found and deleted.
@Suite(.timeLimit(.minutes(1))) struct DeletePostsTests {
    private static let first = [UInt8](repeating: 1, count: 16)
    private static let second = [UInt8](repeating: 2, count: 16)

    private static func delete(
        _ client: WireClient,
        _ request: DeletePostsRequest
    ) throws -> DeletePostsResponse {
        let answer = try client.call(.deletePosts(request))
        guard case .deletePosts(let response) = answer.response else {
            throw try #require(answer.status)
        }
        return response
    }

    private static func titles(_ client: WireClient) throws -> [String] {
        try client.list(ListPostsRequest(feed: "posts", order: .old)).posts.map(\.title)
    }

    private static func create(_ client: WireClient, _ titles: [String]) throws {
        for title in titles { _ = try client.createPost(title: title) }
    }

    @Test("T-POST-4: what a user, a device or a host made is listed and deleted, for good")
    func deletesWhatOneHasMade() async throws {
        let directory = try TemporaryDirectory()
        func configure(_ configuration: inout ServiceConfiguration, at time: Int64) {
            var state = StateOptions(path: directory.path, logCount: configuration.threadCount)
            state.journal.space.ballastByteCount = 1 << 20
            configuration.state = state
            configuration.timeOfDay = { time }
        }
        try await withTestKeys {
            configure(&$0, at: 1_000)
        } _: { port, keys in
            let web = try WireClient(port: port)
            _ = try web.call(.hello(HelloRequest(serviceKey: keys.web.bytes)))
            let imported = ImportPostsRequest(posts: [Post(title: "imported")])
            #expect(try web.refusal(.importPosts(imported)) == nil)
            let nobody = try WireClient(port: port, from: IdentityLimitTests.greedyHost)
            try Self.create(nobody, ["a", "b"])
            let device = try WireClient(port: port, from: IdentityLimitTests.greedyHost)
            _ = try device.hello(clientID: Self.first)
            try Self.create(device, ["c"])
            let elsewhere = try WireClient(port: port, from: IdentityLimitTests.otherHost)
            _ = try elsewhere.hello(clientID: Self.first)
            try Self.create(elsewhere, ["d"])
            _ = try elsewhere.hello(clientID: Self.second)
            let user = try elsewhere.signUp("ann@example.org").session.user
            try Self.create(elsewhere, ["e"])

            let listed = try Self.delete(web, DeletePostsRequest())
            #expect(listed.posts.map(\.title) == ["imported", "a", "b", "c", "d", "e"])
            #expect(
                listed.posts.map(\.host) == [
                    "", "127.0.0.2", "127.0.0.2", "127.0.0.2", "127.0.0.3", "127.0.0.3",
                ]
            )
            #expect(listed.posts.map(\.clientID)[3...] == [Self.first, Self.first, Self.second])
            #expect(listed.posts.map(\.authorID) == [0, 0, 0, 0, 0, user?.id])
            #expect(listed.nextAfterID == 0 && listed.originsSinceTimeMilliseconds == 1_000)

            // A copy learns each deletion, and so does a watch.
            guard case .syncPosts(let copy) = try web.call(.syncPosts(SyncPostsRequest())).response
            else { return #expect(Bool(false), "no copy") }
            let watcher = try WireClient(port: port)
            try watcher.send(.watchPosts(WatchPostsRequest(feed: "posts", topCount: 9)))
            #expect(try watcher.receive()?.status == nil)
            let caller = try WireClient(port: port)
            _ = try caller.call(.hello(HelloRequest(serviceKey: keys.operator.bytes)))
            let wanted = DeletePostsRequest(host: "127.0.0.2", deletesPosts: true)
            #expect(try Self.delete(caller, wanted).posts.map(\.title) == ["a", "b", "c"])
            #expect(try Self.delete(caller, wanted).posts.isEmpty, "A repeat deletes nothing more.")
            guard case .watchPosts(let event) = try watcher.receive()?.response else {
                return #expect(Bool(false), "no event")
            }
            #expect(event.removedIDs.sorted() == [2, 3, 4])
            let since = SyncPostsRequest(
                sinceRevision: copy.nextRevision,
                copyRevision: copy.copyRevision,
                instanceID: copy.instanceID
            )
            guard case .syncPosts(let changes) = try web.call(.syncPosts(since)).response else {
                return #expect(Bool(false), "no changes")
            }
            #expect(!changes.isReset)
            #expect(changes.posts.filter(\.isDeleted).map(\.id) == [2, 3, 4])
            let ofUser = DeletePostsRequest(authorID: user?.id ?? 0, deletesPosts: true)
            #expect(try Self.delete(caller, ofUser).posts.map(\.title) == ["e"])
        }
        try await withTestKeys {
            configure(&$0, at: 2_000)
        } _: { port, keys in
            let caller = try WireClient(port: port)
            _ = try caller.call(.hello(HelloRequest(serviceKey: keys.web.bytes)))
            #expect(try Self.titles(caller) == ["imported", "d"])
            // After a restart nobody knows whose post it was.
            let wanted = DeletePostsRequest(clientID: Self.first, deletesPosts: true)
            let found = try Self.delete(caller, wanted)
            #expect(found.posts.isEmpty && found.originsSinceTimeMilliseconds == 2_000)
        }
    }

    @Test("T-POST-4: a call handles a part, older posts stay, and all of nobody are refused")
    func deletesInPortions() async throws {
        let time = Locked<Int64>(1_000)
        try await withTestKeys {
            $0.timeOfDay = { time.withLock { $0 } }
            $0.limits.correctedIDCount = 7
            $0.limits.maximumDeletedPostCount = 4
        } _: { port, keys in
            let client = try WireClient(port: port)
            _ = try client.hello(clientID: Self.first)
            try Self.create(client, ["old"])
            time.withLock { $0 = 2_000 }
            try Self.create(client, (1..<20).map { "\($0)" })
            let caller = try WireClient(port: port)
            _ = try caller.call(.hello(HelloRequest(serviceKey: keys.web.bytes)))
            var request = DeletePostsRequest(
                clientID: Self.first,
                host: "127.0.0.1",
                sinceTimeMilliseconds: 2_000,
                deletesPosts: true
            )
            var sizes: [Int] = []
            repeat {
                let part = try Self.delete(caller, request)
                sizes.append(part.posts.count)
                request.afterID = part.nextAfterID
            } while request.afterID > 0
            #expect(sizes == [4, 4, 4, 4, 3])
            #expect(try Self.titles(caller) == ["old"])

            let wrong: [(DeletePostsRequest, String)] = [
                (DeletePostsRequest(deletesPosts: true), "apply"),
                (DeletePostsRequest(host: "example.org"), "host"),
                (DeletePostsRequest(clientID: [1]), "client_id"),
            ]
            for (request, field) in wrong {
                let status = try caller.call(.deletePosts(request)).status
                #expect(status?.reason == .badField)
                #expect(status?.violations.first?.field == field)
            }
            let local = DeletePostsRequest(host: "::1", deletesPosts: true)
            #expect(try Self.delete(caller, local).posts.isEmpty)
            #expect(try client.refusal(.deletePosts(DeletePostsRequest())) == .roleDenied)
        }
    }

    @Test("T-STAT-1: the disk and the backups of a service are told to callers with a key only")
    func strangersDoNotSeeTheDisk() async throws {
        let directory = try TemporaryDirectory()
        try await withTestKeys {
            var state = StateOptions(path: directory.path, logCount: $0.threadCount)
            state.journal.space.ballastByteCount = 1 << 20
            $0.state = state
        } _: { port, keys in
            let client = try WireClient(port: port)
            _ = try client.hello(clientID: Self.first)
            let seen = try client.serverStats()
            #expect(seen.backups == nil && seen.journal?.freeByteCount == 0)
            for key in [keys.reader, keys.web, keys.operator] {
                _ = try client.call(.hello(HelloRequest(serviceKey: key.bytes)))
                let seen = try client.serverStats()
                #expect(seen.backups != nil && seen.journal.map { $0.freeByteCount > 0 } == true)
            }
        }
    }
}
