import FeedJournal
import FeedProto
import FeedService
import FeedState
import FeedTestSupport
import FeedTransport
import Foundation
import Logging
import Testing

@Suite(.serialized, .timeLimit(.minutes(10)), DurableService.needed) struct RestartTests {
    /// How a service ends before it is started again.
    enum End: Sendable, CaseIterable { case killed, stopped }

    static func end(_ service: DurableService, _ end: End) async {
        switch end {
        case .killed: await service.kill()
        case .stopped: #expect(await service.stop() == 0)
        }
    }

    private static let device = [UInt8](repeating: 7, count: 16)

    private static func create(_ title: String) -> Request {
        .createPost(CreatePostRequest(post: Post(title: title)))
    }

    @Test("T-SEQ-1, T-SEQ-2: a numbered call is known after a restart", arguments: End.allCases)
    func knowsNumberedCalls(end: End) async throws {
        let directory = try TemporaryDirectory()
        let service = try await DurableService.start(directory.path)
        let first = try await service.call { client in
            _ = try client.hello(clientID: Self.device)
            return try client.call(Self.create("once"), sequence: 1)
        }
        await Self.end(service, end)
        let restarted = try await DurableService.start(directory.path)
        let (hello, again, other, next) = try await restarted.call { client in
            (
                try client.hello(clientID: Self.device),
                try client.call(Self.create("once"), sequence: 1),
                try client.call(Self.create("another"), sequence: 1),
                try client.call(Self.create("next"), sequence: 2)
            )
        }
        guard case .hello(let greeting) = hello.response, case .post(let post) = first.response,
            case .post(let samePost) = again.response, case .post(let nextPost) = next.response
        else { throw Unexpected("\(hello) \(first) \(again) \(next)") }
        #expect(greeting.isClientKnown)
        #expect(greeting.lastSequence == 1)
        #expect(samePost == post)
        #expect(other.status?.code == .failedPrecondition)
        #expect(other.status?.reason == .sequenceReused)
        #expect(nextPost.id > post.id)
        #expect(try await restarted.titles() == ["next", "once"])
        #expect(await restarted.stop() == 0)
    }

    @Test("sample posts fill only an empty store", arguments: End.allCases)
    func fillsOnlyAnEmptyStore(end: End) async throws {
        let directory = try TemporaryDirectory()
        let service = try await DurableService.start(directory.path, ["--sample-data"])
        let titles = try await service.titles()
        #expect(titles.count == 20)
        #expect(titles.contains("Pineapple"))
        await Self.end(service, end)
        let restarted = try await DurableService.start(directory.path, ["--sample-data"])
        #expect(try await restarted.titles() == titles)
        #expect(await restarted.stop() == 0)

        let used = try TemporaryDirectory()
        let other = try await DurableService.start(used.path)
        _ = try await other.createPost("mine", votes: 1)
        await Self.end(other, end)
        let filled = try await DurableService.start(used.path, ["--sample-data"])
        #expect(try await filled.titles() == ["mine"])
        #expect(await filled.stop() == 0)
    }

    @Test("a backup is the state of its time, as another instance")
    func servesABackup() async throws {
        let directory = try TemporaryDirectory()
        let service = try await DurableService.start(directory.path)
        let id = try await service.createPost("kept", votes: 30)
        let instance = try await service.instance()
        let (made, report) = try await FeedCtlTests.run(
            ["backup", "--json", "--target", "127.0.0.1:\(service.port)"]
        )
        #expect(made == 0, "\(report)")
        let object = try JSONSerialization.jsonObject(with: Data(report.utf8)) as? [String: Any]
        let name = try #require(object?["name"] as? String, "\(report)")
        let backup = "\(directory.path)/backups/\(name)"
        #expect(await service.process.prints("backup \(name): begun, "))
        #expect(await service.process.prints("backup \(name): complete, "))
        await service.kill()
        let hash = try await Self.stateHash(directory.path)
        let later = try await DurableService.start(directory.path)
        _ = try await later.createPost("later", votes: 1)
        #expect(await later.stop() == 0)

        let verify = try RunningProcess(Programs.feedService, ["verify", backup])
        let (verified, found) = await verify.finish()
        #expect(verified == 0, "\(found)")
        #expect(found.contains { $0.contains("is a complete backup") })
        #expect(found.contains(hash))
        #expect(try FileManager.default.contentsOfDirectory(atPath: backup) == ["state.db"])

        let parent = try TemporaryDirectory()
        let restored = parent.path + "/restored"
        let restore = try RunningProcess(Programs.feedService, ["restore", backup, restored])
        let (status, output) = await restore.finish()
        #expect(status == 0, "\(output)")
        #expect(try await Self.stateHash(restored) == hash)
        let other = try await DurableService.start(restored)
        #expect(try await other.titles() == ["kept"])
        #expect(try await other.upvotes(id) == 30)
        #expect(try await other.instance() != instance)
        #expect(try await other.createPost("new", votes: 1) > id)
        #expect(await other.stop() == 0)
        // A directory that holds a state is not written over.
        let again = try RunningProcess(Programs.feedService, ["restore", backup, restored])
        #expect(await again.finish().0 == 2)
    }

    @Test("os: what was acknowledged outlives the process, and the start line says so")
    func outlivesTheProcessOnly() async throws {
        let directory = try TemporaryDirectory()
        let service = try await DurableService.start(directory.path, ["--durability", "os"])
        #expect(await service.process.prints("durability os"))
        let id = try await service.createPost("kept", votes: 200)
        await service.kill()
        // Another setting takes over what this one has left.
        let restarted = try await DurableService.start(directory.path)
        #expect(await restarted.process.prints("durability fsync"))
        #expect(try await restarted.upvotes(id) == 200)
        let stats = try await restarted.call { try $0.call(.getServerStats) }
        guard case .serverStats(let found) = stats.response else { throw KillRunError.noAnswer }
        #expect(found.durability == "fsync")
        #expect(await restarted.stop() == 0)
    }

    @Test("T-CLOCK-6: a service that stood still for some seconds keeps its healthy clients")
    func keepsClientsThroughAPause() async throws {
        let directory = try TemporaryDirectory()
        let service = try await DurableService.start(directory.path)
        let id = try await service.createPost("kept", votes: 1)
        let clients = try await offload {
            try (0..<20).map { _ in
                let client = try WireClient(port: service.port)
                _ = try client.vote(id)
                return client
            }
        }
        let vote = Request.castVote(CastVoteRequest(postID: id, direction: .up))
        // The frame of each is in its middle all the while: of the service's time limits that of
        // a frame is the shortest, 5 s.
        let frames = try clients.map { try ClientFrame(id: $0.nextID(), request: vote).encoded() }
        try await offload {
            for (client, frame) in zip(clients, frames) { try client.socket.send([frame[0]]) }
            // Answered on the same loops after what was sent before.
            _ = try WireClient(port: service.port).call(.getServerStats)
        }
        let otherDirectory = try TemporaryDirectory()
        let other = try await DurableService.start(otherDirectory.path)
        service.process.signal(SIGSTOP)
        // A service that does not stand still closes such a connection at the time limit.
        try await offload {
            let client = try WireClient(port: other.port)
            try client.socket.send([frames[0][0]])
            while try client.receive() != nil {}
        }
        service.process.signal(SIGCONT)
        #expect(await other.stop() == 0)
        let count = try await offload {
            for (client, frame) in zip(clients, frames) {
                try client.socket.send(Array(frame[1...]))
            }
            return try clients.count { try $0.receive()?.status == nil }
        }
        #expect(count == clients.count)
        #expect(try await service.upvotes(id) == 41)
        #expect(await service.stop() == 0)
    }

    @Test(
        "real posts, through a kill half way",
        .enabled(if: !RealPosts.files.isEmpty, "\(RealPosts.absence)")
    )
    func castsRealVotesThroughAKill() async throws {
        // The smallest file, for the time it takes.
        let file = try #require(
            RealPosts.files.first { $0.lastPathComponent == "iOSProgramming.csv" }
                ?? RealPosts.files.first
        )
        let directory = try TemporaryDirectory()
        let port = try ReservedPort()
        defer { withExtendedLifetime(port) {} }
        let listen = ["--listen", port.address]
        let service = try await DurableService.start(directory.path, listen)
        let load = try RunningProcess(
            Programs.loadGenerator,
            ["dataset", "--target", port.address, "--retry", "100"]
                + ["-c", "8", "-P", "8", "--rate", "5k", "--progress", "1s", file.path()]
        )
        _ = await load.line { $0.contains("op/s") }
        await service.kill()
        let restarted = try await DurableService.start(directory.path, listen)
        let (status, output) = await load.finish()
        let text = output.joined(separator: "\n")
        #expect(status == 0, "\(text)")
        #expect(output.contains { $0.contains("Audit") && $0.contains("PASS") }, "\(text)")
        #expect(!output.contains { $0.contains("reconnects 0") }, "\(text)")
        #expect(await restarted.stop() == 0)
    }

    private static func stateHash(_ directory: String) async throws -> String {
        let (status, output) = try await RunningProcess(
            Programs.feedService,
            ["verify", directory]
        ).finish()
        #expect(status == 0, "\(output)")
        let line = output.first { $0.hasPrefix("state hash ") }
        return try #require(line, "\(output)")
    }
}

