import FeedConcurrency
import FeedJournal
import FeedProto
import FeedRanking
import FeedService
import FeedState
import FeedTestSupport
import FeedTransport
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct PostLimitTests {
    private static let device = [UInt8](repeating: 1, count: 16)

    /// Limits that hold on loopback, too, on a clock that stands still.
    private static func limit(
        _ configuration: inout ServiceConfiguration,
        _ set: (inout PostLimits) -> Void
    ) {
        configuration.loopClock = ManualClock()
        configuration.limits.identities = .none
        configuration.limits.identities.limitsLoopback = true
        set(&configuration.limits.posts)
    }

    private static func create(
        _ client: WireClient,
        _ title: String = "a",
        text: String = "",
        sequence: UInt64 = 0
    ) throws -> Status? {
        let request = CreatePostRequest(post: Post(title: title, text: text))
        return try client.call(.createPost(request), sequence: sequence).status
    }

    @Test("T-POST-1: a host has its posts of an hour, a repeat costs none, services have no limit")
    func aHostHasItsPosts() async throws {
        try await withTestKeys {
            Self.limit(&$0) { $0.countPerHour = .init(host: 3, device: 2, user: 2) }
        } _: { port, keys in
            let client = try WireClient(port: port, from: IdentityLimitTests.greedyHost)
            _ = try client.hello(clientID: Self.device)
            #expect(try Self.create(client, sequence: 1) == nil)
            #expect(try Self.create(client, sequence: 2) == nil)
            let refused = try #require(try Self.create(client, sequence: 3))
            #expect(refused.code == .resourceExhausted && refused.reason == .rateLimited)
            #expect(refused.isNotExecuted)
            #expect(refused.message.contains("device has created its limit of 2 posts an hour"))
            #expect(refused.retryAfterMilliseconds == 1_800_001)
            #expect(try Self.create(client, sequence: 2) == nil, "A repeat is answered.")
            let other = try WireClient(port: port, from: IdentityLimitTests.greedyHost)
            #expect(try Self.create(other) == nil)
            let host = try #require(try Self.create(other))
            #expect(host.message.contains("host has created its limit of 3 posts an hour"))
            let elsewhere = try WireClient(port: port, from: IdentityLimitTests.otherHost)
            #expect(try Self.create(elsewhere) == nil)
            let web = try WireClient(port: port, from: IdentityLimitTests.greedyHost)
            _ = try web.call(.hello(HelloRequest(serviceKey: keys.web.bytes)))
            for _ in 0..<9 { #expect(try Self.create(web) == nil) }
            let stats = try web.serverStats()
            #expect(stats.refusedPostCount == 2)
        }
    }

    @Test("T-POST-1: edits count by their bytes, and callers of this machine have no limits")
    func editsCount() async throws {
        let text = String(repeating: "x", count: 10_000)
        try await withTestKeys {
            Self.limit(&$0) { $0.bytesPerHour = .init(host: 0, device: 0, user: 25_000) }
        } _: { port, _ in
            let client = try WireClient(port: port)
            _ = try client.signUp("ann@example.org")
            #expect(try Self.create(client, text: text) == nil)
            let edit = UpdatePostRequest(post: Post(id: 1, text: text), updateMask: [.text])
            #expect(try client.call(.updatePost(edit)).status == nil)
            let refused = try client.call(.updatePost(edit)).status
            #expect(refused?.reason == .rateLimited)
            #expect(refused?.message.contains("25000 bytes of posts an hour") == true)
        }
        try await withTestKeys {
            $0.limits.posts.countPerHour = .init(host: 1, device: 1, user: 1)
        } _: { port, _ in
            let client = try WireClient(port: port)
            for _ in 0..<3 { #expect(try Self.create(client) == nil) }
        }
    }

    @Test(
        "T-POST-3: who may create posts",
        arguments: PostLimits.Creators.allCases
    )
    func whoMayCreatePosts(_ creators: PostLimits.Creators) async throws {
        try await withTestKeys {
            $0.limits.posts.creators = creators
        } _: { port, keys in
            let client = try WireClient(port: port)
            let anonymous = try Self.create(client)?.reason
            _ = try client.hello(clientID: Self.device)
            let device = try Self.create(client)?.reason
            _ = try client.signUp("ann@example.org")
            let user = try Self.create(client)?.reason
            let web = try WireClient(port: port)
            _ = try web.call(.hello(HelloRequest(serviceKey: keys.web.bytes)))
            let service = try Self.create(web)?.reason
            let found = [anonymous, device, user, service]
            switch creators {
            case .anyone: #expect(found == [nil, nil, nil, nil])
            case .users: #expect(found == [.identityRequired, .identityRequired, nil, nil])
            case .services: #expect(found == [.serviceOnly, .serviceOnly, .serviceOnly, nil])
            }
            #expect(try client.vote(1).upvoteCount == 1)
        }
    }

    @Test("T-POST-2: posts beyond the memory are refused, a deletion makes room, a start takes all")
    func postsHaveALimitOfMemory() async throws {
        let directory = try TemporaryDirectory()
        func configure(_ configuration: inout ServiceConfiguration, memory: Int) {
            var state = StateOptions(path: directory.path, logCount: configuration.threadCount)
            state.journal.space.ballastByteCount = 1 << 20
            configuration.state = state
            configuration.limits.posts.memoryByteCount = memory
        }
        let text = String(repeating: "x", count: 10_000)
        try await withClient {
            configure(&$0, memory: 31_000)
        } _: { client in
            for _ in 0..<3 { #expect(try Self.create(client, text: text) == nil) }
            let refused = try #require(try Self.create(client, text: text))
            #expect(refused.code == .resourceExhausted && refused.reason == .noRoomForPosts)
            #expect(refused.isNotExecuted && refused.retryAfterMilliseconds == 0)
            #expect(refused.message.contains("take 30603 bytes"))
            #expect(refused.message.contains("limit is 31000"))
            let posts = ImportPostsRequest(posts: [Post(title: "b", text: text)])
            #expect(try client.refusal(.importPosts(posts)) == .noRoomForPosts)
            #expect(try client.vote(1).upvoteCount == 1)
            #expect(try client.refusal(.deletePost(DeletePostRequest(id: 2))) == nil)
            #expect(try Self.create(client, text: text) == nil)
        }
        try await withClient {
            configure(&$0, memory: 20_000)
        } _: { client in
            let stats = try client.serverStats()
            #expect(stats.postCount == 3 && stats.postByteCount == 30_603)
            #expect(stats.postLimitByteCount == 20_000)
            #expect(try Self.create(client) != nil)
            let edit = UpdatePostRequest(post: Post(id: 1, text: "y"), updateMask: [.text])
            #expect(try client.refusal(.updatePost(edit)) == .noRoomForPosts)
            let after = try client.serverStats()
            #expect(after.refusedPostCount == 2)
            let comments = Post(id: 1, commentCount: 3)
            let count = UpdatePostRequest(post: comments, updateMask: [.commentCount])
            #expect(try client.refusal(.updatePost(count)) == nil)
            for id: PostID in [1, 3] {
                #expect(try client.refusal(.deletePost(DeletePostRequest(id: id))) == nil)
            }
            #expect(try Self.create(client) == nil)
        }
    }
}

/// The posts of an hour, and who is known to have made which.
@Suite struct PostAdmissionTests {
    private let clock = ManualClock()

    private func admission(
        posts: PostLimits.Hourly,
        bytes: PostLimits.Hourly = .init(host: 0, device: 0, user: 0)
    ) -> PostAdmission {
        var limits = PostLimits()
        limits.countPerHour = posts
        limits.bytesPerHour = bytes
        return PostAdmission(limits) { [clock] in clock.now }
    }

    /// How many posts are admitted until one is refused.
    private func count(_ admission: PostAdmission, _ identities: [ClientIdentity]) -> Int {
        var count = 0
        while count < 1_000,
            admission.admit(postCount: 1, byteCount: 100, by: identities) == nil
        {
            count += 1
        }
        return count
    }

    @Test("T-POST-1: the posts of an hour at once, then one each time that its share has passed")
    func countsPostsOfAnHour() {
        let admission = admission(posts: .init(host: 60, device: 20, user: 30))
        let host = ClientIdentity.address(1)
        #expect(count(admission, [host, .device(1, 2)]) == 20)
        #expect(count(admission, [host, .user(7)]) == 30)
        // A device that is new helps no further than what the host has left.
        #expect(count(admission, [host, .device(3, 4)]) == 10)
        let excess = admission.admit(postCount: 1, byteCount: 1, by: [host, .device(5, 6)])
        #expect(excess?.identity == host && excess?.limit == 60)
        #expect(excess?.isOfBytes == false && excess?.wait == .seconds(60))
        #expect(admission.refusedCount == 4)
        #expect(count(admission, [.address(2)]) == 60)
        // A user has one limit behind all hosts.
        #expect(count(admission, [.address(3), .user(7)]) == 0)
        clock.advance(by: .seconds(120))
        #expect(count(admission, [host, .user(7)]) == 1)
        #expect(count(admission, [host]) == 1)
        clock.advance(by: .seconds(3_600))
        #expect(count(admission, [host]) == 60)
    }

    @Test("T-POST-1: bytes count beside posts, and a refused post takes nothing")
    func countsBytesOfAnHour() {
        let admission = admission(
            posts: .init(host: 100, device: 0, user: 0),
            bytes: .init(host: 1_000, device: 0, user: 500)
        )
        let user: [ClientIdentity] = [.address(1), .user(7)]
        #expect(admission.admit(postCount: 1, byteCount: 500, by: user) == nil)
        let excess = admission.admit(postCount: 0, byteCount: 5, by: user)
        #expect(excess?.identity == .user(7) && excess?.isOfBytes == true)
        #expect(excess?.wait == .seconds(36))
        // The host has all of its other half.
        #expect(admission.admit(postCount: 1, byteCount: 500, by: [.address(1)]) == nil)
        #expect(admission.admit(postCount: 1, byteCount: 1, by: [.address(1)])?.limit == 1_000)
    }

    @Test("T-POST-4: the makers of the latest posts are known, and since when")
    func forgetsTheOldestOrigins() {
        let origins = PostOrigins(at: 1_000)
        func origin(_ id: UInt64) -> PostOrigins.Origin {
            .init(host: .address(UInt32(id)), device: Device16(high: id, low: 0))
        }
        let count = UInt64(PostOrigins.count)
        for id in [1, 2, count] {
            origins.note(PostID(rawValue: id), origin(id), at: 2_000 + Int64(id))
        }
        #expect(origins.knownSince == 1_000)
        #expect(origins[PostID(rawValue: 1)] == origin(1))
        #expect(origins[PostID(rawValue: 3)] == nil)
        origins.note(PostID(rawValue: count + 2), origin(count + 2), at: 9_000)
        #expect(origins[PostID(rawValue: 2)] == nil)
        #expect(origins[PostID(rawValue: count + 2)] == origin(count + 2))
        #expect(origins[PostID(rawValue: count)] == origin(count))
        #expect(origins.knownSince == 2_003)
    }

    @Test("the memory of a process is that of the machine, or of the least of its control groups")
    func readsTheMemoryOfTheProcess() throws {
        let root = try TemporaryDirectory()
        func write(_ path: String, _ text: String) throws {
            let file = URL(filePath: root.path + "/" + path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: file)
        }
        #expect(ProcessMemory(root: root.path).byteCount == 0)
        try write("proc/meminfo", "MemFree:  9 kB\nMemTotal:       2048 kB\n")
        try write("proc/self/cgroup", "0::/system.slice/feed.service\n")
        #expect(ProcessMemory(root: root.path).byteCount == 2_048 << 10)
        try write("sys/fs/cgroup/system.slice/feed.service/memory.max", "max\n")
        try write("sys/fs/cgroup/system.slice/memory.max", "1048576\n")
        #expect(ProcessMemory(root: root.path).byteCount == 1_048_576)
        try write("sys/fs/cgroup/memory.max", "524288\n")
        #expect(ProcessMemory(root: root.path).byteCount == 524_288)
    }
}
