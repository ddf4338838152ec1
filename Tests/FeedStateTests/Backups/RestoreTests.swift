import FeedAccounts
import FeedDiskFaults
import FeedJournal
import FeedRanking
import FeedSQLite
import FeedState
import FeedTestSupport
import Glibc
import Testing

@Suite struct RestoreTests {
    @Test func aRestoredCopyIsTheStateUnderAnotherName() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
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

    @Test("T-BACKUP-10: a restore ends all sessions")
    func aRestoreEndsAllSessions() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
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
            channels: { _, _ in },
            progress: { _ in }
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
        #expect(throws: RestoreError.state(.unfinishedCheckpoint(file: "state.db", record: 1))) {
            try BackupRestore.run(
                backup: directory.path + "/middle",
                into: directory.path + "/restored"
            )
        }
        // Nothing is left that could be taken for a state, and no directory.
        #expect(try !directory.files.names(in: ".").contains("restored"))
    }

    @Test func aDamagedBackupIsNotRestored() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        try StateFixture.fill(database)
        let backup = BackupFixture.path(try BackupFixture.make(database), in: directory)
        let copy = try Database(path: backup + "/state.db", mode: .existing)
        try copy.execute("UPDATE posts SET text = 'Other'")
        try copy.checkpointLog()
        let error = #expect(throws: RestoreError.self) {
            try BackupRestore.run(backup: backup, into: directory.path + "/restored")
        }
        guard case .state(let cause) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
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
        #expect(throws: RestoreError.state(.notEmpty(directory: path, name: "something"))) {
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
            guard case .noRoom(_, let needed, let free) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
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
        let error = #expect(throws: RestoreError.self) {
            try RestoreLife.restore(source, disk)
        }
        guard case .noRoom = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(disk.names == [])
    }
}
