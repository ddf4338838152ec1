import FeedJournal
import FeedProto
import FeedSQLite
import FeedTestSupport
import Foundation
import Testing

/// Restores that were refused or interrupted, and backups that are taken for data directories.
@Suite(.serialized, .timeLimit(.minutes(10)), DurableService.needed) struct RestoreDaysTests {
    private static let manager = FileManager.default

    /// A stopped directory, and a copy of its state in a backup's folder elsewhere.
    private static func written() async throws -> (DataDirectory, TemporaryDirectory, String) {
        let directory = try await DataDirectory.written(killed: false)
        let parent = try TemporaryDirectory()
        let backup = parent.path + "/20260101T000000000Z"
        try manager.createDirectory(atPath: backup, withIntermediateDirectories: false)
        try manager.copyItem(atPath: directory.path + "/state.db", toPath: backup + "/state.db")
        return (directory, parent, backup)
    }

    private static func run(_ words: [String]) async throws -> (status: Int32, output: [String]) {
        try await RunningProcess(Programs.feedService, words).finish()
    }

    /// The words of the commands that a refusal names.
    private static func commands(_ output: [String]) -> [[String]] {
        output.filter { $0.hasPrefix("    feed-service ") }.map {
            $0.split(separator: " ").dropFirst().map(String.init)
        }
    }

    /// Types a restore and the start after it, and expects all votes.
    private static func type(_ commands: [[String]], _ directory: DataDirectory) async throws {
        #expect(commands.map(\.first) == ["restore", "--data-dir"], "\(commands)")
        let restore = try #require(commands.first)
        let (status, output) = try await run(restore)
        #expect(status == 0, "\(output)")
        let start = try #require(commands.last)
        #expect(start.last == "--must-exist")
        let service = try await DurableService.start(start[1], Array(start.dropFirst(2)))
        #expect(try await service.upvotes(directory.post) == UInt64(DataDirectory.voteCount))
        #expect(await service.stop() == 0)
    }

    @Test(
        "an interrupted restore is told with --must-exist too, with what was typed",
        arguments: [false, true]
    )
    func interruptedRestore(ofMoment isMoment: Bool) async throws {
        let (directory, parent, backup) = try await Self.written()
        var note = "\(backup)\n"
        if isMoment {
            let backups = directory.path + "/backups"
            try Self.manager.createDirectory(atPath: backups, withIntermediateDirectories: true)
            let name = URL(filePath: backup).lastPathComponent
            try Self.manager.copyItem(atPath: backup, toPath: "\(backups)/\(name)")
            note = "--at\n\(name)\n\(directory.path)\n"
        }
        let target = parent.path + "/data"
        try Self.manager.createDirectory(atPath: target, withIntermediateDirectories: false)
        for (name, text) in [("restoring", note), ("state.db.new", "half"), ("lock", "")] {
            try Data(text.utf8).write(to: URL(filePath: target + "/" + name))
        }
        for flags in [[], ["--must-exist"]] {
            let (status, output) = try await Self.run(
                ["--listen", "127.0.0.1:0", "--data-dir", target] + flags
            )
            #expect(status == 5)
            #expect(output.joined().contains("was interrupted"), "\(output)")
            guard flags != [] else { continue }
            #expect(output.joined().contains(" restore --at ") == isMoment, "\(output)")
            try await Self.type(Self.commands(output), directory)
        }
    }

    @Test(
        "a backup that is started, verified or renamed is said to be one, and nothing is written",
        arguments: [false, true]
    )
    func aBackupIsNoDataDirectory(hasLock: Bool) async throws {
        let (directory, parent, backup) = try await Self.written()
        // An earlier version left a lock there.
        if hasLock { try Data().write(to: URL(filePath: backup + "/lock")) }
        let names = try Self.manager.contentsOfDirectory(atPath: backup).sorted()
        let bytes = try Data(contentsOf: URL(filePath: backup + "/state.db"))
        let attempts = [
            ["--listen", "127.0.0.1:0", "--data-dir", backup],
            ["--listen", "127.0.0.1:0", "--data-dir", backup, "--must-exist"],
            ["new-instance", backup],
            ["--data-dir", backup, "--accept-data-loss", "7", "--dry-run"],
        ]
        for words in attempts {
            let (status, output) = try await Self.run(words)
            #expect(status == 2)
            #expect(output.joined().contains("This is a backup of instance"), "\(output)")
            guard words == attempts.last else { continue }
            try await Self.type(Self.commands(output), directory)
        }
        let (status, output) = try await Self.run(["verify", backup])
        #expect(status == 0)
        #expect(output.joined().contains("is a complete backup"), "\(output)")
        #expect(try Self.manager.contentsOfDirectory(atPath: backup).sorted() == names)
        #expect(try Data(contentsOf: URL(filePath: backup + "/state.db")) == bytes)
        withExtendedLifetime(parent) {}
    }

    @Test("a copy that lacks a segment is refused for that, and not as a copy")
    func aCopyWithoutASegment() async throws {
        let directory = try await DataDirectory.written()
        let copy = directory.path + "/state.db.copy"
        try Self.manager.copyItem(atPath: directory.path + "/state.db", toPath: copy)
        try directory.remove("state.db")
        try Self.manager.moveItem(atPath: copy, toPath: directory.path + "/state.db")
        try directory.remove(directory.newestSegment())
        // Records that a checkpoint has before the kill are missing, and others are lost.
        let texts = ["ecord", "--accept-data-loss"]
        let output = try await DurableService.expectRefusal(directory.path, 5, texts)
        #expect(!output.joined().contains("is a copy"), "\(output)")
    }

    @Test("accounts that were deleted after a backup are named, with the command for each")
    func accountsDeletedSince() async throws {
        let directory = try TemporaryDirectory()
        let data = directory.path + "/data"
        let service = try await DurableService.start(data)
        try await service.call { client in
            for name in ["ann", "bob", "cy"] {
                let signUp = SignUpRequest(email: "\(name)@x", password: "password")
                if let status = try client.call(.signUp(signUp)).status { throw status }
            }
        }
        let name = try await PointInTimeTests.backUp(service)
        try await service.call { client in
            for (id, change) in [(1, UserChange.delete), (3, .deleteKeepingPosts)] {
                let request = ChangeUserRequest(
                    userID: UserID(rawValue: UInt64(id)),
                    change: change
                )
                if let status = try client.call(.changeUser(request)).status { throw status }
            }
        }
        #expect(await service.stop() == 0)
        let backup = "\(data)/backups/\(name)"
        let restored = directory.path + "/restored"
        let (again, elsewhere) = (directory.path + "/again", directory.path + "/elsewhere")
        try Self.manager.copyItem(atPath: backup, toPath: elsewhere)
        for words in [
            ["verify", backup, "--newer", data], ["restore", backup, restored],
            ["restore", elsewhere, again, "--newer", data], ["verify", restored, "--newer", data],
        ] {
            let (status, output) = try await Self.run(words)
            #expect(status == 0, "\(output)")
            #expect(
                output.filter { $0.hasPrefix("account ") } == [
                    "account 1 was deleted since: type feedctl delete-user 1",
                    "account 3 was deleted since: type feedctl delete-user 3 --keep-posts",
                ],
                "\(words)"
            )
        }
        for words in [["verify", backup], ["verify", data, "--newer", backup]] {
            let (status, output) = try await Self.run(words)
            #expect(status == 0 && !output.contains { $0.hasPrefix("account ") }, "\(output)")
        }
    }

    @Test("a restore that is refused leaves no directory, and the start after it makes none")
    func refusedRestore() async throws {
        let (directory, parent, backup) = try await Self.written()
        let target = parent.path + "/data"
        let (status, output) = try await Self.run(["restore", backup + "-typo", target])
        #expect(status == 2)
        #expect(output.contains { $0.hasPrefix("  What to do: Correct the path") }, "\(output)")
        #expect(!Self.manager.fileExists(atPath: target))
        let (started, words) = try await Self.run(
            ["--listen", "127.0.0.1:0", "--data-dir", target, "--must-exist"]
        )
        #expect(started == 2, "\(words)")
        #expect(!Self.manager.fileExists(atPath: target))
        // An empty feed that was started there by mistake.
        let empty = try await DurableService.start(target)
        #expect(await empty.stop() == 0)
        let (refused, ways) = try await Self.run(["restore", backup, target])
        #expect(refused == 2)
        try await Self.type(Self.commands(ways), directory)
    }
}

/// Bad days of a directory whose journal is whole: what is typed brings everything back.
@Suite(.serialized, .timeLimit(.minutes(10)), DurableService.needed) struct InPlaceDaysTests {
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
    private func post(in directory: DataDirectory, votes: Int = 3) async throws -> PostID {
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
    fileprivate func expectServed(with later: [PostID], _ arguments: [String] = []) async throws {
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

/// A service that keeps its journal, and its state of a moment that has passed.
@Suite(.serialized, .timeLimit(.minutes(10)), DurableService.needed) struct PointInTimeTests {
    private static let flags = [
        "--journal-keep", "24h", "--segment-bytes", "1048576", "--fold-bytes", "1", "--threads",
        "2",
        "--space-kept", "0",
    ]

    /// Votes of one phase on one post, and enough text for a segment and more.
    private static func vote(
        _ service: DurableService,
        _ post: PostID,
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

    fileprivate static func backUp(_ service: DurableService) async throws -> String {
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

    private static func expect(_ votes: Int, of post: PostID, in path: String) async throws {
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
