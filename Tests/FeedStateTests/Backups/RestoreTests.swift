import FeedAccounts
import FeedDiskFaults
import FeedJournal
import FeedRanking
import FeedSQLite
import FeedState
import FeedTestSupport
import Foundation
import Glibc
import Testing

@Suite struct RestoreTests {
    @Test func aRestoredCopyIsTheStateUnderAnotherName() throws {
        let (directory, database) = try DataDirectory.created()
        let (model, _) = try StateFixture.fill(database)
        let backup = BackupFixture.path(try BackupFixture.make(database), in: directory)
        let target = directory.path + "/restored"
        try BackupRestore.run(backup: backup, into: target)
        let files = try POSIXFiles(path: target)
        let restored = try StateDatabase(directory: target, files: files)
        var found = try StateModel(restored)
        found.highestRevision = model.highestRevision
        var expected = model
        expected.viewers.sessions = [:]
        #expect(found == expected)
        #expect(restored.meta.instanceID != database.meta.instanceID)
        #expect(restored.meta.checkpointed == .start && restored.meta.checkpointing == .start)
        #expect(restored.meta.pageTokenKey != database.meta.pageTokenKey)
        #expect(restored.meta.highestID == database.meta.highestID)
        #expect(
            try files.names(in: ".").sorted().filter { !$0.hasPrefix("state.db-") }
                == ["lock", "state.db"]
        )
    }

    /// A number may be another person's in the state that was typed.
    @Test func onlyTheSameAccountsWereDeletedSince() {
        func accounts(_ rows: (id: UInt64, time: Int64, AccountRow.Status)...) -> KnownAccounts {
            var state = AccountsState()
            state.accounts = rows.map { id, time, status in
                AccountRow(
                    id: id,
                    email: "",
                    displayName: "",
                    passwordHash: "",
                    createTimeMilliseconds: time,
                    status: status
                )
            }
            return KnownAccounts(state)
        }
        let old = accounts(
            (1, 5, .active),
            (2, 6, .suspended),
            (3, 7, .active),
            (4, 8, .erasedPosts),
            (5, 9, .active)
        )
        let newer = accounts(
            (1, 5, .erasedAuthor),
            (2, 6, .erasingPosts),
            (3, 1, .erasedPosts),
            (4, 8, .erasedPosts),
            (5, 9, .active),
            (6, 9, .erasedPosts)
        )
        let deleted = old.deleted(in: newer)
        #expect(deleted.map(\.id) == [1, 2] && deleted.map(\.erasure) == [.author, .posts])
    }

    @Test("T-BACKUP-10: a restore ends all sessions")
    func aRestoreEndsAllSessions() throws {
        let (directory, database) = try DataDirectory.created()
        let (model, _) = try StateFixture.fill(database, batches: 20)
        try #require(!model.viewers.sessions.isEmpty && !model.viewers.accounts.isEmpty)
        let backup = BackupFixture.path(try BackupFixture.make(database), in: directory)
        let target = directory.path + "/restored"
        try BackupRestore.run(backup: backup, into: target)
        let verified = try StateVerification.run(path: target)
        let found = try BackupVerification.run(path: backup)
        #expect(verified.stateHash == found.restoredStateHash)
        #expect(verified.stateHash != found.stateHash)
        let restored = try StateDatabase(directory: target, files: POSIXFiles(path: target))
        let accounts = AccountsRecovery()
        try restored.load(
            into: FeedStore(stripeCount: 16) { 0 },
            accounts: accounts,
            channels: { _, _ in }
        )
        #expect(accounts.state.sessions.isEmpty)
        #expect(accounts.state.accounts.count == model.viewers.accounts.count)
    }

    @Test func aCopyFromTheMiddleOfACheckpointIsRefused() throws {
        let directory = try DataDirectory()
        var source = LogEntrySource()
        var generator = SeededGenerator(seed: 4)
        let body = source.batch(writes: 400, using: &generator)
        #expect(try !StateFixture.begin([body], into: directory.create()).step(changes: 5))
        try directory.files.createDirectory("middle")
        let half = try Database(path: directory.path + "/state.db", mode: .existing)
        _ = try Backup(of: half, to: directory.path + "/middle/state.db").step()
        #expect(throws: RestoreError.storage(.unfinishedCheckpoint(file: "state.db", record: 1))) {
            try BackupRestore.run(
                backup: directory.path + "/middle",
                into: directory.path + "/restored"
            )
        }
        // Nothing is left that could be taken for a state, and no directory.
        #expect(try !directory.files.names(in: ".").contains("restored"))
    }

    @Test func aDamagedBackupIsNotRestored() throws {
        let (directory, database) = try DataDirectory.created()
        try StateFixture.fill(database)
        let backup = BackupFixture.path(try BackupFixture.make(database), in: directory)
        let copy = try Database(path: backup + "/state.db", mode: .existing)
        try copy.execute("UPDATE posts SET text = 'Other'")
        try copy.checkpointLog()
        let error = #expect(throws: RestoreError.self) {
            try BackupRestore.run(backup: backup, into: directory.path + "/restored")
        }
        guard case .storage(let cause) = error else { throw Unexpected(error) }
        #expect(cause.isDamage)
        #expect(error?.exitStatus == 5)
        #expect(try !directory.files.names(in: ".").contains("restored"))
    }

    @Test("a directory that was there stays where a restore fails")
    func leavesTheDirectory() throws {
        let directory = try DataDirectory()
        try directory.files.createDirectory("half")
        try directory.write("half/state.db", [1])
        try directory.files.createDirectory("there")
        for (name, isLeft) in [("there", true), ("new", false)] {
            #expect(throws: RestoreError.self) {
                try BackupRestore.run(
                    backup: directory.path + "/half",
                    into: directory.path + "/" + name
                )
            }
            #expect(try directory.files.names(in: ".").contains(name) == isLeft)
        }
    }

    @Test func aDirectoryThatIsNotEmptyIsLeftAlone() throws {
        let directory = try DataDirectory()
        let backup = BackupFixture.path(try BackupFixture.make(directory.create()), in: directory)
        let other = try DataDirectory()
        try other.write("something", [1])
        let path = other.path
        other.unlock()
        #expect(throws: RestoreError.storage(.notEmpty(directory: path, name: "something"))) {
            try BackupRestore.run(backup: backup, into: path)
        }
        #expect(try other.read("something") == [1])
    }

    @Test("what cannot be restored is named, and no directory is half made of it")
    func namesWhatIsWrong() throws {
        let directory = try DataDirectory()
        let target = directory.path + "/restored"
        let none = directory.path + "/none"
        #expect(throws: RestoreError.noBackup(path: none)) {
            try BackupRestore.run(backup: none, into: target)
        }
        // A backup that did not come to its end.
        try directory.files.createDirectory("half")
        try directory.write("half/state.db.new", [1])
        let half = directory.path + "/half"
        #expect(throws: RestoreError.incomplete(path: half, file: "state.db")) {
            try BackupRestore.run(backup: half, into: target)
        }
        let database = try directory.create()
        let backup = BackupFixture.path(try BackupFixture.make(database), in: directory)
        let error = #expect(throws: RestoreError.self) {
            try BackupRestore.run(backup: backup, into: directory.path + "/no/such")
        }
        #expect(error?.description.contains(directory.path + "/no/such") == true)
        #expect(try !directory.files.names(in: ".").contains("restored"))
    }

    @Test("a disk that is too full for a restore is said to be, with the bytes")
    func needsRoom() throws {
        let (source, _) = try RestoreLife.backup()
        let byteCount = try source.byteCount()
        let disk = FakeDisk()
        // With less than a segment the start after it would be refused.
        for capacity in [byteCount / 2, byteCount + (64 << 20)] {
            disk.capacity = capacity
            let error = #expect(throws: RestoreError.self) { try RestoreLife.restore(source, disk) }
            guard case .noRoom(_, let needed, let free) = error else { throw Unexpected(error) }
            #expect(needed == byteCount + (66 << 20) && free == capacity)
            #expect(disk.names == [])
        }
    }

    @Test("a disk that fills while a backup is restored is said to be full, and nothing is left")
    func noticesAFullDisk() throws {
        let (source, _) = try RestoreLife.backup()
        let disk = FakeDisk()
        disk.capacity = .max
        disk.failure = { call, name in
            call == .write && name == "state.db.new" ? ENOSPC : nil
        }
        let error = #expect(throws: RestoreError.self) { try RestoreLife.restore(source, disk) }
        guard case .noRoom = error else { throw Unexpected(error) }
        #expect(disk.names == [])
    }
}

