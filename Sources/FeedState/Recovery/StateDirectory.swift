internal import FeedAccounts
package import FeedJournal
internal import FeedLog
internal import FeedRanking
internal import FeedSQLite
internal import Foundation

/// A data directory that this process has locked, and how its parts are opened.
package struct StateDirectory {
    let options: StateOptions
    /// The directory, locked until it is unlocked or nobody has it.
    let files: any JournalFiles
    /// SQLite's virtual file system that has the directory too; nil is the system's own.
    let vfs: String?

    /// Locks a directory, and makes it where there is none.
    ///
    /// A directory that is refused is left as it is: not even the lock's file is made.
    package init(_ options: StateOptions) throws(StateStartError) {
        // What cannot be listed is refused in the words of what is tried next.
        let names = try? POSIXFiles.names(atPath: options.path)
        if let names, options.replica == nil || !Self.isInstalling(names, options.path) {
            try Self.checkRestored(names, options.path, try? POSIXFiles(reading: options.path))
            if !names.contains(StateDatabase.fileName) {
                try DirectoryNames.checkAreNew(names, options) { folder in
                    (try? POSIXFiles.names(atPath: "\(options.path)/\(folder)")) ?? []
                }
            } else if let instanceID = BackupVerification.copiedInstance(path: options.path) {
                throw .backup(instanceID: instanceID)
            }
        } else if names == nil, options.mustExist || options.acceptedLoss != nil {
            throw .noState
        }
        let files = try startErrors { () throws(StorageError) in
            let files = try POSIXFiles.creating(path: options.path)
            for name in names ?? [] where DirectoryNames.own.contains(name) {
                try files.claim(name)
            }
            Self.makePrivate(names ?? [], files)
            return files
        }
        self.init(options, files, vfs: options.databaseFileSystem)
    }

    /// A directory that is locked already, or on a test's disk.
    package init(_ options: StateOptions, _ files: any JournalFiles, vfs: String? = nil) {
        self.options = options
        self.files = files
        self.vfs = vfs
    }

    /// The same directory under the rules by which a service starts in it.
    ///
    /// Who only looks does not say which they are: what a start cuts off of a cluster's journal, as other
    /// machines have it, is no loss for a verification either.
    func asServed(of database: StateDatabase) -> StateDirectory {
        guard database.meta.chain.isOfCluster else { return self }
        var options = options
        options.durability = .replicated
        return StateDirectory(options, files, vfs: vfs)
    }

    func configuration(_ database: StateDatabase) -> JournalConfiguration {
        var configuration = options.journal
        configuration.instanceID = database.meta.instanceID
        configuration.previousInstanceID = database.directoryRow?.previousInstanceID
        configuration.known = database.directoryRow?.known ?? .start
        return configuration
    }

    /// What the journal holds, as far as can be read; changes nothing.
    func scan(
        _ database: StateDatabase,
        acceptsAnyInstance: Bool = false
    ) throws(StateStartError) -> RecoveryScan {
        try startErrors { () throws(StorageError) in
            try RecoveryScan(
                files,
                configuration(database),
                checkpointed: database.meta.checkpointed,
                acceptsAnyInstance: acceptsAnyInstance
            )
        }
    }

    /// Whether a state of another node is taking the place of the directory's own.
    private static func isInstalling(_ names: [String], _ path: String) -> Bool {
        guard names.contains(BackupRestore.restoringName),
            let files = try? POSIXFiles(reading: path)
        else { return false }
        return InstallMarker.read(files) != nil
    }

    /// A restore that was killed may have left a part of the state.
    private static func checkRestored(
        _ names: [String],
        _ path: String,
        _ files: (any JournalFiles)?
    ) throws(StateStartError) {
        guard names.contains(BackupRestore.restoringName) else { return }
        // A restore in place may have left no `state.db`, or one with another's log.
        if let marker = files.flatMap({ InPlaceMarker.read($0) }) {
            throw .inPlaceInterrupted(path: path, backup: marker.backup)
        }
        if let marker = files.flatMap({ InstallMarker.read($0) }) {
            throw .installInterrupted(path: path, record: marker.record)
        }
        let source = files.flatMap { RestoreSource.read($0) }
        throw .restoreInterrupted(path: path, source: source?.path, flags: source?.flags ?? [])
    }

    func names(in directory: String) throws(StateStartError) -> [String] {
        try startErrors { () throws(StorageError) in
            try files.names(in: directory)
        }
    }
}

