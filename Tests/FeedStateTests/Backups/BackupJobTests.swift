import FeedDiskFaults
import FeedJournal
import FeedRanking
import FeedSQLite
import FeedState
import FeedTestSupport
import Glibc
import Testing

@Suite struct BackupJobTests {
    private let directory: DataDirectory
    private let database: StateDatabase

    init() throws { (directory, database) = try DataDirectory.created() }

    private static func batch(_ source: inout LogEntrySource, seed: UInt64) -> [UInt8] {
        var generator = SeededGenerator(seed: seed)
        return source.batch(writes: 400, using: &generator)
    }

    @Test("a backup is the state of its moment, with checkpoints while it is copied")
    func isOfOneMoment() throws {
        // SQLite would move its log into the file every few pages.
        try database.connection.execute("PRAGMA wal_autocheckpoint=4")
        var source = LogEntrySource()
        try StateFixture.checkpoint([Self.batch(&source, seed: 1)], into: database)
        let expected = try StateModel(database)
        var options = BackupOptions()
        options.stepByteCount = 16 << 10
        let job = try BackupJob(of: database, options, reservedByteCount: 0)
        try job.open()
        #expect(database.isFrozen)
        var stepCount = 1
        while try !job.step() {
            let body = Self.batch(&source, seed: UInt64(stepCount) + 1)
            try StateFixture.checkpoint([body], into: database)
            stepCount += 1
        }
        #expect(stepCount > 3)
        let (backup, removed) = try job.finish()
        #expect(removed == [])
        #expect(backup.byteCount == job.copiedByteCount)
        try database.thaw()

        let target = directory.path + "/restored"
        try BackupRestore.run(backup: BackupFixture.path(backup.name, in: directory), into: target)
        let restored = try StateDatabase(directory: target, files: POSIXFiles(path: target))
        var withoutSessions = expected
        withoutSessions.viewers.sessions = [:]
        #expect(try StateModel(restored) == withoutSessions)
        #expect(try StateModel(database) != expected)
    }

    @Test("a frozen file stays as it is, and a thawed one takes in the checkpoints")
    func freezes() throws {
        try database.connection.execute("PRAGMA wal_autocheckpoint=4")
        var source = LogEntrySource()
        let byteCount = try database.freeze().byteCount
        let frozen = try directory.read("state.db")
        #expect(frozen.count == byteCount)
        for seed in 1...5 as ClosedRange<UInt64> {
            try StateFixture.checkpoint([Self.batch(&source, seed: seed)], into: database)
        }
        #expect(try directory.read("state.db") == frozen)
        #expect(try database.logByteCount > frozen.count)
        try database.thaw()
        #expect(try directory.read("state.db").count > frozen.count)
        #expect(try database.logByteCount == 0)
        #expect(try database.connection.text("PRAGMA wal_autocheckpoint") == "4")
        #expect(!database.isFrozen)
    }

    @Test("SQLite's lock on state.db outlives a copy")
    func keepsTheLock() throws {
        try BackupFixture.make(database)
        #expect(Self.isLocked(directory.path + "/state.db"))
    }

    /// The control of the above: a descriptor that is closed takes the lock with it.
    @Test func aLockThatIsLostIsSeen() throws {
        _ = try directory.read("state.db")
        #expect(!Self.isLocked(directory.path + "/state.db"))
        withExtendedLifetime(database) {}
    }

    @Test("a backup that does not fit is refused with the bytes, and leaves nothing")
    func needsRoom() throws {
        let reserved = Int.max / 2
        let error = #expect(throws: BackupError.self) {
            try BackupJob(of: database, BackupOptions(), reservedByteCount: reserved).open()
        }
        guard case .noRoom(let needed, let free, reserved) = error else { throw Unexpected(error) }
        try database.thaw()
        #expect(try needed == directory.read("state.db").count)
        #expect(free > 0)
        let small = BackupError.noRoom(
            neededByteCount: 500,
            freeByteCount: 700,
            reservedByteCount: 300
        )
        let text = "\(small)"
        #expect(text.contains("takes 500 bytes") && text.contains("700 bytes free"))
        #expect(text.contains("free 100 bytes"))
        #expect(try directory.files.names(in: "backups") == [])
    }

    @Test("a backup is given up when the disk fills meanwhile, and its folder is removed")
    func needsRoomThroughout() throws {
        var options = BackupOptions()
        options.stepByteCount = 4 << 10
        let job = try BackupJob(of: database, options, reservedByteCount: 0)
        try job.open()
        #expect(try !job.step())
        job.abandon()
        try database.thaw()
        #expect(try directory.files.names(in: "backups") == [])
        // The next one begins anew.
        try BackupFixture.make(database)
        #expect(try BackupFolders.complete(directory.files).count == 1)
    }

    @Test func aBackupThatFindsTooLittleRoomOnTheWaySaysSo() throws {
        let disk = FakeDisk()
        let database = try StateDatabase.create(on: disk)
        var options = BackupOptions()
        options.stepByteCount = 4 << 10
        let used = disk.names.compactMap { disk[$0]?.count }.reduce(0, +)
        disk.capacity = used + (1 << 20)
        let job = try BackupJob(of: database, options, reservedByteCount: 900 << 10)
        try job.open()
        #expect(try !job.step())
        disk.capacity = used + (800 << 10)
        let free = disk.freeByteCount()
        #expect(throws: BackupError.roomShrank(freeByteCount: free, reservedByteCount: 900 << 10)) {
            try job.step()
        }
        job.abandon()
        #expect(!disk.names.contains { $0.hasPrefix("backups") })
        disk.die()
    }

    @Test("a copy that the disk does not give is no damaged one")
    func aReadThatFailsIsNoDamage() throws {
        let disk = FakeDisk()
        let database = try StateDatabase.create(on: disk)
        let job = try BackupJob(of: database, BackupOptions(), reservedByteCount: 0)
        try job.open()
        while try !job.step() {}
        disk.failure = { call, _ in call == .read ? EIO : nil }
        let error = #expect(throws: BackupError.self) { try job.verify() }
        guard case .failed(let cause) = error else { throw Unexpected(error) }
        #expect(!cause.isDamage, "\(cause)")
        disk.failure = { _, _ in nil }
        try job.verify()
        job.abandon()
        disk.die()
    }

    /// Whether a lock of some process is on a file; to be asked once, as this drops our own.
    private static func isLocked(_ path: String) -> Bool {
        let descriptor = unsafe open(path, O_RDWR)
        defer { close(descriptor) }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        // F_OFD_GETLK, which sees the locks of this process too.
        guard unsafe fcntl(descriptor, 36, &lock) == 0 else { return false }
        return lock.l_type != Int16(F_UNLCK)
    }
}