/// What was typed for a restore, in the file `restoring`.
@Suite struct RestoreSourceTests {
    static let sources = [
        RestoreSource(path: "/mnt/backups/20260101T000000000Z"),
        RestoreSource(path: "/srv/feed", flags: ["--at", "2026-11-25T14:05:00.123456Z"]),
        RestoreSource(path: "/srv/feed", flags: ["--at-revision", "7"]),
        RestoreSource(path: "/srv/--at", flags: ["--at", "20260101T000000000Z"]),
    ]

    @Test(arguments: sources)
    func isReadAsItWasWritten(_ source: RestoreSource) throws {
        let directory = try DataDirectory()
        try source.write(directory.files)
        #expect(RestoreSource.read(directory.files) == source)
    }

    @Test func aRelativePathIsNotedWhole() throws {
        let directory = try DataDirectory()
        try RestoreSource(path: "feed", flags: ["--at-revision", "7"]).write(directory.files)
        let folder = FileManager.default.currentDirectoryPath
        #expect(RestoreSource.read(directory.files)?.path == "\(folder)/feed")
    }

    @Test(
        "what a power cut has left of a note is no note",
        arguments: [
            "", "\n", "--at\n", "--at\n2026-11-25T14:05:00Z\n", "--at\n2026-11-25T14:05:00Z\n\n",
            "--at\n2026-11-25T14:05:00Z\n/srv/feed", "/srv\0/feed\n", "/srv/feed",
            "/srv/two\nlines\n",
        ]
    )
    func partOfANote(_ text: String) throws {
        let directory = try DataDirectory()
        try directory.write(BackupRestore.restoringName, Array(text.utf8))
        #expect(RestoreSource.read(directory.files) == nil)
    }