extension RecoveryProgress {
    init(_ progress: JournalProgress) {
        self.init(
            step: .checking,
            completed: UInt64(progress.completedByteCount),
            total: UInt64(progress.totalByteCount)
        )
    }
}

// How `state.db` is opened, and under which instance.
extension StateDirectory {
    /// Opens `state.db`, or makes it in a new directory.
    ///
    /// Where a loss is accepted and there is one, the instance is a new one from here on.
    func database(_ summary: inout RecoverySummary) throws(StateStartError) -> StateDatabase {
        guard try hasDatabase() else {
            guard options.replica == nil else { throw .noState }
            summary.isNew = true
            return try withRoom { () throws(StorageError) in
                try StateDatabase.create(directory: options.path, files: files, vfs: vfs)
            }
        }
        let database = try existingDatabase()
        if let left = try acceptedLoss(database)?.last.number {
            summary.acceptedLoss = left
            try withRoom { () throws(StorageError) in
                try changeInstance(of: database, acceptedLoss: left)
            }
        } else {
            try checkIsOriginal(database)
        }
        return database
    }

    func existingDatabase() throws(StateStartError) -> StateDatabase {
        guard try hasDatabase() else { throw .noState }
        let database = try withRoom { () throws(StorageError) in
            try StateDatabase(directory: options.path, files: files, vfs: vfs)
        }
        guard !database.meta.chain.isOfCluster || options.servesCluster else { throw .ofCluster }
        guard database.meta.chain.isOfCluster || options.replica == nil else { throw .ofOneMachine }
        try readLevels(of: database)
        return database
    }

    /// Says which levels are read, and refuses a state whose next records may have log entries of others.
    private func readLevels(of database: StateDatabase) throws(StateStartError) {
        let known = options.newestLevel
        database.meta.chain.newestLevel = known
        let level = database.meta.chain.level
        guard level > known else { return }
        let record = database.meta.checkpointed.number
        throw .storage(.head(.newerLevel(record: record, level: level, known: known)))
    }

    /// Opens `state.db` to look at it, under the same checks.
    func lookedAtDatabase() throws(StateStartError) -> StateDatabase {
        guard try hasDatabase() else { throw .noState }
        let database = try startErrors { () throws(StorageError) in
            try StateDatabase.look(directory: options.path, files: files, vfs: vfs)
        }
        try readLevels(of: database)
        return database
    }

    /// Draws a new instance id, which the journal gets when it is opened next.
    ///
    /// An interrupted change is finished under the id that it drew: no client has seen that one.
    func changeInstance(of database: StateDatabase, acceptedLoss: UInt64?) throws(StorageError) {
        let isUnfinished = database.directoryRow?.previousInstanceID != nil
        // After a loss the watermark may be above the journal's end.
        let known = acceptedLoss == nil ? database.directoryRow?.known : nil
        var record = DirectoryRow(known: known ?? .start, identity: try identity())
        record.acceptedLoss = acceptedLoss
        record.previousInstanceID =
            isUnfinished ? database.directoryRow?.previousInstanceID : database.meta.instanceID
        try database.update(record) { meta in
            if !isUnfinished { meta.becomeAnotherInstance() }
        }
    }

    /// Notes, durably, that the journal has begun: from here on all files have to be there.
    func noteFiles(
        of database: StateDatabase,
        known: JournalPosition,
        _ journal: SegmentJournal,
        previousInstanceID: UInt64? = nil
    ) throws(StateStartError) {
        try withRoom(journal) { () throws(StorageError) in
            var row = DirectoryRow(known: known, identity: try identity())
            row.previousInstanceID = previousInstanceID
            try database.update(row)
        }
    }

