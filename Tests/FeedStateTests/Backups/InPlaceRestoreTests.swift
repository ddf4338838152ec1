import FeedDiskFaults
import FeedJournal
import FeedSQLite
import FeedState
import FeedTestSupport
import Glibc
import Testing

/// A backup in the place of a `state.db` that is gone or damaged: nothing is lost, or nothing is done.
@Suite struct InPlaceRestoreTests {
    private let written: BackedUpState

    init() throws { written = try BackedUpState(seed: 3) }

    /// The directory with a `state.db` that cannot be used, and the log that was beside it.
    private func spoiled(removing: Bool) -> FakeDisk {
        let disk = written.disk.copy()
        if removing {
            disk["state.db"] = nil
        } else {
            disk["state.db"] = [UInt8](repeating: 7, count: 9000)
        }
        // A log of the old file, which SQLite would read with any file of that name.
        disk["state.db-wal"] = written.log
        return disk
    }

    private func files(_ disk: FakeDisk) -> [String: [UInt8]] {
        let pairs = disk.names.compactMap { name in disk[name].map { (name, $0) } }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    @Test(arguments: [true, false])
    func nothingIsLostAndTheOldFilesAreKept(removing: Bool) throws {
        let disk = spoiled(removing: removing)
        #expect(written.refusal(disk.copy()) != nil)
        let old = disk["state.db"]
        let found = try written.restore(disk)
        #expect(found.checkpointed < found.last)
        #expect(disk["quarantine/state.db.1-wal"] == written.log)
        #expect(disk["quarantine/state.db.1"] == old)
        #expect(found.kept.count == (removing ? 1 : 2))
        #expect(!disk.names.contains { $0.hasPrefix("state.db-") || $0.hasPrefix("restoring") })
        #expect(written.refusal(disk) == nil)
    }

    @Test func nothingIsLostOfACluster() throws {
        let written = try BackedUpState(seed: 3, isOfCluster: true)
        let disk = written.disk.copy()
        disk["state.db"] = nil
        disk["state.db-wal"] = written.log
        let found = try written.restore(disk)
        #expect(found.checkpointed < found.last)
        #expect(written.refusal(disk.copy()) == nil)
        let verified = try StateVerification.run(
            DurableLife.directory(disk, JournalConfiguration(instanceID: 0)),
            2
        )
        #expect(verified.chain != nil && verified.lastRecord == found.last)
    }

    @Test("killed at any call it is refused, finishes when run again, and loses no old file")
    func killedAnywhereItFinishes() throws {
        var interruptedCount = 0
        var isWhole = false
        for calls in 0..<400 where !isWhole {
            let disk = spoiled(removing: calls % 2 == 0)
            let old = ["state.db", "state.db-wal"].compactMap { disk[$0] }
            disk.callsUntilPowerCut = calls
            isWhole = (try? written.restore(disk)) != nil
            disk.die()
            disk.revive()
            interruptedCount += try check(disk.copy(), old, "killed after \(calls) calls")
        }
        #expect(isWhole)
        #expect(interruptedCount > 10)
    }

    @Test("killed at any call, and then in vain: the old database and its log keep one number")
    func keepsTheOldDatabaseAndItsLogTogether() throws {
        var isWhole = false
        var markedCount = 0
        for calls in 0..<400 where !isWhole {
            let disk = spoiled(removing: false)
            disk.callsUntilPowerCut = calls
            isWhole = (try? written.restore(disk)) != nil
            disk.die()
            disk.revive()
            guard !isWhole, disk.names.contains(BackupRestore.restoringName) else { continue }
            #expect(throws: RestoreError.self) { try written.restore(disk, [1, 2, 3]) }
            markedCount += disk.names.contains(BackupRestore.restoringName) ? 1 : 0
            _ = try? written.restore(disk)
            #expect(disk["quarantine/state.db.1"] != nil, "killed after \(calls) calls")
            let isTogether = disk["quarantine/state.db.1-wal"] == written.log
            #expect(isTogether, "killed after \(calls) calls")
            #expect(written.refusal(disk) == nil, "killed after \(calls) calls")
        }
        #expect(isWhole && markedCount > 0)
    }

    @Test("a power cut at any call loses nothing, and no part of it is served")
    func outlivesPowerCuts() throws {
        var generator = SeededGenerator(seed: TestEnvironment.firstSeed)
        var isWhole = false
        for calls in 0..<400 where !isWhole {
            let disk = spoiled(removing: calls % 2 == 0)
            let old = ["state.db", "state.db-wal"].compactMap { disk[$0] }
            disk.callsUntilPowerCut = calls
            isWhole = (try? written.restore(disk)) != nil
            disk.die()
            for _ in 0..<3 {
                let found = disk.afterPowerCut(&generator)
                _ = try check(found, old, "power cut after \(calls) calls")
            }
        }
        #expect(isWhole)
    }

    /// Expects all of it or a refusal; runs it again, and expects all then.
    ///
    /// Gives 1 where the directory was marked.
    private func check(_ disk: FakeDisk, _ old: [[UInt8]], _ comment: Comment) throws -> Int {
        let refusal = written.refusal(disk.copy())
        let isMarked = disk.names.contains(BackupRestore.restoringName)
        if isMarked {
            guard case .inPlaceInterrupted(_, let backup) = refusal else {
                Issue.record("\(comment): \(String(describing: refusal))")
                return 0
            }
            #expect(backup == BackedUpState.backupPath, comment)
        }
        // A log of another file beside the database is served by no start.
        if disk["state.db"] != nil, disk["state.db"] != [UInt8](repeating: 7, count: 9000) {
            #expect(disk["state.db-wal"] == nil || disk["state.db-wal"] != written.log, comment)
        }
        if refusal != nil {
            try written.restore(disk)
            #expect(written.refusal(disk.copy()) == nil, comment)
        }
        let kept = files(disk).filter { $0.key.hasPrefix("quarantine/") }.map(\.value)
        for content in old { #expect(kept.contains(content), comment) }
        return isMarked ? 1 : 0
    }

    /// Runs it, and expects the error and that the directory is as it was.
    private func error(
        _ disk: FakeDisk,
        _ backup: [UInt8]? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> RestoreError? {
        let before = files(disk)
        let error = #expect(throws: RestoreError.self, sourceLocation: sourceLocation) {
            try written.restore(disk, backup)
        }
        #expect(files(disk) == before, sourceLocation: sourceLocation)
        return error
    }

    @Test func aJournalThatDoesNotContinueTheBackupIsRefused() throws {
        let segments = written.disk.names.filter { $0.hasPrefix("journal/0") }
        #expect(segments.count > 1)
        let disk = spoiled(removing: true)
        disk[segments[0]] = nil
        guard case .notContinued(_, let checkpointed, _) = error(disk)
        else { throw Unexpected("the gap was not noticed") }
        #expect(checkpointed == written.checkpointed)
    }

    @Test("what is wrong with the journal after the backup is told, and hinders nothing")
    func aJournalWithAProblemBehindTheBackup() throws {
        let segments = written.disk.names.filter { $0.hasPrefix("journal/0") }
        // A gap after the first segment and at the end, and the watermark.
        for name in Set([segments[1], segments[segments.count - 1], "durable.hwm"]) {
            let disk = spoiled(removing: true)
            disk[name] = nil
            let restored = try written.restore(disk)
            #expect(
                restored.checkpointed == written.checkpointed && restored.problem != nil,
                "\(name)"
            )
            #expect(written.refusal(disk) != nil, "a start does not notice that \(name) is gone")
        }
        let disk = spoiled(removing: true)
        disk[segments[1]]?[4096 + 44] ^= 1
        guard case .damagedRecord? = try written.restore(disk).problem else {
            throw Unexpected("the damage was not noticed")
        }
        #expect(written.refusal(disk) != nil)
    }

    @Test("a lost watermark is missed also with a backup that notes no durable record")
    func aBackupWithoutANote() throws {
        let source = FakeDisk()
        source["state.db"] = written.backup
        do {
            let vfs = source.databaseDiskName
            let database = try StateDatabase(directory: ".", files: source, vfs: vfs)
            try database.update(DirectoryRow(known: .start)) { _ in }
            try database.connection.checkpointLog()
        }
        let disk = spoiled(removing: true)
        disk["durable.hwm"] = nil
        guard case .missingWatermark? = try written.restore(disk, source["state.db"]).problem
        else { throw Unexpected("the watermark was not missed") }
        #expect(written.refusal(disk) != nil)
    }

    @Test("what the old file alone has after a damaged record is not given up")
    func whatTheOldFileHasBehindADamagedRecord() throws {
        let segments = written.disk.names.filter { $0.hasPrefix("journal/0") }
        let disk = written.disk.copy()
        for (name, bytes) in try written.checkpointAll() { disk[name] = bytes }
        disk[segments[1]]?[4096 + 44] ^= 1
        guard case .notContinued(_, _, .damagedRecord) = error(disk) else {
            throw Unexpected("the records of the old file were given up")
        }
    }

    @Test func whatTheOldFileStillKnowsIsAskedToo() throws {
        // The journal and its watermark are as they were earlier, as after a power cut without
        // syncs. The old file has later records, and says so, although a row of it may be damaged.
        let disk = written.earlier.copy()
        for (name, bytes) in try written.checkpointAll() { disk[name] = bytes }
        guard case .notContinued(_, _, .lost) = error(disk)
        else { throw Unexpected("the loss was not noticed") }
    }

    @Test func aBackupOfAnotherInstanceIsRefused() throws {
        let source = FakeDisk()
        source["state.db"] = written.backup
        do {
            let vfs = source.databaseDiskName
            let database = try StateDatabase(directory: ".", files: source, vfs: vfs)
            try database.update { $0.becomeAnotherInstance() }
            try database.connection.checkpointLog()
        }
        let error = error(spoiled(removing: true), source["state.db"])
        guard case .notContinued(_, _, .otherInstance) = error
        else { throw Unexpected("the backup was taken") }
    }

    @Test func aDamagedBackupIsRefused() throws {
        var backup = written.backup
        // The header of each page but the first.
        for page in stride(from: 4096, to: backup.count, by: 4096) { backup[page] ^= 0x40 }
        guard case .storage(let cause) = error(spoiled(removing: true), backup) else {
            throw Unexpected("the backup was taken")
        }
        #expect(cause.isDamage)
    }

    @Test func aFullDiskIsSaidToBeFull() throws {
        let disk = spoiled(removing: true)
        disk.capacity = files(disk).values.reduce(0) { $0 + $1.count } + written.backup.count / 2
        guard case .noRoom(_, let needed, let free) = error(disk)
        else { throw Unexpected("there was room") }
        #expect(needed > free && free == written.backup.count / 2)
        disk.capacity = .max
        disk.failure = { call, name in
            call == .write && name == "state.db.new" ? ENOSPC : nil
        }
        guard case .noRoom = error(disk) else { throw Unexpected("there was room") }
    }
}
