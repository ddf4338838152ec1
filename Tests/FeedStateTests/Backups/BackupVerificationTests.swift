import FeedJournal
import FeedRanking
import FeedSQLite
import FeedState
import FeedTestSupport
import Testing

@Suite struct BackupVerificationTests {
    @Test("a backup is checked whole, and nothing is written into it")
    func changesNothing() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        try StateFixture.fill(database)
        let name = try BackupFixture.make(database)
        let path = BackupFixture.path(name, in: directory)
        #expect(BackupVerification.isBackup(path: path))
        let found = try BackupVerification.run(path: path)
        #expect(try found.stateHash == StateFixture.storeHash(database))
        #expect(found.instanceID == database.meta.instanceID)
        #expect(found.lastRecord == database.meta.checkpointed.number)
        #expect(try directory.files.names(in: "backups/\(name)") == ["state.db"])
    }

    @Test func aPathWithSpecialCharactersIsRead() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        let name = try BackupFixture.make(database)
        let odd = "50%, \u{FC}ber#1?"
        try directory.files.rename("backups/\(name)", to: "backups/\(odd)")
        _ = try BackupVerification.run(path: BackupFixture.path(odd, in: directory))
    }

    @Test func damageIsFound() throws {
        let directory = try DataDirectory()
        let database = try directory.create()
        try StateFixture.fill(database)
        let name = try BackupFixture.make(database)
        var bytes = try directory.read("backups/\(name)/state.db")
        for page in stride(from: 4096, to: bytes.count, by: 4096) { bytes[page + 8] ^= 0x40 }
        try directory.write("backups/\(name)/state.db", bytes)
        let error = #expect(throws: StateError.self) {
            try BackupVerification.run(path: BackupFixture.path(name, in: directory))
        }
        #expect(error?.isDamage == true)
    }

    @Test("a backup that another program has changed is not taken for whole")
    func refusesAChangedBackup() throws {
        let directory = try DataDirectory()
        let name = try BackupFixture.make(directory.create())
        try directory.write("backups/\(name)/state.db-wal", [1])
        let path = BackupFixture.path(name, in: directory)
        #expect(throws: StateError.changedBackup(path: path, name: "state.db-wal")) {
            try BackupVerification.run(path: path)
        }
    }

    @Test("a data directory is none")
    func tellsDataDirectories() throws {
        let directory = try DataDirectory()
        _ = try directory.create()
        #expect(!BackupVerification.isBackup(path: directory.path))
        #expect(!BackupVerification.isBackup(path: directory.path + "/none"))
    }
}