    /// Refuses a copy of `state.db`: its original may be in use, or have served since.
    ///
    /// A copy of a cluster's is another machine's. The log gives it what it lacks, or says that it cannot.
    func checkIsOriginal(_ database: StateDatabase) throws(StateStartError) {
        guard !database.meta.chain.isOfCluster else { return }
        let found = try startErrors(identity)
        guard let noted = database.directoryRow?.identity, let found,
            !found.isSameFile(as: noted)
        else { return }
        // What is missing or damaged is reported first: a new instance would be refused for that.
        if let problem = try scan(database).problem { throw explained(problem, database) }
        try startErrors { () throws(StorageError) in try database.verify() }
        throw .copied
    }

    private func identity() throws(StorageError) -> FileIdentity? {
        try files.identity(of: StateDatabase.fileName)
    }

    /// Whether there is a `state.db`; throws where there is none and one has to be.
    ///
    /// A start checks a new directory before it locks it. It checks the same again here, as another
    /// process may have used the directory meanwhile.
    func hasDatabase() throws(StateStartError) -> Bool {
        let names = try names(in: ".")
        try Self.checkRestored(names, options.path, files)
        guard !names.contains(StateDatabase.fileName) else { return true }
        try DirectoryNames.checkAreNew(names, options) { (folder) throws(StateStartError) in
            try self.names(in: folder)
        }
        return false
    }
}

// How the journal is opened after the checkpoint, and a run begins.
extension StateDirectory {
    /// Opens the journal.
    ///
    /// After a change of the instance, the directory's row forgets the old one. With `remembersInstance` it
    /// keeps it: the change may be asked for again, and then draws no other instance.
    func journal(
        _ database: StateDatabase,
        _ summary: inout RecoverySummary,
        remembersInstance: Bool = false,
        _ progress: (RecoveryProgress) -> Void
    ) throws(StateStartError) -> SegmentJournal {
        let accepted = summary.acceptedLoss
        let journal: SegmentJournal
        do throws(StateStartError) {
            journal = try withRoom { () throws(StorageError) in
                try SegmentJournal(
                    files,
                    configuration(database),
                    checkpointed: database.meta.checkpointed,
                    acceptedLoss: accepted,
                    progress: { progress(RecoveryProgress($0)) }
                )
            }
        } catch {
            guard case .storage(let problem) = error else { throw error }
            throw explained(problem, database)
        }
        let last = journal.last
        if accepted != nil {
            // The names say after which record the files were dropped.
            let isOfThisLoss = { (name: String) in name.contains("-after-\(last.number)-") }
            let kept = try? names(in: Quarantine.directoryName)
            summary.quarantined = (kept ?? []).filter(isOfThisLoss).sorted()
        }
        if accepted == nil {
            try checkUnfinishedCheckpoint(database.meta, last)
        } else if last.number < database.meta.checkpointing.number {
            // Records of an unfinished checkpoint are lost. The rows that it wrote stay, and no
            // more of it follow.
            try startErrors { () throws(StorageError) in
                try database.update { meta in
                    meta.checkpointing =
                        last.number > meta.checkpointed.number ? last : meta.checkpointed
                }
            }
        }
        // The journal has its new instance: before it takes a record, as N would not fit then.
        if let previous = database.directoryRow?.previousInstanceID {
            let kept = remembersInstance ? previous : nil
            try noteFiles(of: database, known: last, journal, previousInstanceID: kept)
        }
        return journal
    }

    /// Notes, durably, where the clock is not where the last record of the journal has left it, and lets
    /// the times of records go on all the same.
    func noteClock(
        _ now: UInt64,
        _ journal: SegmentJournal
    ) throws(StateStartError) -> ClockSteps.Step? {
        let (step, shift) = try withRoom(journal) { () throws(StorageError) in
            let last = (record: journal.last.number, time: journal.lastMicroseconds)
            return try ClockSteps.begin(at: now, after: last.record, of: last.time, files)
        }
        journal.clockShift = shift
        return step
    }

