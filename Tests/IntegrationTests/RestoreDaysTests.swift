import FeedTestSupport
import Foundation
import Testing

/// Restores that were refused or interrupted, and backups that are taken for data directories.
@Suite(
    .serialized,
    .timeLimit(.minutes(10)),
    .enabled(DurableService.absence, DurableService.isBuilt)
)
struct RestoreDaysTests {
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
