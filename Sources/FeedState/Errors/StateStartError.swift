package import FeedJournal
package import FeedLog
package import FeedRanking
internal import FeedSQLite

/// Why a data directory cannot be served.
///
/// ``StartRefusal`` says it to an operator.
package enum StateStartError: Error {
    case journal(JournalError)
    case loss(StateLoss)
    case state(StateError)
    /// A record of the journal holds no log entries.
    case entries(record: UInt64, LogEntryError)
    /// A record of the journal, or a row, holds what no store can have.
    case recovery(record: UInt64, RecoveryError)
    case inPlaceInterrupted(path: String, backup: String)
    /// A restore into the directory was interrupted, which read a backup, or with flags a moment of a
    /// data directory; the source is nil where a version that did not note it has begun.
    case restoreInterrupted(path: String, source: String?, flags: [String])
    case backup(instanceID: UInt64)
    case missingDatabase
    case foreignFile(String)
    case noState
    /// A loss was being accepted, with this record as the last one that is left.
    case interruptedAcceptance(after: UInt64)
    case copied
    case full(neededByteCount: Int, freeByteCount: Int)

    /// What the process exits with: 2 a directory that cannot be used, 3 one that is in use, 4 one
    /// of another instance or a newer format, 5 damage or loss, 1 anything else.
    package var exitStatus: Int32 {
        switch self {
        case .journal(let error), .state(.directory(let error)): Self.exitStatus(error)
        case .state(let error) where error.isDamage: 5
        case .loss, .entries, .recovery, .missingDatabase, .interruptedAcceptance,
            .restoreInterrupted, .inPlaceInterrupted:
            5
        case .state(.unfinishedCheckpoint): 5
        case .state(.newerFormat), .copied: 4
        case .state(.missingFile), .state(.notEmpty), .state(.notABackup), .state(.changedBackup): 2
        case .foreignFile, .noState, .backup: 2
        case .state(.database(.locked)): 3
        case .state(.file(let error)): error.isOfPermission ? 2 : 1
        case .state, .full: 1
        }
    }

    private static func exitStatus(_ error: JournalError) -> Int32 {
        switch error {
        case .missingDirectory, .notADirectory, .wrongOwner, .readOnlyDirectory: 2
        case .locked: 3
        case .newerFormat, .otherInstance: 4
        case .damaged, .missing, .lost, .missingWatermark, .otherLossAccepted: 5
        case .file(let error): error.isOfPermission ? 2 : 1
        case .recordTooLarge, .outOfSpace, .syncFailed, .stopped: 1
        }
    }

    /// Whether a file, or a record of the journal, holds something else than was written to it.
    package var isDamage: Bool {
        switch self {
        case .state(let error): error.isDamage
        case .entries, .recovery: true
        default: false
        }
    }

    /// Whether the disk, or what we may use of it, is full.
    var isOutOfSpace: Bool {
        switch self {
        case .journal(.outOfSpace), .state(.database(.full)): true
        case .journal(.file(let error)), .state(.file(let error)): error.isOutOfSpace
        default: false
        }
    }
}

extension StateStartError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .journal(let error): "\(error)"
        case .loss(let loss): "\(loss.problem)"
        case .state(let error): "\(error)"
        case .entries(let number, let error):
            "Record \(number) of the journal cannot be read: \(error)"
        case .recovery(let number, let error):
            "Record \(number) of the journal cannot be applied: \(error)"
        case .restoreInterrupted(let path, _, _):
            "A restore into \(path) was interrupted: the directory holds only a part of the backup."
        case .inPlaceInterrupted(let path, _):
            "A restore in place in \(path) was interrupted: state.db is not in its place yet."
        case .backup(let instanceID):
            "This is a backup of instance \(hexadecimal(instanceID)), and no data directory."
        case .missingDatabase: "state.db is missing, and other files of the state are there."
        case .foreignFile(let name):
            "The directory has no state.db, and it has \(name), which is no file of feed-service."
        case .noState: "The directory has no state."
        case .interruptedAcceptance(let left):
            "An acceptance of loss after record \(left) was interrupted."
        case .copied:
            "state.db is a copy of the file that this instance was last served from."
        case .full(let needed, let free):
            "The disk is full: \(free) bytes are free, and a start takes up to \(needed) bytes."
        }
    }
}

/// Calls `body`, whose failures keep the state from being served.
func journalErrors<Result>(
    _ body: () throws(JournalError) -> Result
) throws(StateStartError) -> Result {
    do {
        return try body()
    } catch {
        throw .journal(error)
    }
}

/// Calls `body`, whose failures keep the state from being served.
func stateErrors<Result>(
    _ body: () throws(StateError) -> Result
) throws(StateStartError) -> Result {
    do {
        return try body()
    } catch {
        throw .state(error)
    }
}

/// A loss of the journal, and what is left.
package struct StateLoss: Error, Equatable, Sendable {
    /// What is wrong: `damaged`, `missing`, `lost` or `missingWatermark`.
    package var problem: JournalError
    /// The last record that is left, in the journal or in `state.db`.
    package var left: UInt64
    /// The last record that is known to have been durable; it may be before `left`.
    package var known: UInt64

    /// The record up to which `state.db` has a part of the changes after `left`; nil where it has none.
    ///
    /// A checkpoint was under way then, so the posts that are left are of different moments.
    package var partlyCheckpointed: UInt64?
    /// Where the first record that is missing has to be; nil where the problem or no file tells.
    package var place: MissingPlace?

    /// What `partlyCheckpointed` means for an operator.
    package static func partlyCheckpointedNote(_ last: UInt64) -> String {
        "state.db has a part of the records up to \(last): some posts would be of a later moment than "
            + "others."
    }

    package init(
        problem: JournalError,
        left: UInt64,
        known: UInt64,
        partlyCheckpointed: UInt64? = nil,
        place: MissingPlace? = nil
    ) {
        self.place = place
        self.problem = problem
        self.left = left
        self.known = known
        self.partlyCheckpointed = partlyCheckpointed
    }
}
