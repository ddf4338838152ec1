internal import FeedJournal
internal import FeedRanking

/// A new name for a data directory: all of its state stays.
package struct InstanceChange: Sendable, Equatable {
    /// The instance as it was.
    package var old: UInt64
    /// The instance from now on.
    package var new: UInt64

    /// Gives a data directory that no service uses a new instance id, durably.
    ///
    /// The next start finishes an interrupted change, or the same call made again.
    package static func run(path: String) throws(StateStartError) -> InstanceChange {
        var options = StateOptions(path: path, logCount: 1)
        options.mustExist = true
        return try run(StateDirectory(options))
    }

    /// The same of a directory that is locked already.
    package static func run(_ directory: StateDirectory) throws(StateStartError) -> InstanceChange {
        let database = try directory.existingDatabase()
        _ = try directory.acceptedLoss(database)
        let old = database.directoryRow?.previousInstanceID ?? database.meta.instanceID
        // Nothing is renamed that a start would refuse.
        if let problem = try directory.scan(database).problem {
            throw directory.explained(problem, database)
        }
        // Nor a file that is damaged: under its old instance the journal may continue a backup.
        try stateErrors { () throws(StateError) in try database.verify() }
        try directory.withRoom { () throws(StateStartError) in
            try directory.changeInstance(of: database, acceptedLoss: nil)
        }
        var summary = RecoverySummary()
        _ = try directory.journal(database, &summary) { _ in }
        return InstanceChange(old: old, new: database.meta.instanceID)
    }
}
