import FeedProto
import FeedTestSupport
import Foundation
import Testing

/// The durable service on a small disk that fills up.
@Suite(
    .serialized,
    .timeLimit(.minutes(10)),
    .enabled(DurableService.absence, DurableService.isBuilt),
    .enabled(if: TemporaryDirectory.canMount, "Mounting needs root.")
)
struct FullDiskTests {
    /// Limits that fit a file system of 400 MB: two segments, the ballast, and room.
    private static let flags = [
        "--space-low", "\(48 << 20)", "--space-high", "\(96 << 20)", "--ballast", "\(16 << 20)",
    ]

    /// Takes all that is left of the file system.
    private static func fill(_ path: String) throws {
        guard FileManager.default.createFile(atPath: path, contents: nil) else { return }
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        defer { try? file.close() }
        let piece = Data(count: 1 << 20)
        while (try? file.write(contentsOf: piece)) != nil {}
    }

    /// Votes until the service takes the votes, or refuses them, for want of room; gives the count
    /// of those that it took.
    private static func vote(
        _ client: WireClient,
        _ id: UInt64,
        untilRefused: Bool
    ) throws -> Int {
        var count = 0
        let deadline = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < deadline {
            do {
                _ = try client.vote(id)
                count += 1
                if !untilRefused { return count }
            } catch let status as Status {
                #expect(status.code == .resourceExhausted)
                #expect(status.reason == .readOnly)
                #expect(status.isNotExecuted)
                let limit = "until \(96 << 20) bytes (96 MiB) are free"
                #expect(status.message.contains(limit), "\(status.message)")
                if untilRefused { return count }
            }
        }
        Issue.record("the service has not \(untilRefused ? "refused" : "taken") a vote")
        return count
    }

    @Test("T-DISK-1: a full disk makes it read-only, and room makes it writable, without a restart")
    func isReadOnlyWhileTheDiskIsFull() async throws {
        let directory = try TemporaryDirectory(mounting: 400 << 20)
        let data = directory.path + "/data"
        let service = try await DurableService.start(data, Self.flags)
        let id = try await service.createPost("kept", votes: 20)
        try Self.fill(directory.path + "/filler")
        let taken = try await service.call { try Self.vote($0, id, untilRefused: true) }
        #expect(await service.process.prints("the disk of \(data) is nearly full"))
        // Reads go on.
        #expect(try await service.upvotes(id) == UInt64(20 + taken))
        try FileManager.default.removeItem(atPath: directory.path + "/filler")
        let more = try await service.call { try Self.vote($0, id, untilRefused: false) }
        #expect(try await service.upvotes(id) == UInt64(20 + taken + more))
        await service.kill()
        let restarted = try await DurableService.start(data, Self.flags)
        #expect(try await restarted.upvotes(id) == UInt64(20 + taken + more))
        #expect(await restarted.stop() == 0)
    }

    @Test("a backup that does not fit is refused, a restore that does not fit says so")
    func saysWhatDoesNotFit() async throws {
        let directory = try TemporaryDirectory(mounting: 400 << 20)
        let data = directory.path + "/data"
        let service = try await DurableService.start(data, Self.flags)
        _ = try await service.createPost("kept", votes: 20)
        let target = ["--target", "127.0.0.1:\(service.port)"]
        let (made, report) = try await FeedCtlTests.run(["backup", "--json"] + target)
        #expect(made == 0, "\(report)")
        let object = try JSONSerialization.jsonObject(with: Data(report.utf8)) as? [String: Any]
        let name = try #require(object?["name"] as? String, "\(report)")
        // A disk for backups of its own, which is full.
        let full = try TemporaryDirectory(mounting: 1 << 20)
        try FileManager.default.moveItem(atPath: data + "/backups", toPath: data + "/kept")
        try FileManager.default.createSymbolicLink(
            atPath: data + "/backups",
            withDestinationPath: full.path
        )
        let refused = try RunningProcess(Programs.feedCtl, ["backup"] + target)
        let (status, output) = await refused.finish()
        #expect(status == 1)
        #expect(output.joined().contains("BACKUP_NO_ROOM"), "\(output)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: full.path) == [])
        #expect(await service.stop() == 0)
        try Self.fill(full.path + "/filler")
        let restore = try RunningProcess(
            Programs.feedService,
            ["restore", data + "/kept/" + name, full.path + "/restored"]
        )
        let (failed, words) = await restore.finish()
        #expect(failed == 1)
        let refusal = "To restore into \(full.path)/restored takes up to"
        #expect(words.joined().contains(refusal), "\(words)")
    }
}
