internal import FeedJournal

/// The directory of a machine whose cluster has lost its majority, which has become the first one of another
/// cluster.
package struct ClusterRecovery: Sendable, Equatable {
    /// The instance of the cluster that is given up.
    package var old: UInt64
    /// The new cluster, whose log begins behind the last record that this machine has.
    package var begun: ClusterBeginning
    /// When that record was made, by its leader's clock, in microseconds since 1970.
    package var lastMicroseconds: UInt64

    /// Makes the directory of a cluster, which no service uses, the first one of another cluster, durably.
    package static func run(path: String) throws(StateStartError) -> ClusterRecovery {
        var options = StateOptions(path: path, logCount: 1)
        options.mustExist = true
        options.servesCluster = true
        return try run(StateDirectory(options))
    }

    /// The same with a directory that is locked.
    ///
    /// Nothing is changed that a start would refuse. The records stay, and their chain goes on: what is kept
    /// of the journal can be replayed over the change. It is the instance that keeps the two clusters
    /// apart, as replicas, segments and copies of the state name it. Until a service has started in the
    /// directory, it can be called again, and draws no other instance.
    package static func run(
        _ directory: StateDirectory
    ) throws(StateStartError) -> ClusterRecovery {
        let looked = try directory.lookedAtDatabase().meta
        guard looked.chain.isOfCluster else { throw .ofOneMachine }
        _ = try StateVerification.run(directory)
        let database = try directory.existingDatabase()
        // What a start of the service cuts off of the journal was durable on no machine that counts on it.
        let directory = directory.asServed(of: database)
        let old = database.directoryRow?.previousInstanceID ?? database.meta.instanceID
        try directory.withRoom { () throws(StorageError) in
            try directory.changeInstance(of: database, acceptedLoss: nil)
        }
        var summary = RecoverySummary()
        // From here on the watermark has the last record. The next start forgets the old instance.
        let journal = try directory.journal(database, &summary, remembersInstance: true) { _ in }
        return ClusterRecovery(
            old: old,
            begun: ClusterBeginning(last: journal.last, instanceID: database.meta.instanceID),
            lastMicroseconds: journal.lastMicroseconds
        )
    }
}
