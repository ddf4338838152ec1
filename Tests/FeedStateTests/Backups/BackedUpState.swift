import FeedDiskFaults
import FeedJournal
import FeedState
import FeedTestSupport
import Testing

/// A directory that was written to before and after a backup, and the backup.
struct BackedUpState {
    static let backupPath = "/mnt/backups/one"

    private var run: StatePowerCutRun
    /// The files as they are when the process has died.
    let disk: FakeDisk
    /// The files as they were before the last life.
    let earlier: FakeDisk
    let backup: [UInt8]
    /// The last record that is in it.
    let checkpointed: UInt64

    /// A record has half of a segment at most, so that the commits of some seeds need larger ones.
    init(seed: UInt64, segmentByteCount: Int = 16 << 10, isOfCluster: Bool = false) throws {
        run = StatePowerCutRun(seed: seed)
        run.journal.segmentByteCount = segmentByteCount
        try run.write(turns: 60, checkpoints: true)
        run.disk.revive()
        if isOfCluster { try run.beginCluster() }
        (backup, checkpointed) = try run.writeAroundBackup(turns: 120)
        earlier = run.disk.copy()
        run.disk.revive()
        try run.write(turns: 250, checkpoints: false)
        disk = run.disk.copy()
    }

    /// SQLite's log of the `state.db` that was lost.
    var log: [UInt8] { disk["state.db-wal"] ?? [] }

    /// The database and its log once all records are in them.
    func checkpointAll() throws -> [String: [UInt8]] {
        let disk = disk.copy()
        var life = try DurableLife(disk, run.journal, clock: run.clock)
        let database = life.state.checkpointWork.database
        defer {
            disk.die()
            withExtendedLifetime(database) {}
        }
        try life.checkpointAll()
        return ["state.db": disk["state.db"] ?? [], "state.db-wal": disk["state.db-wal"] ?? []]
    }

    /// Restores the backup, or another one, in place.
    @discardableResult
    func restore(_ disk: FakeDisk, _ backup: [UInt8]? = nil) throws -> InPlaceRestore {
        let source = FakeDisk()
        source["state.db"] = backup ?? self.backup
        guard let file = try source.open("state.db") else {
            throw StorageError.system("open", "state.db", code: 2)
        }
        return try InPlaceRestore.run(
            file,
            of: Self.backupPath,
            in: ".",
            disk,
            vfs: disk.databaseDiskName
        )
    }

    /// Why a start refuses the files; nil where it serves all that was answered.
    func refusal(_ disk: FakeDisk, skipping: Bool = true) -> StateStartError? {
        var run = run
        run.disk = disk
        // The start after a restore in place skips ids, and nothing else is another.
        if skipping { run.durable.model.lastID += 1 << 24 }
        do {
            try run.start()
            return nil
        } catch let error as StateStartError {
            return error
        } catch {
            Issue.record("\(error)")
            return nil
        }
    }

    /// What is wrong where the files are served, changed and checkpointed, and served again; nil where
    /// nothing is.
    func problem(serving disk: FakeDisk, turns: Int, skipping: Bool = false) -> String? {
        var run = run
        run.disk = disk
        if skipping { run.durable.model.lastID += 1 << 24 }
        do {
            for _ in 0..<2 {
                try run.write(turns: turns, checkpoints: true)
                run.disk.revive()
            }
            try run.start()
            return nil
        } catch {
            return "\(error)"
        }
    }
}

extension StatePowerCutRun {
    /// One life that checkpoints all, makes a backup, and continues without a checkpoint; gives the
    /// backup and its last record.
    mutating func writeAroundBackup(turns: Int) throws -> (backup: [UInt8], checkpointed: UInt64) {
        var life = try DurableLife(disk, journal, clock: clock)
        let database = life.state.checkpointWork.database
        defer {
            disk.die()
            withExtendedLifetime(database) {}
        }
        try audit(life)
        for _ in 0..<turns { try turn(&life, checkpoints: false) }
        try commit(&life)
        try life.checkpointAll()
        let checkpointed = database.meta.checkpointed.number
        try life.state.journal.forget(through: checkpointed)
        let name = try BackupFixture.make(database)
        guard let backup = disk["backups/\(name)/state.db"] else {
            throw Complaint(text: "There is no backup.")
        }
        for _ in 0..<turns { try turn(&life, checkpoints: false) }
        try commit(&life)
        return (backup, checkpointed)
    }
}

extension DurableLife {
    fileprivate mutating func checkpointAll() throws {
        state.checkpointWork.begin()
        while state.checkpointWork.isCheckpointing {
            try state.checkpointWork.writeStep(changes: 1000, until: { false })
        }
    }
}

enum BackupFixture {
    /// Makes a backup of a state between two checkpoints; gives its folder's name.
    @discardableResult
    static func make(_ database: StateDatabase, keeping keptCount: Int = 7) throws -> String {
        var options = BackupOptions()
        options.keptCount = keptCount
        let job = try BackupJob(of: database, options, reservedByteCount: 0)
        try job.open()
        while try !job.step() {}
        try job.verify()
        let (backup, _) = try job.finish()
        try database.thaw()
        return backup.name
    }

    static func path(_ name: String, in directory: DataDirectory) -> String {
        "\(directory.path)/\(BackupFolders.directory)/\(name)"
    }
}
