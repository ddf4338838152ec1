internal import FeedJournal
internal import FeedRanking

// How `state.db` is opened, and under which instance.
extension StateDirectory {
    /// Opens `state.db`, or makes it in a new directory.
    ///
    /// Where a loss is accepted and there is one, the instance is a new one from here on.
    func database(_ summary: inout RecoverySummary) throws(StateStartError) -> StateDatabase {
        guard try hasDatabase() else {
            summary.isNew = true
            return try withRoom { () throws(StateStartError) in
                try stateErrors { () throws(StateError) in
                    try StateDatabase.create(directory: options.path, files: files, vfs: vfs)
                }
            }
        }
        let database = try existingDatabase()
        if let left = try acceptedLoss(database).scan?.last.number {
            summary.acceptedLoss = left
            try withRoom { () throws(StateStartError) in
                try changeInstance(of: database, acceptedLoss: left)
            }
        } else {
            try checkIsOriginal(database)
        }
        return database
    }

    /// Opens `state.db`, which has to be there.
    func existingDatabase() throws(StateStartError) -> StateDatabase {
        guard try hasDatabase() else { throw .noState }
        return try withRoom { () throws(StateStartError) in
            try stateErrors { () throws(StateError) in
                try StateDatabase(directory: options.path, files: files, vfs: vfs)
            }
        }
    }

    /// Opens `state.db` to look at it, under the same checks.
    func lookedAtDatabase() throws(StateStartError) -> StateDatabase {
        guard try hasDatabase() else { throw .noState }
        return try stateErrors { () throws(StateError) in
            try StateDatabase.look(directory: options.path, files: files, vfs: vfs)
        }
    }

    /// Draws a new instance id, which the journal gets when it is opened next.
    ///
    /// An interrupted change is finished under the id that it drew: no client has seen that one.
    func changeInstance(
        of database: StateDatabase,
        acceptedLoss: UInt64?
    ) throws(StateStartError) {
        try stateErrors { () throws(StateError) in
            let isUnfinished = database.directoryRow?.previousInstanceID != nil
            // After a loss the watermark may be above the journal's end.
            let known = acceptedLoss == nil ? database.directoryRow?.known : nil
            var record = DirectoryRow(known: known ?? .start, identity: try identity())
            record.acceptedLoss = acceptedLoss
            record.previousInstanceID =
                isUnfinished
                ? database.directoryRow?.previousInstanceID : database.meta.instanceID
            try database.update(record) { meta in
                if !isUnfinished { meta.becomeAnotherInstance() }
            }
        }
    }

    /// Notes, durably, that the journal has begun: from here on all files have to be there.
    func noteFiles(
        of database: StateDatabase,
        known: JournalPosition,
        _ journal: SegmentJournal
    ) throws(StateStartError) {
        try withRoom(journal) { () throws(StateStartError) in
            try stateErrors { () throws(StateError) in
                try database.update(DirectoryRow(known: known, identity: try identity()))
            }
        }
    }

    /// Refuses a copy of `state.db`: its original may be in use, or have served since.
    func checkIsOriginal(_ database: StateDatabase) throws(StateStartError) {
        let found = try stateErrors { () throws(StateError) in try identity() }
        guard let noted = database.directoryRow?.identity, let found,
            !found.isSameFile(as: noted)
        else { return }
        // What is missing or damaged is reported first: a new instance would be refused for that.
        if let problem = try scan(database).problem { throw explained(problem, database) }
        try stateErrors { () throws(StateError) in try database.verify() }
        throw .copied
    }

    private func identity() throws(StateError) -> FileIdentity? {
        try fileErrors { () throws(FileError) in
            try files.identity(of: StateDatabase.fileName)
        }
    }

    /// Whether there is a `state.db`; throws where there is none and one has to be.
    ///
    /// A start checks a new directory before it locks it. It checks the same again here, as another
    /// process may have used the directory meanwhile.
    private func hasDatabase() throws(StateStartError) -> Bool {
        let names = try names(in: ".")
        try checkRestored(names)
        guard !names.contains(StateDatabase.fileName) else { return true }
        let found = try DirectoryNames(names) { (folder) throws(StateStartError) in
            try self.names(in: folder)
        }
        try found.checkIsNew(options)
        return false
    }
}
