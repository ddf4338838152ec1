package import FeedJournal
internal import FeedSQLite

/// Why a backup was not restored.
package enum RestoreError: Error, Equatable, Sendable {
    /// There is no directory of that name to restore from.
    case noBackup(path: String)

    /// The directory to restore from has no file of that name.
    case incomplete(path: String, file: String)

    /// The disk has less room than the restored directory takes.
    case noRoom(directory: String, neededByteCount: Int, freeByteCount: Int)

    /// To be put in the place of `state.db`: the journal of the directory does not continue the backup,
    /// whose last record is named.
    case notContinued(backup: String, checkpointed: UInt64, problem: JournalError)

    /// The backup cannot be used, or the directory cannot be made.
    case state(StateError)
}

extension RestoreError {
    /// What the process exits with, as ``StateStartError/exitStatus``; 1 where the disk is full.
    package var exitStatus: Int32 {
        switch self {
        case .noBackup, .incomplete: 2
        case .noRoom: 1
        case .notContinued(_, _, let problem): StateStartError.journal(problem).exitStatus
        case .state(let error): StateStartError.state(error).exitStatus
        }
    }
}

extension RestoreError {
    /// Whether the disk is full.
    var isOutOfSpace: Bool {
        guard case .state(let error) = self else { return false }
        return error.isOutOfSpace
    }
}

extension RestoreError: CustomStringConvertible {
    /// Why a journal does not continue a backup.
    private static func text(_ problem: JournalError) -> String {
        guard case .otherInstance(let file, let found, let expected) = problem else {
            return "\(problem)"
        }
        return "\(file) is of instance \(hexadecimal(found)), and the backup of instance "
            + "\(hexadecimal(expected))."
    }

    package var description: String {
        switch self {
        case .noBackup(let path):
            "There is no directory \(path) to restore from."
        case .incomplete(let path, let file):
            "\(path) is no complete backup: it has no file \(file)."
        case .noRoom(let directory, let needed, let free):
            "To restore into \(directory) takes up to \(needed) bytes, and the disk has \(free) bytes "
                + "free."
        case .notContinued(let backup, let checkpointed, let problem):
            "The journal does not continue the backup \(backup), whose last record is "
                + "\(checkpointed): " + Self.text(problem)
        case .state(let error): error.description
        }
    }
}