    /// Raises the counters for this run, and returns the log entry that says so.
    ///
    /// A node of a cluster begins as one that follows, and logs nothing: its numbers are those of the log,
    /// which a leader raises. It skips some all the same where the directory of one machine had lost changes
    /// before the cluster was made of it; the first leader logs that.
    func beginRun(
        _ store: FeedStore,
        _ accounts: AccountsState,
        _ database: StateDatabase,
        journal: SegmentJournal
    ) throws(StateStartError) -> LogEntry {
        let meta = database.meta
        let bootID = SystemBoot.id()
        let skips = meta.durability == Durability.os.rawValue && meta.bootID != bootID
        let least = options.replica == nil ? SkippedNumbers.revisions : 0
        let lastID = max(store.highestID, meta.highestID) + (skips ? SkippedNumbers.postIDs : 0)
        let revision =
            max(store.revision, meta.highestRevision)
            + (skips ? SkippedNumbers.unknownRevisions : least)
        let counters = LogEntry.counters(lastID: lastID, revision: revision)
        do throws(RecoveryError) {
            try store.apply(counters)
        } catch {
            throw .storage(.brokenRecord(0, reason: "applied: \(error)"))
        }
        var skippedAccountID = database.skippedAccountID
        if skips {
            skippedAccountID = SkippedNumbers.accounts(
                above: accounts.accounts.reduce(skippedAccountID) { max($0, $1.id) },
                instance: meta.instanceID
            )
        }
        let skipped = skippedAccountID
        // Posts and deletions that copies of clients have may be lost: they are begun anew.
        if skips { store.restore(deletionsKnownSince: revision) }
        try withRoom(journal) { () throws(StorageError) in
            if skips { try database.raiseDeletionsFloor(to: revision) }
            try database.update(skippedAccountID: skipped) { meta in
                // A start that ends before its record is durable has skipped them all the same.
                if skips {
                    meta.highestID = lastID
                    meta.highestRevision = revision
                }
                meta.bootID = bootID
                meta.durability = options.durability.rawValue
            }
        }
        return counters
    }

    /// An interrupted checkpoint has rows of records that the journal must have too.
    func checkUnfinishedCheckpoint(
        _ meta: StateMeta,
        _ last: JournalPosition
    ) throws(StateStartError) {
        let checkpointing = meta.checkpointing.number
        guard last.number < checkpointing else { return }
        let problem = StorageError.lost(records: last.number + 1...checkpointing)
        throw .loss(
            StateLoss(
                problem: problem,
                left: last.number,
                known: checkpointing,
                partlyCheckpointed: checkpointing
            )
        )
    }

    /// A problem of the journal with what is left of it.
    func explained(_ error: StorageError, _ database: StateDatabase) -> StateStartError {
        switch error {
        case .damagedRecord, .missing, .lost, .missingWatermark:
            // What is refused is read once more: the error has no room for what was found beside it.
            guard let scan = try? scan(database) else { return .storage(error) }
            let checkpointing = database.meta.checkpointing.number
            return .loss(
                StateLoss(
                    problem: error,
                    left: scan.last.number,
                    known: max(scan.lastKnown, checkpointing),
                    partlyCheckpointed: checkpointing > scan.last.number ? checkpointing : nil,
                    place: scan.firstMissing
                )
            )
        default: return .storage(error)
        }
    }

    /// The folders of a data directory that have files of the state, copies of them or records.
    private static let folders = [
        SegmentJournal.directoryName, BackupFolders.directory, Quarantine.directoryName,
    ]

    /// Keeps other users from reading the state: the directory, its files and its folders become
    /// readable by their owner alone.
    ///
    /// New files are made so. An older version, or a person who has copied a backup, may have made
    /// others. What is not ours stays as it is.
    private static func makePrivate(_ names: [String], _ files: POSIXFiles) {
        files.makePrivate(".")
        for name in names where name.hasPrefix(StateDatabase.fileName) || isOwn(name) {
            makePrivate(name, files, depth: 0)
        }
    }

