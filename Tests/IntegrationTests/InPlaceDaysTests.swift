import FeedJournal
import FeedSQLite
import FeedTestSupport
import Foundation
import Testing

/// Bad days of a directory whose journal is whole: what is typed brings everything back.
@Suite(
    .serialized,
    .timeLimit(.minutes(10)),
    .enabled(DurableService.absence, DurableService.isBuilt)
)
struct InPlaceDaysTests {
    @Test("damage in records that state.db has costs nothing, and is told")
    func checkpointedDamage() async throws {
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
        // The stop has checkpointed all, and the damaged file is gone.
        let again = try await DurableService.start(directory.path)
        #expect(!again.process.output.contains { $0.contains("nothing is lost") })
        #expect(await again.stop() == 0)
    }

    @Test("a lost state.db is replaced by a backup and the journal after it, by what is printed")
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
        let output = try await DurableService.expectRefusal(
            directory.path,
            5,
            ["Nothing is lost: backup 20260101T000000000Z"]
        )
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
        try await directory.expectServed(with: [later])
    }

    @Test("state.db and the mark are gone: the printed commands, in their order, bring all back")
    func lostDatabaseAndWatermark() async throws {
        let directory = try await DataDirectory.written(killed: false)
        _ = try directory.keepBackup("20260101T000000000Z")
        let later = try await post(in: directory)
        try directory.remove("state.db")
        try directory.remove("durable.hwm")
        let lines = try await directory.restoreInPlace("as the journal is not whole")
        #expect(lines.contains { $0.contains("the next start refuses the journal: durable.hwm") })
        let dryRun = try await directory.firstPrintedCommand("durable.hwm is missing or spoiled")
        #expect(dryRun.last == "--dry-run")
        let accepting = Array(dryRun.drop { $0 != "--accept-data-loss" }.dropLast())
        try await directory.expectServed(with: [later], accepting)
    }

    @Test("an older state.db, and a damaged record after it: the backup that has more comes first")
    func olderDatabase() async throws {
        let directory = try await DataDirectory.written(killed: false)
        let old = try Data(contentsOf: URL(filePath: "\(directory.path)/state.db"))
        let segment = try directory.newestSegment()
        let begin = try directory.usedByteCount(segment)
        let second = try await post(in: directory)
        let service = try await DurableService.start(directory.path)
        #expect(await service.stop() == 0)
        _ = try Database(path: directory.path + "/state.db", mode: .existing)
        _ = try directory.keepBackup("20260102T000000000Z")
        #expect(try directory.newestSegment() == segment)
        let end = try directory.usedByteCount(segment)
        let third = try await post(in: directory)
        // The same file with the bytes of before, as `cp` leaves it.
        for name in ["state.db-wal", "state.db-shm"] { try? directory.remove(name) }
        try directory.change("state.db") { $0 = [UInt8](old) }
        try directory.change(segment) { bytes in
            // What fills the room between two records is zero, and no hash covers it.
            let middle = (begin + end) / 2
            let place = try #require(bytes[middle..<end].firstIndex { $0 != 0 })
            bytes[place] ^= 1
        }
        try await directory.restoreInPlace("More is left than records up to")
        try await directory.expectServed(with: [second, third])
    }

    @Test("a backup of another instance is no better one, however new and full of records")
    func backupOfAnotherInstance() async throws {
        let directory = try await DataDirectory.written(killed: false)
        let own = try directory.keepBackup("20260101T000000000Z")
        _ = try await post(in: directory)
        let other = try await DataDirectory.written(killed: false)
        // Far more records than the directory itself has.
        for _ in 0..<5 { _ = try await post(in: other, votes: 100) }
        let service = try await DurableService.start(other.path)
        #expect(await service.stop() == 0)
        _ = try Database(path: other.path + "/state.db", mode: .existing)
        let foreign = try other.keepBackup("20260102T000000000Z")
        try FileManager.default.moveItem(
            atPath: "\(other.path)/\(foreign)",
            toPath: "\(directory.path)/\(foreign)"
        )
        try directory.remove("state.db")
        let restore = try await directory.firstPrintedCommand("Nothing is lost: backup 20260101")
        #expect(restore[2] == "\(directory.path)/\(own)", "\(restore)")
        // Without one of its own the journal has all, and where it does not, the other one is named.
        try directory.remove(own)
        let whole = try await directory.firstPrintedCommand("the journal here has all from")
        #expect(whole[2] == "\(directory.path)/journal", "\(whole)")
        try directory.remove("durable.hwm")
        let fallback = try await directory.firstPrintedCommand("is of another instance")
        #expect(fallback[1] == "\(directory.path)/\(foreign)", "\(fallback)")
    }

    @Test("an older state.db beside the log of a newer one is noticed", arguments: [false, true])
    func olderDatabaseBesideALog(isAnotherFile: Bool) async throws {
        let directory = try await DataDirectory.written(killed: false)
        _ = try directory.keepBackup("20260101T000000000Z")
        let file = "\(directory.path)/state.db"
        let old = try Data(contentsOf: URL(filePath: file))
        let second = try await post(in: directory)
        let service = try await DurableService.start(directory.path)
        #expect(await service.stop() == 0)
        // A life that checkpoints nothing has written what state.db knows of itself.
        let idle = try await DurableService.start(directory.path)
        await idle.kill()
        let log = try Data(contentsOf: URL(filePath: file + "-wal"))
        #expect(log.contains { $0 != 0 })
        if isAnotherFile { try directory.remove("state.db") }
        try old.write(to: URL(filePath: file))
        try await directory.restoreInPlace("Nothing is lost: backup 20260101")
        try await directory.expectServed(with: [second])
    }

    @Test("a journal that goes on from a restored state does not have all, and is not taken for it")
    func journalOfARestore() async throws {
        let directory = try await DataDirectory.written(killed: false)
        let backup = try directory.keepBackup("20260101T000000000Z")
        let target = directory.path + ".restored"
        defer { try? FileManager.default.removeItem(atPath: target) }
        let words = ["restore", "\(directory.path)/\(backup)", target]
        #expect(try await RunningProcess(Programs.feedService, words).finish().0 == 0)
        let service = try await DurableService.start(target)
        #expect(try await service.upvotes(directory.post) == UInt64(DataDirectory.voteCount))
        #expect(await service.stop() == 0)
        try FileManager.default.removeItem(atPath: target + "/state.db")
        try await DurableService.expectRefusal(target, 5, ["Nothing can be served"])
        let typed = ["restore", "--in-place", "\(target)/journal", target]
        let (status, output) = try await RunningProcess(Programs.feedService, typed).finish()
        #expect(status == 5)
        #expect(output.joined().contains("goes on from a state that it does not have"), "\(output)")
        #expect(!FileManager.default.fileExists(atPath: target + "/state.db"))
    }

    @Test("a copied state.db that is damaged is said to be damaged, and not a copy")
    func damagedCopy() async throws {
        let directory = try await DataDirectory.written(killed: false)
        _ = try directory.keepBackup("20260101T000000000Z")
        let file = URL(filePath: "\(directory.path)/state.db")
        let bytes = try Data(contentsOf: file)
        try directory.remove("state.db")
        try bytes.write(to: file)
        try directory.flipBitOfARow()
        let words = ["new-instance", directory.path]
        let (status, output) = try await RunningProcess(Programs.feedService, words).finish()
        #expect(status == 5, "\(output)")
        try await directory.restoreInPlace("Nothing is lost: backup 20260101")
        try await directory.expectServed()
    }

    @Test("a journal with a gap after the backup: the refusals say what is lost, and from where")
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

    /// Serves once more, makes a post with some votes, and kills the service.
    private func post(in directory: DataDirectory, votes: Int = 3) async throws -> UInt64 {
        let service = try await DurableService.start(directory.path)
        let later = try await service.createPost("later", votes: votes)
        await service.kill()
        return later
    }
}

