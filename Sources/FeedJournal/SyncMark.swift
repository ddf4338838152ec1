/// What a journal has written since the mark before, up to a record: any thread makes it durable.
package struct SyncMark: Sendable {
    package let position: JournalPosition
    let syncs: [any FileSync]

    /// Returns when all records up to the position are on the disk; to be called once.
    ///
    /// After an error it is not known what the disk has, and no later sync would tell.
    package func sync() throws(StorageError) {
        for file in syncs {
            do {
                try file.sync()
            } catch {
                throw .syncFailed(error)
            }
        }
    }
}

/// What was appended and is not known to be durable.
struct PendingSync {
    private(set) var synced: JournalPosition
    /// Since the last mark: the bytes, the files that are no longer the current one, and whether a
    /// segment has got its name.
    var byteCount = 0
    private(set) var rolled: [any JournalFile] = []
    private(set) var hasNewName = false
    private(set) var isMarked = false

    init(synced: JournalPosition) { self.synced = synced }

    mutating func roll(from file: any JournalFile) {
        rolled.append(file)
        hasNewName = true
    }

    mutating func mark() {
        byteCount = 0
        rolled = []
        hasNewName = false
        isMarked = true
    }

    mutating func end(at position: JournalPosition) {
        synced = position
        isMarked = false
    }
}
