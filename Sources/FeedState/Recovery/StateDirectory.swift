package import FeedJournal
internal import FeedRanking

/// A data directory that this process has locked, and how its parts are opened.
package struct StateDirectory {
    /// What the service was started with.
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
        if let names {
            try Self.checkRestored(names, options.path, try? POSIXFiles(reading: options.path))
            if !names.contains(StateDatabase.fileName) {
                let found = DirectoryNames(names) { folder in
                    (try? POSIXFiles.names(atPath: "\(options.path)/\(folder)")) ?? []
                }
                try found.checkIsNew(options)
            } else if let instanceID = BackupVerification.copiedInstance(path: options.path) {
                throw .backup(instanceID: instanceID)
            }
        } else if options.mustExist || options.acceptedLoss != nil {
            throw .noState
        }
        let files = try journalErrors { () throws(JournalError) in
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

    /// What the journal is opened with.
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
        try journalErrors { () throws(JournalError) in
            try RecoveryScan(
                files,
                configuration(database),
                checkpointed: database.meta.checkpointed,
                acceptsAnyInstance: acceptsAnyInstance
            )
        }
    }

    /// A restore that was killed may have left a part of the state.
    func checkRestored(_ names: [String]) throws(StateStartError) {
        try Self.checkRestored(names, options.path, files)
    }

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
        let source = files.flatMap { RestoreSource.read($0) }
        throw .restoreInterrupted(path: path, source: source?.path, flags: source?.flags ?? [])
    }

    /// The names in a folder, "." being the directory's own.
    func names(in directory: String) throws(StateStartError) -> [String] {
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
