import FeedJournal
import FeedState

/// Backups to test with.
enum BackupFixture {
    /// Makes a backup of a state between two checkpoints; gives its folder's name.
    @discardableResult
    static func make(
        _ database: StateDatabase,
        keeping keptCount: Int = 7
    ) throws -> String {
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

    /// The path of a backup.
    static func path(_ name: String, in directory: DataDirectory) -> String {
        "\(directory.path)/\(BackupFolders.directory)/\(name)"
    }
}