    @Test("a command has each word of a moment as one word of the shell")
    func wordsAreQuoted() {
        let error = StateStartError.restoreInterrupted(
            path: "/srv/feed",
            source: "/srv/old feed",
            flags: ["--at", "2026-11-25 14:05:00Z"]
        )
        let text = "\(StartRefusal(error, directory: "/srv/feed"))"
        let command = "feed-service restore --at '2026-11-25 14:05:00Z' '/srv/old feed' /srv/feed"
        #expect(text.contains("    \(command)\n"), "\(text)")
    }
}

/// A restore that is killed, or loses power, at each of its calls.
@Suite struct RestoreKillTests {
    @Test("a restore that was killed anywhere is not served, and finishes when it is run again")
    func isAllOrNothing() throws {
        let (source, hash) = try RestoreLife.backup()
        var interruptedCount = 0
        var callCount = 0
        var isWhole = false
        while !isWhole {
            let disk = FakeDisk()
            disk.callsUntilPowerCut = callCount
            isWhole = (try? RestoreLife.restore(source, disk)) != nil
            disk.die()
            disk.revive()
            interruptedCount += try Self.check(disk, source, hash, isWhole)
            callCount += 1
        }
        // Every call but the first ones, which make the marker, and the last ones, which remove it.
        #expect(interruptedCount > callCount - 10 && interruptedCount > 10)
    }

