internal import FeedJournal
internal import FeedRanking

/// A new name for a data directory: all of its state stays.
package struct InstanceChange: Sendable, Equatable {
    package var old: UInt64
    package var new: UInt64

    /// Gives a data directory that no service uses a new instance id, durably.
    ///
    /// The next start finishes an interrupted change, or the same call made again.
    package static func run(path: String) throws(StateStartError) -> InstanceChange {
        var options = StateOptions(path: path, logCount: 1)
        options.mustExist = true
        return try run(StateDirectory(options))
    }

    package static func run(_ directory: StateDirectory) throws(StateStartError) -> InstanceChange {
        let database = try directory.existingDatabase()
        _ = try directory.acceptedLoss(database)
        let old = database.directoryRow?.previousInstanceID ?? database.meta.instanceID
        // Nothing is renamed that a start would refuse.
        if let problem = try directory.scan(database).problem {
            throw directory.explained(problem, database)
        }
        // Nor a file that is damaged: under its old instance the journal may continue a backup.
        try startErrors { () throws(StorageError) in try database.verify() }
        try directory.withRoom { () throws(StorageError) in
            try directory.changeInstance(of: database, acceptedLoss: nil)
        }
        var summary = RecoverySummary()
        _ = try directory.journal(database, &summary) { _ in }
        return InstanceChange(old: old, new: database.meta.instanceID)
    }
}

extension StateDirectory {
    /// What is left of the journal after a loss that the options accept; nil without a loss.
    ///
    /// It throws where an acceptance is unfinished and the options accept none, where they name another
    /// record than the last one that is left, and where they accept one of a cluster's directory.
    func acceptedLoss(_ database: StateDatabase) throws(StateStartError) -> RecoveryScan? {
        let unfinished = database.directoryRow?.acceptedLoss
        guard let accepted = options.acceptedLoss else {
            if let unfinished { throw .interruptedAcceptance(after: unfinished) }
            return nil
        }
        // What a machine of a cluster has lost, the others have. Under another instance it would go on with
        // records of its own.
        guard !database.meta.chain.isOfCluster else { throw .ofCluster }
        let loss = unfinished != nil ? try scan(database) : try openLoss(database)
        if let left = loss?.last.number, left != accepted {
            throw .storage(.otherLossAccepted(accepted: accepted, last: left))
        }
        return loss
    }

    /// A loss to accept, or one whose acceptance version 0.1 has not finished.
    private func openLoss(_ database: StateDatabase) throws(StateStartError) -> RecoveryScan? {
        do throws(StateStartError) {
            let scan = try scan(database)
            let isWhole = scan.last.number >= database.meta.checkpointing.number
            return scan.problem == nil && isWhole ? nil : scan
        } catch {
            // Version 0.1 has changed the instance of `state.db`, and of some segments only.
            guard case .storage(.otherInstance) = error, database.directoryRow == nil else {
                throw error
            }
            return try scan(database, acceptsAnyInstance: true)
        }
    }
}
