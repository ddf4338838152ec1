internal import FeedAccounts
package import FeedJournal
internal import FeedRanking
internal import FeedSQLite

/// Reads a backup as a restore would, and changes nothing: every page and every row.
package struct BackupVerification: Sendable, Equatable {
    package var instanceID: UInt64
    package var postCount: UInt64
    /// The last record of the instance's journal that is in it.
    package var lastRecord: UInt64
    package var revision: UInt64
    package var stateHash: UInt64
    /// A hash of the state that a restore makes: without the sessions, which it ends.
    package var restoredStateHash: UInt64
    package var accounts: KnownAccounts

    /// Whether a directory looks like a backup, and not like a data directory: it has `state.db`
    /// and none of the other files that a data directory has.
    package static func isBackup(path: String) -> Bool {
        guard let files = try? POSIXFiles(reading: path), let names = try? files.names(in: "."),
            isWithoutJournal(names)
        else { return false }
        return !names.contains("lock") || copiedInstance(path: path) != nil
    }

    /// The instance of a `state.db` that is a copy and has no journal beside it, as in a backup's
    /// folder; nil where the directory is anything else.
    ///
    /// Writes nothing. A directory that was served from has the original. A file system that cannot tell
    /// copies from originals leaves nil.
    package static func copiedInstance(path: String) -> UInt64? {
        guard let files = try? POSIXFiles(reading: path), let names = try? files.names(in: "."),
            isWithoutJournal(names),
            (try? StateDatabase.hasLog(StateDatabase.fileName, files)) == false,
            let database = try? StateDatabase.look(directory: path, files: files),
            let noted = database.directoryRow?.identity,
            let found = try? files.identity(of: StateDatabase.fileName)
        else { return nil }
        return found.isSameFile(as: noted) ? nil : database.meta.instanceID
    }

    private static func isWithoutJournal(_ names: [String]) -> Bool {
        let others = [SegmentJournal.directoryName, SegmentJournal.watermarkName]
        return names.contains(StateDatabase.fileName) && !names.contains(where: others.contains)
    }

    package static func run(path: String) throws(StorageError) -> BackupVerification {
        let database = try open(path: path)
        let meta = database.meta
        try database.checkPages()
        let store = FeedStore(stripeCount: 16) { 0 }
        let accounts = AccountsRecovery()
        try database.load(into: store, accounts: accounts, channels: { _, _ in })
        var restored = accounts.state
        restored.sessions = []
        return BackupVerification(
            instanceID: meta.instanceID,
            postCount: store.postCount,
            lastRecord: meta.checkpointed.number,
            revision: meta.highestRevision,
            stateHash: store.stateHash() &+ accounts.state.stateHash,
            restoredStateHash: store.stateHash() &+ restored.stateHash,
            accounts: KnownAccounts(restored)
        )
    }

    /// Opens a backup's `state.db` to read it, and checks that it is a state of one moment.
    static func open(path: String) throws(StorageError) -> StateDatabase {
        let files = try POSIXFiles(reading: path)
        let log = "\(StateDatabase.fileName)-wal"
        let found = try files.open(log)
        if let found, try found.byteCount() > 0 {
            // What SQLite has written ahead is a part of the database, and a restore leaves it out.
            throw .changedBackup(path: path, name: log)
        }
        let database = try StateDatabase(
            path,
            files,
            name: StateDatabase.fileName,
            mode: .immutable
        )
        try database.checkIsOfOneMoment()
        return database
    }
}