@Suite struct BackupPhaseTests {
    private typealias Phase = BackupPhase<Int>

    @Test func aBackupPassesEachPhaseAndAnswersItsRequest() {
        var phase = Phase.idle
        #expect(phase.isIdle && phase.wantedRecord == nil && !phase.isReading)
        let isTaken = phase.begin(7, through: 40)
        #expect(isTaken)
        #expect(!phase.isIdle && phase.wantedRecord == 40 && !phase.isReading)
        let isCopying = phase.beginCopying()
        #expect(isCopying)
        #expect(!phase.isIdle && phase.wantedRecord == nil && phase.isReading)
        let isVerifying = phase.beginVerifying()
        #expect(isVerifying)
        #expect(phase.isVerifying && phase.wantedRecord == nil && !phase.isReading)
        let isFinishing = phase.beginFinishing()
        #expect(isFinishing)
        #expect(!phase.isIdle && !phase.isVerifying && phase.wantedRecord == nil)
        #expect(phase.complete() == 7)
        #expect(phase == .idle)
    }

    @Test(
        arguments: [
            .waiting(7, through: 40), .copying(7), .verifying(7), .finishing(7), .cancelled,
        ] as [Phase]
    )
    private func oneIsMadeAtATime(_ before: Phase) {
        var phase = before
        let isTaken = phase.begin(8, through: 41)
        #expect(!isTaken)
        #expect(phase == before)
    }

    @Test func aRequestThatWaitsIsCancelledAtOnce() {
        var phase = Phase.waiting(7, through: 40)
        #expect(phase.cancel() == 7)
        #expect(phase == .idle)
        let isCopying = phase.beginCopying()
        #expect(!isCopying)
        #expect(phase == .idle)
    }

    @Test(arguments: [.copying(7), .verifying(7)] as [Phase])
    private func aCancelledCopyIsAnsweredOnceAndEndsLater(_ before: Phase) {
        var phase = before
        #expect(phase.cancel() == 7)
        #expect(phase == .cancelled && !phase.isReading && !phase.isIdle)
        #expect(phase.cancel() == nil)
        let isVerifying = phase.beginVerifying()
        let isFinishing = phase.beginFinishing()
        #expect(!isVerifying && !isFinishing)
        #expect(phase == .cancelled)
        #expect(phase.end() == nil)
        #expect(phase == .idle)
    }

    @Test func aCopyThatGetsItsNameIsNotCancelled() {
        var phase = Phase.finishing(7)
        #expect(phase.cancel() == nil)
        #expect(phase == .finishing(7))
    }

    @Test(arguments: [.copying(7), .verifying(7), .finishing(7)] as [Phase])
    private func aCopyThatFailsAnswersItsRequest(_ before: Phase) {
        var phase = before
        #expect(phase.end() == 7)
        #expect(phase == .idle)
    }

    @Test func nothingIsCancelledWhereNoBackupIsUnderWay() {
        var phase = Phase.idle
        #expect(phase.cancel() == nil)
        #expect(phase == .idle)
    }
}

@Suite struct BackupVerificationTests {
    @Test("a backup is checked whole, and nothing is written into it")
    func changesNothing() throws {
        let (directory, database) = try DataDirectory.created()
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
        let (directory, database) = try DataDirectory.created()
        let name = try BackupFixture.make(database)
        let odd = "50%, \u{FC}ber#1?"
        try directory.files.rename("backups/\(name)", to: "backups/\(odd)")
        _ = try BackupVerification.run(path: BackupFixture.path(odd, in: directory))
    }

    @Test func damageIsFound() throws {
        let (directory, database) = try DataDirectory.created()
        try StateFixture.fill(database)
        let name = try BackupFixture.make(database)
        var bytes = try directory.read("backups/\(name)/state.db")
        for page in stride(from: 4096, to: bytes.count, by: 4096) { bytes[page + 8] ^= 0x40 }
        try directory.write("backups/\(name)/state.db", bytes)
        let error = #expect(throws: StorageError.self) {
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
        #expect(throws: StorageError.changedBackup(path: path, name: "state.db-wal")) {
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
