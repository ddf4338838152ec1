package import FeedJournal

/// Why a data directory cannot be served.
///
/// ``StartRefusal`` says it to an operator.
package enum StateStartError: Error {
    case storage(StorageError)
    case loss(StateLoss)
    /// The directory is one of a cluster's, and what it was opened for is for one machine.
    case ofCluster
    /// The directory is one machine's, and what it was opened for is for a node of a cluster.
    case ofOneMachine
    /// A new cluster was to be made of a directory, and what the old one has beyond it was not given up.
    case unacceptedClusterLoss
    /// A cluster was to begin behind the last record of a directory that has none.
    case noRecord
    case inPlaceInterrupted(path: String, backup: String)
    /// A state of another node of the cluster, of this record, is taking the place of the directory's own.
    case installInterrupted(path: String, record: UInt64)
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
        case .storage(let error): error.exitStatus
        case .loss, .missingDatabase, .interruptedAcceptance, .restoreInterrupted,
            .inPlaceInterrupted, .installInterrupted:
            5
        case .copied, .ofCluster, .ofOneMachine: 4
        case .foreignFile, .noState, .backup, .unacceptedClusterLoss, .noRecord: 2
        case .full: 1
        }
    }
}

extension StorageError {
    /// What a process exits with that it keeps from its work, as ``StateStartError/exitStatus``.
    var exitStatus: Int32 {
        switch self {
        case _ where isDamage: 5
        case .damagedRecord, .missing, .lost, .missingWatermark, .otherLossAccepted,
            .unfinishedCheckpoint:
            5
        case .newerFormat, .otherInstance, .head: 4
        case .locked: 3
        case .sqlite(let failure): failure.kind == .locked ? 3 : 1
        case .missingDirectory, .notADirectory, .wrongOwner, .readOnlyDirectory, .missingFile,
            .notEmpty, .notABackup, .changedBackup:
            2
        default: isOfPermission ? 2 : 1
        }
    }
}

extension StateStartError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .storage(let error): "\(error)"
        case .loss(let loss): "\(loss.problem)"
        case .ofCluster:
            "The directory is one of a cluster's, and this is for the directory of one machine."
        case .ofOneMachine:
            "The directory is one machine's, and this is for one of a cluster's."
        case .unacceptedClusterLoss:
            "--accept-lost-changes: expected it, as a new cluster has only what this directory has."
        case .noRecord: "The directory has no record yet, and a cluster begins behind one."
        case .restoreInterrupted(let path, _, _):
            "A restore into \(path) was interrupted: the directory holds only a part of the backup."
        case .inPlaceInterrupted(let path, _):
            "A restore in place in \(path) was interrupted: state.db is not in its place yet."
        case .installInterrupted(let path, let record):
            "The state of the cluster at record \(record) was to take the place of the one in \(path), "
                + "and that was interrupted."
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

func startErrors<Result>(
    _ body: () throws(StorageError) -> Result
) throws(StateStartError) -> Result {
    do {
        return try body()
    } catch {
        throw .storage(error)
    }
}

package struct StateLoss: Error, Equatable, Sendable {
    /// What is wrong: `damaged`, `missing`, `lost` or `missingWatermark`.
    package var problem: StorageError
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
        problem: StorageError,
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
