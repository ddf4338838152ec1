import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// A service that keeps its journal, and its state of a moment that has passed.
@Suite(
    .serialized,
    .timeLimit(.minutes(10)),
    .enabled(DurableService.absence, DurableService.isBuilt)
)
struct PointInTimeTests {
    private static let flags = [
        "--journal-keep", "24h", "--segment-bytes", "1048576", "--fold-bytes", "1", "--threads",
        "2",
        "--space-kept", "0",
    ]

    /// Votes of one phase on one post, and enough text for a segment and more.
    private static func vote(
        _ service: DurableService,
        _ post: UInt64,
        count: Int
    ) async throws -> UInt64 {
        try await service.call { client in
            for _ in 0..<count { _ = try client.vote(post) }
            let text = String(repeating: "filler ", count: 1_400)
            for number in 0..<160 {
                let filler = Post(title: "filler \(number)", text: text)
                _ = try client.call(.createPost(CreatePostRequest(post: filler)))
            }
            return try client.call(.getPost(GetPostRequest(id: post))).revision
        }
    }

    private static func backUp(_ service: DurableService) async throws -> String {
        try await service.call { client in
            let answer = try client.call(.backup)
            guard case .backup(let made) = answer.response else {
                throw answer.status ?? Status(code: .unknown, reason: .internal, message: "none")
            }
            return made.name
        }
    }

    /// The next whole millisecond, once it has passed.
    private static func moment() -> String {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        let milliseconds = (Date().timeIntervalSince1970 * 1000).rounded(.up) + 1
        let moment = Date(timeIntervalSince1970: milliseconds / 1000)
        while Date() <= moment {}
        return formatter.string(from: moment)
    }

    private static func restore(
        _ flags: [String],
        _ source: String,
        _ target: String
    ) async throws -> (status: Int32, output: [String]) {
        let words = ["restore"] + flags + [source, target]
        return try await RunningProcess(Programs.feedService, words).finish()
    }

    /// Expects that a service on a directory has the votes.
    private static func expect(_ votes: Int, of post: UInt64, in path: String) async throws {
        let service = try await DurableService.start(path, ["--must-exist"])
        #expect(try await service.upvotes(post) == UInt64(votes))
        // The directory is one to write to.
        #expect(try await service.createPost("later", votes: 1) > post)
        #expect(await service.stop() == 0)
    }

    @Test("as it was between two phases of votes, by the time and by the revision, while it serves")
    func restoresAMoment() async throws {
        let parent = try TemporaryDirectory()
        let source = parent.path + "/data"
        let service = try await DurableService.start(source, Self.flags)
        let post = try await service.createPost("counted", votes: 7)
        let backup = try await Self.backUp(service)
        let between = try await Self.vote(service, post, count: 150)
        let moment = Self.moment()
        _ = try await Self.vote(service, post, count: 90)

        let byTime = parent.path + "/by-time"
        let (status, output) = try await Self.restore(["--at", moment], source, byTime)
        #expect(status == 0, "\(output)")
        #expect(output.contains { $0.contains("of the backup \(backup) and the records ") })
        #expect(output.contains { $0.hasPrefix("up to revision \(between); ") }, "\(output)")
        #expect(output.contains { $0.contains("the first commit batch that is left out") })

        let byRevision = parent.path + "/by-revision"
        let flags = ["--at-revision", "\(between)"]
        let (second, lines) = try await Self.restore(flags, source, byRevision)
        #expect(second == 0, "\(lines)")

        let alone = parent.path + "/alone"
        let (third, others) = try await Self.restore(["--at", backup], source, alone)
        #expect(third == 0 && others.contains { $0.hasSuffix("alone") }, "\(others)")

        // The service has gone on meanwhile.
        #expect(try await service.upvotes(post) == 247)
        await service.kill()
        try await Self.expect(157, of: post, in: byTime)
        try await Self.expect(157, of: post, in: byRevision)
        try await Self.expect(7, of: post, in: alone)
        try await Self.expect(247, of: post, in: source)
    }

    @Test("without the segments in between it says which moments there are, and makes nothing")
    func saysWhatIsMissing() async throws {
        let parent = try TemporaryDirectory()
        let source = parent.path + "/data"
        let service = try await DurableService.start(source, Self.flags)
        let post = try await service.createPost("counted", votes: 7)
        _ = try await Self.backUp(service)
        _ = try await Self.vote(service, post, count: 10)
        let moment = Self.moment()
        _ = try await Self.vote(service, post, count: 10)
        #expect(await service.stop() == 0)
        let folder = source + "/journal"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        let segments = names.filter { $0.hasPrefix("0") }
        #expect(segments.count > 2)
        try FileManager.default.removeItem(atPath: "\(folder)/\(segments[1])")
        let target = parent.path + "/target"
        let (status, output) = try await Self.restore(["--at", moment], source, target)
        #expect(status == 5, "\(output)")
        #expect(output.contains { $0.contains("Moments from 20") }, "\(output)")
        #expect(!FileManager.default.fileExists(atPath: target))
        let words = ["--at", "yesterday"]
        let (second, lines) = try await Self.restore(words, source, target)
        #expect(second == 2 && lines.contains { $0.contains("got yesterday") }, "\(lines)")
    }

    /// Inverts a byte of each page of a file, and of what else is as long.
    private static func damage(_ path: String) throws {
        var bytes = try Data(contentsOf: URL(filePath: path))
        for place in stride(from: 4096 + 60, to: bytes.count, by: 4096) { bytes[place] ^= 0xFF }
        try bytes.write(to: URL(filePath: path))
    }

