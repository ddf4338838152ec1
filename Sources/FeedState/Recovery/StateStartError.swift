package import FeedJournal
package import FeedRanking
internal import FeedSQLite

/// Why a data directory cannot be served.
package enum StateStartError: Error, CustomStringConvertible {
    /// The journal cannot be opened.
    case journal(JournalError)
    /// The database cannot be opened, or holds something else than was written.
    case state(StateError)
    /// A record of the journal holds no effects.
    case effects(sequence: UInt64, EffectError)
    /// A record of the journal, or a row, holds what no store can have.
    case recovery(sequence: UInt64, RecoveryError)
    /// The journal is there and the database is not.
    case missingDatabase(path: String)

    /// What the process exits with: 2 a directory that cannot be used, 3 one that is in use, 4 one
    /// of another instance or a newer format, 5 damage or loss, 1 anything else.
    package var exitStatus: Int32 {
        switch self {
        case .journal(let error), .state(.directory(let error)): Self.exitStatus(error)
        case .state(.damaged), .state(.database(.corrupt)), .effects, .recovery, .missingDatabase:
            5
        case .state(.unfinishedFold): 5
        case .state(.newerFormat): 4
        case .state(.missingFile), .state(.notEmpty), .state(.notABackup): 2
        case .state(.database(.locked)): 3
        case .state(.file(let error)): error.isOfPermission ? 2 : 1
        case .state: 1
        }
    }

    private static func exitStatus(_ error: JournalError) -> Int32 {
        switch error {
        case .missingDirectory, .notADirectory, .wrongOwner, .readOnlyDirectory: 2
        case .locked: 3
        case .newerFormat, .otherInstance: 4
        case .damaged, .missing, .lost, .otherLossAccepted: 5
        case .file(let error): error.isOfPermission ? 2 : 1
        case .recordTooLarge, .outOfSpace, .syncFailed, .stopped: 1
        }
    }

    package var description: String {
        switch self {
        case .journal(.lost(let records)):
            return "\(JournalError.lost(sequences: records)) To go on without them, start with "
                + "--accept-data-loss=\(records.lowerBound - 1); clients will see a new instance."
        case .journal(let error): return "\(error)"
        case .state(let error): return "\(error)"
        case .effects(let sequence, let error):
            return "Record \(sequence) of the journal cannot be read: \(error)"
        case .recovery(let sequence, let error):
            return "Record \(sequence) of the journal cannot be applied: \(error)"
        case .missingDatabase(let path):
            return "\(path) is missing, but its journal is there: the state is lost without it. "
                + "Restore a backup into a new directory."
        }
    }
}