extension DurableService {
    /// What the service says names its state.
    func instance() async throws -> UInt64 {
        let answer = try await call { try $0.hello() }
        guard case .hello(let hello) = answer.response else { throw KillRunError.noAnswer }
        return hello.instanceID
    }

    /// The titles of all posts, the newest first.
    func titles() async throws -> [String] {
        try await call { try $0.list(ListPostsRequest(order: .new, pageSize: 100)).posts }
            .map(\.title)
    }
}

/// The program on a data directory that a service with a wrong clock has written.
@Suite(.serialized, .timeLimit(.minutes(10)), DurableService.needed) struct WrongClockTests {
    private static let tenYears: Int64 = 10 * 365 * 86_400_000

    private static func now() -> Int64 { Int64(Date.now.timeIntervalSince1970 * 1000) }

    /// Creates a post in a service whose clock is ahead: in this process, whose clock can be chosen.
    private static func createPost(_ title: String, in directory: String, ahead: Int64) async throws
    {
        var configuration = ServiceConfiguration(addresses: [.loopback(port: 0)], threadCount: 1)
        configuration.state = StateOptions(path: directory, logCount: 1)
        configuration.timeOfDay = { now() + ahead }
        configuration.state?.unixMicroseconds = { UInt64(now() + ahead) * 1000 }
        let server = try FeedServer.start(
            configuration,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        let port = try #require(server.addresses.first?.port)
        var failure: (any Error)?
        do {
            try await offload { _ = try WireClient(port: port).createPost(title: title) }
        } catch {
            failure = error
        }
        server.beginDraining()
        try await offload { server.wait() }
        if let failure { throw failure }
    }

    private static func createdNow(_ title: String, _ service: DurableService) async throws {
        let before = now()
        let id = try await service.createPost(title, votes: 1)
        let answer = try await service.call { try $0.call(.getPost(GetPostRequest(id: id))) }
        guard case .post(let post) = answer.response else { throw KillRunError.noAnswer }
        #expect((before...now()).contains(post.createTimeMilliseconds), "\(title)")
    }

    @Test(
        "T-CLOCK-3: times are right after a start in the future, and a command corrects wrong ones"
    )
    func aStartInTheFutureAndBack() async throws {
        let directory = try TemporaryDirectory()
        try await Self.createPost("wrong", in: directory.path, ahead: Self.tenYears)
        for title in ["right", "right again"] {
            let service = try await DurableService.start(directory.path)
            let warning = "1 post lies more than 300.0 seconds ahead of the clock"
            let line = await service.process.line { $0.contains(warning) }
            #expect(line?.contains("feedctl correct-times --apply") == true)
            let step = " behind the newest record of the journal: it is wrong, or it was before"
            // The second start finds the clock where the first one has left it.
            #expect(service.process.output.contains { $0.contains(step) } == (title == "right"))
            try await Self.createdNow(title, service)
            await service.kill()
        }
        let service = try await DurableService.start(directory.path)
        let target = ["--target", "127.0.0.1:\(service.port)"]
        let (listed, list) = try await FeedCtlTests.run(["correct-times"] + target)
        #expect(listed == 0 && list.contains("wrong") && list.contains("1 post ahead"), "\(list)")
        let before = Self.now()
        let (corrected, text) = try await FeedCtlTests.run(["correct-times", "--apply"] + target)
        #expect(corrected == 0 && text.contains("1 post corrected"), "\(text)")
        await service.kill()

        let restarted = try await DurableService.start(directory.path)
        #expect(!restarted.process.output.contains { $0.contains("ahead of the clock") })
        #expect(try await restarted.titles() == ["wrong", "right again", "right"])
        let answer = try await restarted.call { try $0.call(.getPost(GetPostRequest(id: 1))) }
        guard case .post(let post) = answer.response else { throw KillRunError.noAnswer }
        #expect((before...Self.now()).contains(post.createTimeMilliseconds))
        #expect(post.updateTimeMilliseconds == post.createTimeMilliseconds)
        let (_, rest) = try await FeedCtlTests.run(
            ["correct-times", "--json", "--target", "127.0.0.1:\(restarted.port)"]
        )
        #expect(rest.contains("\"post_count\" : 0"), "\(rest)")
        try await Self.createdNow("after all", restarted)
        #expect(await restarted.stop() == 0)
    }
}
