/// Why there is no backup.
package enum BackupError: Error, Equatable, Sendable {
    /// Another backup is under way.
    case running

    /// The disk has less room than the backup takes beside the bytes that must stay free.
    case noRoom(neededByteCount: Int, freeByteCount: Int, reservedByteCount: Int)

    /// While it was made, the free space fell below the bytes that must stay free.
    case roomShrank(freeByteCount: Int, reservedByteCount: Int)

    /// While it was made, SQLite's log grew beyond its limit.
    case logTooLong(byteCount: Int, limit: Int)

    /// The copy did not pass its check, and was removed.
    case damagedCopy(name: String, StateError)

    /// The service stops.
    case stopping

    /// The state, or its copy, could not be read or written.
    case failed(StateError)
}

extension BackupError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .running:
            "A backup is under way already, and one is made at a time."
        case .noRoom(let needed, let free, let reserved):
            "A backup takes \(needed) bytes, and the disk has \(free) bytes free, of which "
                + "\(reserved) must stay free: free \(needed + reserved - free) bytes, or link "
                + "backups/ to another disk."
        case .roomShrank(let free, let reserved):
            "The backup was cancelled: the disk has only \(free) bytes free, and \(reserved) must "
                + "stay free."
        case .logTooLong(let byteCount, let limit):
            "The backup was cancelled: while it was copied, \(byteCount) bytes of changes had to "
                + "wait beside state.db, and the limit is \(limit) bytes. Make it when fewer changes "
                + "come, or onto a faster disk."
        case .damagedCopy(let name, let error):
            "The backup \(name) did not pass its check, and was removed: \(error)"
        case .stopping:
            "The backup was cancelled: the service stops."
        case .failed(let error):
            "The backup failed: \(error)"
        }
    }
}
