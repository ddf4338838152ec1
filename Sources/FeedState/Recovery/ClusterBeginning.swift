package import FeedJournal

/// A directory of one machine that has become the first one of a cluster.
package struct ClusterBeginning: Sendable, Equatable {
    /// The last record before the cluster's own; the next one has a head.
    package var last: JournalPosition
    /// The instance of the directory, which all machines of the cluster share.
    package var instanceID: UInt64

    /// The 16 bytes by which replicas know the cluster, as digits: the instance, and zeros.
    package var cluster: String { hexadecimal(instanceID) + hexadecimal(0) }

    /// Makes a data directory that no service uses the first one of a cluster, durably.
    package static func run(path: String) throws(StateStartError) -> ClusterBeginning {
        var options = StateOptions(path: path, logCount: 1)
        options.mustExist = true
        options.servesCluster = true
        return try run(StateDirectory(options), mustHaveRecord: true)
    }

    /// Makes a directory that is locked, and that no service uses, a cluster's, durably.
    ///
    /// Nothing is changed that a start would refuse. All records stay, and the instance does. As long as
    /// there is no record of the cluster, it can be called again, and changes nothing.
    package static func run(
        _ directory: StateDirectory,
        mustHaveRecord: Bool = false
    ) throws(StateStartError) -> ClusterBeginning {
        let database = try directory.existingDatabase()
        let meta = database.meta
        _ = try directory.acceptedLoss(database)
        try directory.checkIsOriginal(database)
        guard !meta.chain.isOfCluster else {
            let scan = try directory.scan(database)
            if let problem = scan.problem { throw directory.explained(problem, database) }
            guard scan.last.number == meta.chain.beginning else { throw .ofCluster }
            return ClusterBeginning(last: scan.last, instanceID: meta.instanceID)
        }
        try startErrors { () throws(StorageError) in try database.verify() }
        var summary = RecoverySummary()
        let journal = try directory.journal(database, &summary) { _ in }
        guard !mustHaveRecord || journal.last.number > 0 else { throw .noRecord }
        // From here on the journal has to have the record that the cluster begins behind.
        try directory.noteFiles(of: database, known: journal.last, journal)
        let last = journal.last
        try directory.withRoom(journal) { () throws(StorageError) in
            try database.beginCluster(after: last)
        }
        return ClusterBeginning(last: last, instanceID: meta.instanceID)
    }
}

extension StateDirectory {
    /// Begins the journal of a state that was copied here from another machine of its cluster.
    ///
    /// There is none yet. Durable on return: the next start continues behind the copy's last record. As
    /// long as there is no segment, it can be called again after an interruption.
    package func beginJournal(behind database: StateDatabase) throws(StateStartError) {
        let meta = database.meta
        try startErrors { () throws(StorageError) in try SegmentJournal.checkMayBegin(files) }
        // The row that came with the copy tells of the other machine's files.
        try withRoom { () throws(StorageError) in
            try database.update(
                DirectoryRow(
                    known: meta.checkpointed,
                    identity: try files.identity(of: StateDatabase.fileName)
                )
            )
        }
        try withRoom { () throws(StorageError) in
            try SegmentJournal.begin(
                files,
                configuration(database),
                after: meta.checkpointed,
                at: meta.chain.microseconds
            )
        }
    }
    /// Whether the directory has no state at all: a node of a cluster waits for one.
    package func isWithoutState() throws(StateStartError) -> Bool {
        guard InstallMarker.read(files) == nil else { return false }
        return try !hasDatabase()
    }

    /// Finishes what has marked the directory: a state of another node takes the place of its own.
    ///
    /// Gives the last record of the new one; nil if there was nothing to finish.
    /// A process that ends in the middle leaves the marker, and the next start goes on.
    func finishInstall() throws(StateStartError) -> UInt64? {
        guard options.replica != nil else { return nil }
        guard let marker = InstallMarker.read(files) else {
            // A process that was killed while it copied has left only bytes that take room.
            if try names(in: ".").contains(StateDatabase.newFileName) {
                try? StateDatabase.removeNewFile(files)
            }
            return nil
        }
        try withRoom { () throws(StorageError) in try marker.publish(files) }
        try beginInstalledJournal(marker.record)
        try withRoom { () throws(StorageError) in try RestoringFile.remove(files) }
        // What is left of older ones only takes room.
        try? ReplacedStates.prune(files)
        return marker.record
    }

    /// Begins the journal behind the state, which is closed on return; nothing if that was done.
    private func beginInstalledJournal(_ record: UInt64) throws(StateStartError) {
        let isBegun = try startErrors { () throws(StorageError) in
            try SegmentJournal.isBegun(files)
        }
        guard !isBegun else {
            // A process that was killed may have made the segment, and not have synced its name.
            return try startErrors { () throws(StorageError) in
                try files.syncDirectory(SegmentJournal.directoryName)
            }
        }
        let database = try withRoom { () throws(StorageError) in
            try StateDatabase(directory: options.path, files: files, vfs: vfs)
        }
        let found = database.meta.checkpointed.number
        guard found == record else {
            let reason = "its last record is \(found), and \(record) was installed"
            throw .storage(.notAState(file: StateDatabase.fileName, reason: reason))
        }
        try beginJournal(behind: database)
    }
}
