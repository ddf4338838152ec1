import FeedDiskFaults
import FeedJournal
import FeedRanking
import FeedState
import FeedTestSupport

// Backups, some steps at a time between calls, commits and checkpoints.
extension StatePowerCutRun {
    /// Continues a backup, or begins one.
    mutating func backUp(_ life: inout DurableLife) throws {
        let database = life.state.checkpointWork.database
        guard let job = backup else {
            guard !database.meta.isCheckpointing else { return }
            var options = BackupOptions()
            options.keptCount = 3
            options.stepByteCount = 16 << 10
            let job = try BackupJob(of: database, options, reservedByteCount: 0)
            try job.open()
            backups[job.name] = disk[StateDatabase.fileName]
            backup = job
            return
        }
        guard try job.step() else { return }
        do {
            try job.verify()
            let (made, removed) = try job.finish()
            completeBackups.insert(made.name)
            completeBackups.subtract(removed)
            // A call of a removal that failed may have removed the backup all the same.
            let names = Set(disk.names)
            completeBackups = completeBackups.filter { name in
                names.contains("\(BackupFolders.directory)/\(name)/\(StateDatabase.fileName)")
            }
            guard completeBackups.contains(made.name) else {
                throw Complaint(text: "Backup \(made.name) was removed when it was complete.")
            }
            if generator.oneIn(2) { try verifyBackup(made.name) }
        } catch {
            completeBackups = []
            throw error
        }
        backupCount += 1
        backup = nil
        try database.thaw()
    }

    /// Throws unless what a restore of a backup would load is the state as of its last record.
    private func verifyBackup(_ name: String) throws {
        let copy = FakeDisk()
        copy[StateDatabase.fileName] = backups[name]
        let vfs = copy.databaseDiskName
        let database = try StateDatabase.look(directory: ".", files: copy, vfs: vfs)
        let expected = hashes[database.meta.checkpointed.number]
        guard try expected == nil || expected == StateFixture.storeHash(database) else {
            throw Complaint(text: "Backup \(name) is another state than its last record's.")
        }
    }

    /// Throws unless each backup that is there is what it was begun of.
    ///
    /// None is gone that was told to be made; of the others nothing stays.
    mutating func auditBackups() throws {
        backup = nil
        _ = try BackupFolders.removeLeftovers(disk)
        let found = try BackupFolders.complete(disk)
        for name in found {
            let path = "\(BackupFolders.directory)/\(name)/\(StateDatabase.fileName)"
            guard disk[path] == backups[name] else {
                throw Complaint(text: "Backup \(name) is not the state that it was made of.")
            }
        }
        guard completeBackups.isSubset(of: found) else {
            throw Complaint(text: "Of backups \(completeBackups), \(found) are left.")
        }
        let files = disk.names.filter { $0.hasPrefix(BackupFolders.directory + "/") }
        guard files.count == found.count else {
            throw Complaint(text: "Something is left of backups: \(files).")
        }
    }
}