    @Test("a power cut at any call of a restore leaves no part of it that is served")
    func outlivesPowerCuts() throws {
        let (source, hash) = try RestoreLife.backup()
        var generator = SeededGenerator(seed: TestEnvironment.firstSeed)
        var callCount = 0
        var isWhole = false
        while !isWhole {
            let disk = FakeDisk()
            disk.callsUntilPowerCut = callCount
            isWhole = (try? RestoreLife.restore(source, disk)) != nil
            disk.die()
            for _ in 0..<4 {
                let found = disk.afterPowerCut(&generator)
                _ = try Self.check(found, source, hash, isWhole)
            }
            callCount += 1
        }
        #expect(callCount > 20)
    }

    /// Expects nothing, all of it, or a marker that keeps a start away; then runs it again.
    ///
    /// Gives 1 where there was the marker.
    private static func check(
        _ disk: FakeDisk,
        _ source: any JournalFile,
        _ hash: UInt64,
        _ isWhole: Bool
    ) throws -> Int {
        let isMarked = disk.names.contains(BackupRestore.restoringName)
        if isMarked {
            #expect(!isWhole)
            let error = #expect(throws: StateStartError.self) { try RestoreLife.start(disk) }
            #expect(error?.description.contains("was interrupted") == true)
            #expect(error?.exitStatus == 5)
            // All that was typed or none: a part of it would be another restore.
            guard case .restoreInterrupted(_, let noted, let flags) = error else {
                Issue.record("\(String(describing: error))")
                return 0
            }
            #expect(noted == nil || noted == RestoreLife.typed.path)
            #expect(flags == (noted == nil ? [] : RestoreLife.typed.flags))
        } else if disk.names.contains(StateDatabase.fileName) {
            #expect(try RestoreLife.start(disk) == hash)
            return 0
        } else {
            // As before: a start would make a new directory of it, and so it would have before.
            #expect(disk.names.allSatisfy { $0.hasPrefix("state.db.new") })
            #expect(!isWhole)
        }
        try RestoreLife.restore(source, disk)
        #expect(try RestoreLife.start(disk) == hash)
        return isMarked ? 1 : 0
    }
}

/// Restores on a fake disk, and what a start finds there.
enum RestoreLife {
    /// The file of a backup, and the hash of the state in it without the sessions, which a restore ends.
    static func backup() throws -> (source: any JournalFile, hash: UInt64) {
        let disk = FakeDisk()
        let database = try StateDatabase.create(on: disk)
        try StateFixture.fill(database)
        let hash = try StateFixture.storeHash(database, withSessions: false)
        let name = try BackupFixture.make(database)
        guard let source = try disk.copy().open("backups/\(name)/state.db") else {
            throw StorageError.system("open", name, code: 2)
        }
        return (source, hash)
    }

    /// What is said to have been typed: a path of two sectors, which a power cut may tear.
    static let typed = RestoreSource(
        path: "/mnt/" + String(repeating: "feed/", count: 160),
        flags: ["--at", "2026-11-25T14:05:00Z"]
    )

    static func restore(_ source: any JournalFile, _ disk: FakeDisk) throws {
        try BackupRestore.run(source, typed: typed, into: ".", disk, vfs: disk.databaseDiskName)
    }

    /// The hash of the state that a start serves, as far as it has no revisions of its own.
    static func start(_ disk: FakeDisk) throws -> UInt64 {
        var journal = JournalConfiguration(instanceID: 0)
        journal.segmentByteCount = 16 << 10
        journal.space.ballastByteCount = 0
        journal.drawSalt = { TestSalt.next() }
        var options = StateOptions(path: ".", logCount: 1)
        options.journal = journal
        let copy = disk.copy()
        let directory = StateDirectory(options, copy, vfs: copy.databaseDiskName)
        let store = FeedStore(stripeCount: 4) { 0 }
        let recovered = try RecoveredState(directory, into: store, channels: { _ in })
        let database = recovered.checkpointWork.database
        defer {
            copy.die()
            withExtendedLifetime(database) {}
        }
        return try StateFixture.storeHash(database)
    }
}
