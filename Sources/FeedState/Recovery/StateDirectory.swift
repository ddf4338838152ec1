package import FeedJournal
internal import FeedRanking

/// A data directory that this process has locked, and how its parts are opened.
package struct StateDirectory {
    /// What the service was started with.
    let options: StateOptions
    /// The directory, locked as long as anybody has it.
    let files: any JournalFiles
    /// SQLite's virtual file system that has the directory too; nil is the system's own.
    let vfs: String?

    /// Locks a directory, and makes it where there is none.
    package init(_ options: StateOptions) throws(StateStartError) {
        let files = try journalErrors { () throws(JournalError) in
            try POSIXFiles.creating(path: options.path)
        }
        self.init(options, files)
    }

    /// A directory that is locked already, or on a test's disk.
    package init(_ options: StateOptions, _ files: any JournalFiles, vfs: String? = nil) {
        self.options = options
        self.files = files
        self.vfs = vfs
    }

    /// Opens `state.db`, which has to be there.
    func existingDatabase() throws(StateStartError) -> StateDatabase {
        try stateErrors { () throws(StateError) in
            try StateDatabase(directory: options.path, files: files, vfs: vfs)
        }
    }

    /// Opens `state.db`, or makes it in a new directory.
    ///
    /// Where a loss is accepted and there is one, the instance is a new one from here on.
    func database(_ summary: inout RecoverySummary) throws(StateStartError) -> StateDatabase {
        guard try hasDatabase() else {
            guard try !hasJournal() else {
                throw .missingDatabase(path: "\(options.path)/\(StateDatabase.fileName)")
            }
            guard options.acceptedLoss == nil else {
                throw .state(.missingFile(path: "\(options.path)/\(StateDatabase.fileName)"))
            }
            summary.isNew = true
            return try stateErrors { () throws(StateError) in
                try StateDatabase.create(directory: options.path, files: files, vfs: vfs)
            }
        }
        let database = try existingDatabase()
        if let accepted = options.acceptedLoss, try isLossOpen(database) {
            let scan = try scan(database, acceptsAnyInstance: true)
            let left = scan.last.sequence
            guard accepted == left || accepted == scan.lastFound else {
                throw .journal(.otherLossAccepted(accepted: accepted, last: left))
            }
            summary.acceptedLoss = left
            try stateErrors { () throws(StateError) in
                try database.updateMeta { $0.instanceID = .random(in: 1 ... .max) }
            }
        }
        return database
    }

    /// Opens the journal behind the fold.
    func journal(
        _ database: StateDatabase,
        _ summary: inout RecoverySummary,
        _ progress: (RecoveryProgress) -> Void
    ) throws(StateStartError) -> SegmentJournal {
        let accepted = summary.acceptedLoss
        let journal = try journalErrors { () throws(JournalError) in
            try SegmentJournal(
                files,
                configuration(database.meta),
                folded: database.meta.folded,
                acceptedLoss: accepted,
                progress: { progress(RecoveryProgress($0)) }
            )
        }
        let last = journal.last
        if accepted == nil {
            try checkFold(database.meta, last)
        } else if last.sequence < database.meta.folding.sequence {
            // What a fold had begun with is lost: rows of it stay, and no more of it will come.
            try stateErrors { () throws(StateError) in
                try database.updateMeta { meta in
                    meta.folding = last.sequence > meta.folded.sequence ? last : meta.folded
                }
            }
        }
        return journal
    }

    /// Raises the counters for this run, and says by which effect.
    func beginEpoch(
        _ store: FeedStore,
        _ database: StateDatabase
    ) throws(StateStartError) -> Effect {
        let meta = database.meta
        let bootID = SystemBoot.id()
        // Every id that anybody has seen is durable, as answers wait for that; save where the
        // system went down and nothing had been synced.
        let mayLackIDs = meta.durability == Durability.os.rawValue && meta.bootID != bootID
        let gap: UInt64 = mayLackIDs ? 1 << 24 : 0
        let epoch = Effect.epoch(
            lastID: max(store.highestID, meta.highestID) + gap,
            revision: max(store.revision, meta.highestRevision) + DurableState.revisionGap
        )
        do throws(RecoveryError) {
            try store.apply(epoch)
        } catch {
            throw .recovery(sequence: 0, error)
        }
        try stateErrors { () throws(StateError) in
            try database.updateMeta { meta in
                meta.bootID = bootID
                meta.durability = options.durability.rawValue
            }
        }
        return epoch
    }
}

extension StateDirectory {
    /// What the journal is opened with.
    func configuration(_ meta: StateMeta) -> JournalConfiguration {
        var configuration = options.journal
        configuration.instanceID = meta.instanceID
        return configuration
    }

    /// What the journal holds, as far as can be read; changes nothing.
    func scan(
        _ database: StateDatabase,
        acceptsAnyInstance: Bool = false
    ) throws(StateStartError) -> RecoveryScan {
        try journalErrors { () throws(JournalError) in
            try RecoveryScan(
                files,
                configuration(database.meta),
                folded: database.meta.folded,
                acceptsAnyInstance: acceptsAnyInstance
            )
        }
    }

    /// Whether there is a loss to accept, or one whose acceptance was cut short.
    private func isLossOpen(_ database: StateDatabase) throws(StateStartError) -> Bool {
        do throws(StateStartError) {
            let scan = try scan(database)
            return scan.problem != nil || scan.last.sequence < database.meta.folding.sequence
        } catch {
            guard case .journal(.otherInstance) = error else { throw error }
            return true
        }
    }

    /// A fold that was cut short has rows of records that the journal must have, too.
    func checkFold(_ meta: StateMeta, _ last: JournalPosition) throws(StateStartError) {
        guard last.sequence < meta.folding.sequence else { return }
        throw .journal(.lost(sequences: last.sequence + 1...meta.folding.sequence))
    }

    private func hasDatabase() throws(StateStartError) -> Bool {
        try names(in: ".").contains(StateDatabase.fileName)
    }

    private func hasJournal() throws(StateStartError) -> Bool {
        let names = try names(in: ".")
        if names.contains(SegmentJournal.markName) { return true }
        guard names.contains(SegmentJournal.directoryName) else { return false }
        return try !self.names(in: SegmentJournal.directoryName).isEmpty
    }

    private func names(in directory: String) throws(StateStartError) -> [String] {
        try stateErrors { () throws(StateError) in
            try fileErrors { () throws(FileError) in try files.names(in: directory) }
        }
    }
}

extension RecoveryProgress {
    /// How far the check of the journal's segments has come.
    init(_ progress: JournalProgress) {
        self.init(
            step: .checking,
            completed: UInt64(progress.completedByteCount),
            total: UInt64(progress.totalByteCount)
        )
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