extension DataDirectory {
    /// Up to where a segment that was never used before has bytes.
    fileprivate func usedByteCount(_ name: String) throws -> Int {
        let bytes = try Data(contentsOf: URL(filePath: "\(path)/\(name)"))
        return (bytes.lastIndex { $0 != 0 } ?? 0) + 1
    }

    /// The words after `feed-service` of the first command that a refused start prints, which says
    /// `text`.
    fileprivate func firstPrintedCommand(_ text: String) async throws -> [String] {
        let output = try await DurableService.expectRefusal(path, 5, [text])
        let command = try #require(output.first { $0.hasPrefix("    feed-service ") }, "\(output)")
        return command.split(separator: " ").dropFirst().map(String.init)
    }

    /// Types the first command that a refused start prints, which says `text` and names a restore in
    /// place; gives what that prints.
    @discardableResult
    fileprivate func restoreInPlace(_ text: String) async throws -> [String] {
        let restore = try await firstPrintedCommand(text)
        #expect(restore.starts(with: ["restore", "--in-place"]), "\(restore)")
        let (status, lines) = try await RunningProcess(Programs.feedService, restore).finish()
        #expect(status == 0, "\(lines)")
        return lines
    }

    /// Expects that a service starts and has what was written, and three votes on each later post.
    fileprivate func expectServed(with later: [UInt64], _ arguments: [String] = []) async throws {
        let service = try await DurableService.start(path, arguments)
        #expect(try await service.upvotes(post) == UInt64(DataDirectory.voteCount))
        for id in later { #expect(try await service.upvotes(id) == 3) }
        #expect(await service.stop() == 0)
    }

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
