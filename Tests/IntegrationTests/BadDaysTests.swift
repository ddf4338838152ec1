import FeedJournal
import FeedProto
import FeedSQLite
import FeedTestSupport
import Foundation
import Testing

/// A person types what a refusal says, and nothing else, and ends with a serving service.
@Suite(.serialized, .timeLimit(.minutes(10)), DurableService.needed) struct BadDaysTests {
    struct Day: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var status: Int32 = 5
        /// Whether all votes are still there at the end.
        var keepsVotes = true
        var isKilled = true
        /// A part of the commands that are typed; the others are other ways on.
        var types = ["--in-place", "--data-dir"]
        var spoil: @Sendable (DataDirectory) throws -> Void
    }

    static let days = [
        Day(
            testDescription: "a damaged segment",
            keepsVotes: false,
            types: ["--accept-data-loss"]
        ) { try $0.change($0.newestSegment()) { $0[20] ^= 4 } },
        Day(testDescription: "the mark is gone", types: ["--accept-data-loss"]) {
            try $0.remove("durable.hwm")
        },
        Day(
            testDescription: "state.db is empty, and there is a backup",
            isKilled: false
        ) { directory in
            try directory.keepBackup()
            try directory.change("state.db") { $0 = [] }
        },
        Day(testDescription: "state.db has lost a table", isKilled: false) { directory in
            try directory.keepBackup()
            let database = try Database(path: directory.path + "/state.db", mode: .existing)
            try database.execute("DROP TABLE ballots")
        },
        Day(
            testDescription: "state.db is missing, and there is a backup",
            isKilled: false
        ) { directory in
            try directory.keepBackup()
            try directory.remove("state.db")
        },
        Day(
            testDescription: "state.db is missing, and no backup was made"
        ) { try $0.remove("state.db") },
        Day(
            testDescription: "state.db is damaged, and no backup was made",
            isKilled: false
        ) { try $0.flipBitsOfPages() },
        Day(
            testDescription: "the directory is a copy",
            status: 4,
            types: ["new-instance", "--data-dir"]
        ) { directory in
            let copy = directory.path + "/state.db.copy"
            try FileManager.default.copyItem(atPath: directory.path + "/state.db", toPath: copy)
            try directory.remove("state.db")
            try FileManager.default.moveItem(atPath: copy, toPath: directory.path + "/state.db")
        },
    ]

    @Test(arguments: days)
    func endsWithAServingService(_ day: Day) async throws {
        let directory = try await DataDirectory.written(killed: day.isKilled)
        try day.spoil(directory)
        let commands = try await refusal(directory.path, day.status)
        let verify = ["verify", directory.path]
        let (verified, _) = try await RunningProcess(Programs.feedService, verify).finish()
        #expect(verified == day.status)
        let typed = commands.filter { command in
            day.types.contains { command.contains($0) } && !command.contains("--dry-run")
        }
        var path = directory.path
        for command in typed {
            let words = command.split(separator: " ").dropFirst().map(String.init)
            guard words.first == "--data-dir" else {
                let process = try RunningProcess(Programs.feedService, words)
                let (status, output) = await process.finish()
                #expect(status == 0, "\(command): \(output)")
                continue
            }
            path = words[1]
            let service = try await DurableService.start(path, Array(words.dropFirst(2)))
            let votes = try? await service.upvotes(directory.post)
            if day.keepsVotes { #expect(votes == UInt64(DataDirectory.voteCount)) }
            _ = try await service.createPost("after it", votes: 1)
            #expect(await service.stop() == 0)
        }
        #expect(typed.contains { $0.contains("--data-dir") })
        // The flags of the bad day are not needed any more.
        let service = try await DurableService.start(path)
        #expect(await service.stop() == 0)
        if path != directory.path { try FileManager.default.removeItem(atPath: path) }
    }

    @Test("a dry run says what would be dropped, and changes nothing")
    func dryRun() async throws {
        let directory = try await DataDirectory.written()
        try directory.change(directory.newestSegment()) { $0[20] ^= 4 }
        let commands = try await refusal(directory.path, 5)
        let dry = try #require(commands.first { $0.contains("--dry-run") })
        let words = dry.split(separator: " ").dropFirst().map(String.init)
        let (status, output) = try await RunningProcess(Programs.feedService, words).finish()
        #expect(status == 0)
        #expect(output.contains { $0.contains("quarantine: journal/") }, "\(output)")
        #expect(output.contains { $0.hasPrefix("would lose ") && $0.contains(" at least") })
        #expect(output.contains("nothing was changed"))
        #expect(try await refusal(directory.path, 5) == commands)
        // The accepting start logs the record and the file.
        let record = try #require(words.firstIndex(of: "--accept-data-loss")) + 1
        let flags = ["--accept-data-loss", words[record]]
        let service = try await DurableService.start(directory.path, flags)
        let kept = try FileManager.default.contentsOfDirectory(
            atPath: directory.path + "/quarantine"
        )
        let accepted = "a loss was accepted after record \(words[record])"
        let line = await service.process.line { $0.contains(accepted) }
        #expect(kept.contains { line?.contains($0) == true }, "\(service.process.output)")
        #expect(await service.stop() == 0)
    }

    @Test("--must-exist refuses a path without a state, and makes nothing")
    func mustExist() async throws {
        let directory = try TemporaryDirectory()
        for path in [directory.path, directory.path + "/typo"] {
            let process = try DurableService.launch(path, ["--must-exist"])
            let (status, output) = await process.finish()
            #expect(status == 2)
            #expect(output.joined().contains("The directory has no state."), "\(output)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
    }

    @Test("a directory of other files is left as it is")
    func foreignFiles() async throws {
        let directory = try TemporaryDirectory()
        try Data([1]).write(to: URL(filePath: directory.path + "/report.odt"))
        try await DurableService.expectRefusal(directory.path, 2, ["report.odt"])
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(names == ["report.odt"])
    }

    @Test("a port that is taken is told before a directory is made")
    func portIsTaken() async throws {
        let service = try await ServiceProcess.start()
        let directory = try TemporaryDirectory()
        let path = directory.path + "/data"
        let address = "127.0.0.1:\(service.port)"
        let process = try RunningProcess(
            Programs.feedService,
            ["--listen", address, "--data-dir", path]
        )
        let (status, output) = await process.finish()
        #expect(status == 1)
        #expect(output.joined().contains("\(address) is in use"), "\(output)")
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(await service.stop() == 0)
    }

    @Test("only its own user may read the files, and lost+found may be there")
    func filesArePrivate() async throws {
        let directory = try TemporaryDirectory()
        let found = directory.path + "/lost+found"
        try FileManager.default.createDirectory(atPath: found, withIntermediateDirectories: false)
        let service = try await DurableService.start(directory.path)
        for name in ["state.db", "state.db-wal", "durable.hwm", "journal"] {
            let attributes = try FileManager.default.attributesOfItem(
                atPath: directory.path + "/" + name
            )
            let rights = try #require(attributes[.posixPermissions] as? Int)
            #expect(rights & 0o077 == 0, "\(name)")
        }
        #expect(await service.stop() == 0)
    }

    @Test("files and folders that others may read become private at the next start")
    func rightsAreTightened() async throws {
        let directory = try await DataDirectory.written(killed: false)
        try directory.keepBackup()
        try Data([1]).write(to: URL(filePath: directory.path + "/state.db.format-1"))
        let files = FileManager.default
        let names = try files.subpathsOfDirectory(atPath: directory.path)
        #expect(names.contains { $0.hasPrefix("backups/") && $0.hasSuffix("/state.db") })
        for name in names + ["."] {
            let path = directory.path + "/" + name
            let type = try files.attributesOfItem(atPath: path)[.type] as? FileAttributeType
            try files.setAttributes(
                [.posixPermissions: type == .typeDirectory ? 0o755 : 0o644],
                ofItemAtPath: path
            )
        }
        let service = try await DurableService.start(directory.path)
        for name in try files.subpathsOfDirectory(atPath: directory.path) + ["."] {
            let attributes = try files.attributesOfItem(atPath: directory.path + "/" + name)
            let rights = try #require(attributes[.posixPermissions] as? Int)
            #expect(rights & 0o077 == 0, "\(name)")
        }
        #expect(await service.stop() == 0)
    }

    @Test("another user's state.db", .enabled(if: geteuid() == 0, "Only root can give it."))
    func wrongOwner() async throws {
        let directory = try await DataDirectory.written(killed: false)
        let path = directory.path + "/state.db"
        #expect(unsafe chown(path, 12345, 12345) == 0)
        try await DurableService.expectRefusal(directory.path, 2, [path, "12345", "What to do:"])
    }

    /// The commands that a refusal names, whole.
    private func refusal(_ path: String, _ status: Int32) async throws -> [String] {
        let process = try DurableService.launch(path)
        let (found, output) = await process.finish()
        #expect(found == status, "\(output)")
        #expect(output.contains { $0.contains("What it means:") }, "\(output)")
        return output.filter { $0.hasPrefix("    ") }.map { String($0.dropFirst(4)) }
    }
}

extension DataDirectory {
    /// Makes a backup of what an orderly stop has left.
    fileprivate func keepBackup() throws {
        let backup = path + "/backups/20260101T000000.000Z"
        try FileManager.default.createDirectory(atPath: backup, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: path + "/state.db", toPath: backup + "/state.db")
    }
}

/// The durable service on a disk whose calls fail.
@Suite(
    .serialized,
    .timeLimit(.minutes(10)),
    .enabled(if: FaultInjector.isAvailable, Comment(rawValue: FaultInjector.absence))
)
struct DiskFaultTests {
    @Test("the injector makes the calls of a process fail", arguments: [true, false])
    func injectsFaults(_ fails: Bool) async throws {
        let directory = try TemporaryDirectory()
        let arguments = ["if=/dev/zero", "of=\(directory.path)/file", "count=1", "conv=fdatasync"]
        let program = try #require(Programs.command("dd"))
        let injector = FaultInjector(fails ? [.failingSync] : [])
        let process = try RunningProcess(program, arguments, environment: injector.environment)
        let (status, output) = await process.finish()
        injector.clear(process)
        #expect(status == (fails ? 1 : 0), "\(output)")
    }

    @Test(
        "T-DISK-3: a sync that fails ends the process, and nothing acknowledged is lost",
        DurableService.needed,
        arguments: [FaultInjector.Fault.failingSync, .failingWrites]
    )
    func stopsAtAFailedCommit(_ fault: FaultInjector.Fault) async throws {
        let directory = try TemporaryDirectory()
        let injector = FaultInjector()
        let service = try await DurableService.start(directory.path, faults: injector)
        defer { injector.clear(service.process) }
        let id = try await service.createPost("kept", votes: 50)
        let client = try await offload { [port = service.port] in try WireClient(port: port) }
        try await injector.begin(fault, in: service.process)
        let answers = try await offload {
            // Up to the end of the connection: an error of it is an end, too.
            let vote = Request.castVote(CastVoteRequest(postID: id, direction: .up))
            for _ in 0..<100 where (try? client.send(vote)) == nil { break }
            var answers: [ServerFrame] = []
            while let answer = try? client.receive() { answers.append(answer) }
            return answers
        }
        // Nobody knows whether the votes stand, so nobody says so.
        #expect(answers.count { $0.id != 0 } == 0, "\(answers)")
        #expect(await service.process.exitStatus() > 0)

        let restarted = try await DurableService.start(directory.path)
        let count = try await restarted.upvotes(id)
        #expect((50...150).contains(count), "\(count)")
        #expect(try await restarted.createPost("another", votes: 10) != id)
        #expect(await restarted.stop() == 0)
        let again = try await DurableService.start(directory.path)
        #expect(try await again.upvotes(id) == count)
        #expect(await again.stop() == 0)
    }

    @Test(
        "T-DISK-4: short and interrupted writes are made again",
        DurableService.needed,
        arguments: [FaultInjector.Fault.shortWrites, .interruptedWrites]
    )
    func retriesWrites(_ fault: FaultInjector.Fault) async throws {
        let directory = try TemporaryDirectory()
        let injector = FaultInjector([fault])
        let service = try await DurableService.start(directory.path, faults: injector)
        defer { injector.clear(service.process) }
        let id = try await service.createPost("kept", votes: 300)
        await service.kill()
        let restarted = try await DurableService.start(directory.path)
        #expect(try await restarted.upvotes(id) == 300)
        #expect(await restarted.stop() == 0)
    }
}

/// The durable service on a small disk that fills up.
@Suite(
    .serialized,
    .timeLimit(.minutes(10)),
    DurableService.needed,
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
    private static func vote(_ client: WireClient, _ id: PostID, untilRefused: Bool) throws -> Int {
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