    private static func isOwn(_ name: String) -> Bool {
        DirectoryNames.own.contains(name) || folders.contains(name)
    }

    /// A backup is a folder within a folder, and quarantine has no deeper ones.
    private static func makePrivate(_ name: String, _ files: POSIXFiles, depth: Int) {
        guard files.makePrivate(name), depth < 3 else { return }
        for below in (try? files.names(in: name)) ?? [] {
            makePrivate("\(name)/\(below)", files, depth: depth + 1)
        }
    }
}

// A start on a full disk.
extension StateDirectory {
    /// Calls `body`; where the disk is full, gives up what only keeps room and calls it once more.
    ///
    /// The journal, once it is open, knows of what it has given up. Where even that does not suffice, it
    /// throws `full`.
    func withRoom<Result>(
        _ journal: SegmentJournal? = nil,
        _ body: () throws(StorageError) -> Result
    ) throws(StateStartError) -> Result {
        do throws(StorageError) {
            return try body()
        } catch {
            guard error.isOutOfSpace else { throw .storage(error) }
        }
        try startErrors { () throws(StorageError) in
            if let journal {
                try journal.giveUpReserves()
            } else {
                try SegmentJournal.removeReserves(files)
            }
        }
        do throws(StorageError) {
            return try body()
        } catch {
            throw error.isOutOfSpace ? full() : .storage(error)
        }
    }

    /// The disk is full: with the bytes that a start takes at most, and those that are free.
    func full() -> StateStartError {
        // SQLite's log goes into the file, and the journal may need a segment; an accepted loss may
        // take a copy of another one in quarantine.
        let log = try? files.open("\(StateDatabase.fileName)-wal")?.byteCount()
        let segments = options.acceptedLoss == nil ? 1 : 2
        let needed = (log ?? 0) + segments * options.journal.segmentByteCount + (1 << 20)
        return .full(neededByteCount: needed, freeByteCount: (try? files.freeByteCount()) ?? 0)
    }
}

/// The names in a data directory that has no `state.db`, and what they say of it.
enum DirectoryNames {
    /// What only a directory has that was served from.
    private static let begun = [
        SegmentJournal.watermarkName, SegmentJournal.ballastName, Quarantine.directoryName,
        BackupFolders.directory, "\(StateDatabase.fileName)-wal",
    ]

    /// The files of a state that a process has to own.
    static let own =
        [
            StateDatabase.fileName, "\(StateDatabase.fileName)-wal", SegmentJournal.directoryName,
            SegmentJournal.watermarkName, SegmentJournal.ballastName, "lock",
        ]

    /// Refuses a directory that was served from, is used for something else, or has to have a state.
    ///
    /// `lost+found` and hidden files, which mounts and file systems make, are no use. Nor is what a
    /// start has left that was killed before it had made `state.db`, nor an empty `journal`.
    static func checkAreNew(
        _ names: [String],
        _ options: StateOptions,
        list: (String) throws(StateStartError) -> [String]
    ) throws(StateStartError) {
        let folder = SegmentJournal.directoryName
        let segments = names.contains(folder) ? try list(folder) : []
        let isBegun = names.contains(where: begun.contains) || !segments.isEmpty
        guard !isBegun else { throw .missingDatabase }
        if let foreign = names.sorted().first(where: isForeign) { throw .foreignFile(foreign) }
        guard !options.mustExist, options.acceptedLoss == nil else { throw .noState }
    }

    private static func isForeign(_ name: String) -> Bool {
        let known = [
            "lock", "lost+found", SegmentJournal.directoryName, BackupRestore.restoringName,
            RestoringFile.newName,
        ]
        return !known.contains(name) && !name.hasPrefix(".")
            && !name.hasPrefix(StateDatabase.newFileName)
    }
}

/// Tells one run of the operating system from another.
enum SystemBoot {
    /// The kernel's random name of this boot; empty where it gives none.
    static func id() -> String {
        let path = "/proc/sys/kernel/random/boot_id"
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return "" }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
