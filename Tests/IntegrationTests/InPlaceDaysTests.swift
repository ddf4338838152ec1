import FeedJournal
import FeedTestSupport
import Foundation
import Testing

/// Bad days of a directory whose journal is whole: what is typed brings everything back.
@Suite(
    .serialized,
    .timeLimit(.minutes(5)),
    .enabled(DurableService.absence, DurableService.isBuilt)
)
struct InPlaceDaysTests {
    @Test("damage in records that state.db has costs nothing, and is told")
    func foldedDamage() async throws {
        let directory = try await DataDirectory.written(killed: false)
        let later = try await post(in: directory)
        try directory.change(directory.newestSegment()) { $0[4096 + 60] ^= 4 }
        let verify = ["verify", directory.path]
        let (status, output) = try await RunningProcess(Programs.feedService, verify).finish()
        #expect(status == 0)
        #expect(output.contains { $0.contains("nothing is lost") }, "\(output)")
        let service = try await DurableService.start(directory.path)
        #expect(await service.process.prints("nothing is lost"))
        #expect(try await service.upvotes(directory.post) == UInt64(DataDirectory.voteCount))
        #expect(try await service.upvotes(later) == 3)
        #expect(await service.stop() == 0)
        // The stop has folded all, and the damaged file is gone.
        let again = try await DurableService.start(directory.path)
        #expect(!again.process.output.contains { $0.contains("nothing is lost") })
        #expect(await again.stop() == 0)
    }

    @Test("a lost state.db is replaced by a backup and the journal behind it, by what is printed")
    func lostDatabase() async throws {
        let directory = try await DataDirectory.written(killed: false)
        let whole = try directory.keepBackup("20260101T000000000Z")
        let later = try await post(in: directory)
        // A newer backup is damaged: the older one is named.
        let newest = try directory.keepBackup("20260102T000000000Z")
        try directory.change(newest + "/state.db") { bytes in
            for page in stride(from: 4096, to: bytes.count, by: 4096) { bytes[page] ^= 0x40 }
        }
        try directory.remove("state.db")
        let (status, output) = try await DurableService.launch(directory.path).finish()
        #expect(status == 5)
        #expect(output.contains { $0.contains("Nothing is lost: backup 20260101T000000000Z") })
        let commands = output.filter { $0.hasPrefix("    ") }.map { String($0.dropFirst(4)) }
        #expect(
            commands == [
                "feed-service restore --in-place \(directory.path)/\(whole) \(directory.path)",
                "feed-service --data-dir \(directory.path)",
            ]
        )
        let words = try #require(commands.first).split(separator: " ").dropFirst().map(String.init)
        let (restored, lines) = try await RunningProcess(Programs.feedService, words).finish()
        #expect(restored == 0, "\(lines)")
        let service = try await DurableService.start(directory.path)
        #expect(try await service.upvotes(directory.post) == UInt64(DataDirectory.voteCount))
        #expect(try await service.upvotes(later) == 3)
        #expect(await service.stop() == 0)
    }

    @Test("a journal with a gap behind the backup: the refusals say what is lost, and from where")
    func gapBehindTheBackup() async throws {
        let directory = try await DataDirectory.written(killed: false)
        let backup = try directory.keepBackup("20260101T000000000Z")
        _ = try await post(in: directory)
        try directory.remove("state.db")
        try directory.remove(directory.newestSegment())
        let lost = "What was acknowledged in record"
        try await DurableService.expectRefusal(directory.path, 5, [lost, "does not continue"])
        let words = ["restore", "--in-place", "\(directory.path)/\(backup)", directory.path]
        let before = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
        let (status, output) = try await RunningProcess(Programs.feedService, words).finish()
        #expect(status == 5)
        #expect(output.joined().contains("The journal does not continue the backup"), "\(output)")
        let after = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
        #expect(after == before)
    }

    /// Serves once more, makes a post with three votes, and kills the service.
    private func post(in directory: DataDirectory) async throws -> UInt64 {
        let service = try await DurableService.start(directory.path)
        let later = try await service.createPost("later", votes: 3)
        await service.kill()
        return later
    }
}

extension DataDirectory {
    /// Makes a backup of what an orderly stop has left; gives its folder below the directory.
    fileprivate func keepBackup(_ time: String) throws -> String {
        let backup = "backups/\(time)"
        try FileManager.default.createDirectory(
            atPath: "\(path)/\(backup)",
            withIntermediateDirectories: true
        )
        try FileManager.default.copyItem(
            atPath: "\(path)/state.db",
            toPath: "\(path)/\(backup)/state.db"
        )
        return backup
    }
}