    @Test("damaged backups and kept segments are named, and the backup that has more is advised")
    func namesWhatIsDamaged() async throws {
        let parent = try TemporaryDirectory()
        let source = parent.path + "/data"
        let service = try await DurableService.start(source, Self.flags)
        let post = try await service.createPost("counted", votes: 7)
        let older = try await Self.backUp(service)
        _ = try await Self.vote(service, post, count: 3)
        let newer = try await Self.backUp(service)
        let moment = Self.moment()
        _ = try await service.createPost("later", votes: 1)
        #expect(await service.stop() == 0)

        let folder = source + "/journal"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        let segments = names.filter { $0.hasPrefix("0") }
        try #require(segments.count > 1)
        let backup = "\(source)/backups/\(newer)/state.db"
        let whole = try Data(contentsOf: URL(filePath: backup))
        try Self.damage(backup)
        let target = parent.path + "/target"
        let (restored, lines) = try await Self.restore(["--at", moment], source, target)
        #expect(restored == 0, "\(lines)")
        let passed = "the backup \(newer) is damaged and was passed over: look at the disk"
        #expect(lines.contains(passed), "\(lines)")
        try await Self.expect(10, of: post, in: target)
        try whole.write(to: URL(filePath: backup))

        try Self.damage("\(folder)/\(segments[0])")
        let words = ["verify", source]
        let (verified, found) = try await RunningProcess(Programs.feedService, words).finish()
        #expect(verified == 0, "\(found)")
        #expect(found.contains { $0.hasPrefix("journal/\(segments[0])") }, "\(found)")

        // The older backup is not continued any more, and the newer one is.
        try FileManager.default.removeItem(atPath: "\(folder)/\(segments[0])")
        try FileManager.default.removeItem(atPath: source + "/state.db")
        let inPlace = ["--in-place", "\(source)/backups/\(older)"]
        let refusal = ["restore"] + inPlace + [source]
        let (refused, ways) = try await RunningProcess(Programs.feedService, refusal).finish()
        #expect(refused == 5, "\(ways)")
        let better = "    feed-service restore --in-place \(source)/backups/\(newer) \(source)"
        #expect(ways.first { $0.hasPrefix("    feed-service") } == better, "\(ways)")
    }

    @Test("as the audit of a load has recorded it, to the vote, and not as it became later")
    func restoresWhatALoadHasRecorded() async throws {
        let parent = try TemporaryDirectory()
        let source = parent.path + "/data"
        let service = try await DurableService.start(source, Self.flags)
        _ = try await service.createPost("before", votes: 1)
        _ = try await Self.backUp(service)
        let report = parent.path + "/run.json"
        let first = try await Self.load(service, ["--seed", "1", "--json", report])
        #expect(first.status == 0, "\(first.output)")
        let end = try await service.call { try $0.call(.getServerStats).revision }
        #expect(try await Self.load(service, ["--seed", "2"]).status == 0)
        let feed = try Self.record(report)["feed"] as? String ?? ""
        try await service.call { client in
            let posts = try client.list(ListPostsRequest(feed: feed)).posts
            try #require(!posts.isEmpty)
            for post in posts { _ = try client.vote(post.id) }
        }
        // The record is exact: it is not the state of later.
        #expect(try await Self.audit(service, report).status == 3)

        let target = parent.path + "/target"
        let flags = ["--at-revision", "\(end)"]
        let (status, output) = try await Self.restore(flags, source, target)
        #expect(status == 0, "\(output)")
        #expect(await service.stop() == 0)
        let restored = try await DurableService.start(target, ["--must-exist"])
        // A restored directory is another instance, which a record of the first one is not about.
        #expect(try await Self.audit(restored, report).status == 3)
        let hello = try await restored.call { try $0.hello() }
        guard case .hello(let greeting) = hello.response else { throw hello.status ?? Self.noHello }
        try Self.move(report, to: greeting.instanceID)
        let audit = try await Self.audit(restored, report)
        #expect(audit.status == 0, "\(audit.output)")
        #expect(await restored.stop() == 0)
    }

    private static var noHello: Status {
        Status(code: .unknown, reason: .internal, message: "The answer is no Hello.")
    }

    private static func load(
        _ service: DurableService,
        _ flags: [String]
    ) async throws -> (status: Int32, output: [String]) {
        let words = [
            "--target", "127.0.0.1:\(service.port)", "--clients", "8", "--pipeline", "4",
            "--requests", "10000", "--warmup", "0s", "--posts", "200", "--timeout", "60s", "--mix",
            "vote=90,create=5,list=5",
        ]
        return try await RunningProcess(Programs.loadGenerator, words + flags).finish()
    }

    private static func audit(
        _ service: DurableService,
        _ report: String
    ) async throws -> (status: Int32, output: [String]) {
        let words = ["--target", "127.0.0.1:\(service.port)", "--verify-only", report]
        return try await RunningProcess(Programs.loadGenerator, words).finish()
    }

    private static func record(_ report: String) throws -> [String: Any] {
        try #require(try whole(report)["record"] as? [String: Any])
    }

    private static func whole(_ report: String) throws -> [String: Any] {
        let data = try Data(contentsOf: URL(filePath: report))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    /// Makes a report one about another instance of the same state.
    private static func move(_ report: String, to instance: UInt64) throws {
        var whole = try whole(report)
        var record = try record(report)
        let digits = String(instance, radix: 16)
        record["instance"] = String(repeating: "0", count: 16 - digits.count) + digits
        whole["record"] = record
        try JSONSerialization.data(withJSONObject: whole).write(to: URL(filePath: report))
    }
}
