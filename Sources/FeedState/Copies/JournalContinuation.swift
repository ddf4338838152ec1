internal import FeedJournal

/// How the journal of a directory continues the state of a backup: then nothing is lost with the
/// directory's own `state.db`.
struct JournalContinuation: Equatable {
    /// The last record that is in the backup.
    let checkpointed: UInt64

    /// The last record of the journal that is whole.
    let last: UInt64

    /// What is wrong with the journal after that record; nil where nothing is.
    ///
    /// A start with the backup refuses it, and says what is lost.
    let problem: JournalError?

    /// The last record that a start with the backup knows to have been durable.
    let known: JournalPosition

    /// Reads the journal from the backup's last record on, and changes nothing.
    ///
    /// - Parameters:
    ///   - backup: The backup, or a copy of it.
    ///   - directory: The path under which SQLite finds the directory.
    ///   - files: The same directory, which nobody else uses.
    ///   - vfs: SQLite's virtual file system that has it; nil is the system's own.
    /// - Throws: What is missing, damaged, or of another instance.
    init(
        of backup: StateDatabase,
        _ directory: String,
        _ files: any JournalFiles,
        vfs: String? = nil
    ) throws(JournalError) {
        let noted = backup.directoryRow?.known ?? .start
        try self.init(of: backup.meta, noted, directory, files, vfs: vfs)
    }

    /// The same of what a backup says of itself, and of the last record that it knows to have been durable.
    init(
        of meta: StateMeta,
        _ noted: JournalPosition,
        _ directory: String,
        _ files: any JournalFiles,
        vfs: String? = nil
    ) throws(JournalError) {
        // A file that is damaged in its rows still knows how far it was.
        let own = try? StateDatabase.look(directory: directory, files: files, vfs: vfs)
        if let own, own.meta.instanceID != meta.instanceID {
            throw .otherInstance(
                file: StateDatabase.fileName,
                found: own.meta.instanceID,
                expected: meta.instanceID
            )
        }
        known = noted.number > meta.checkpointed.number ? noted : meta.checkpointed
        var configuration = JournalConfiguration(instanceID: meta.instanceID)
        configuration.known = known
        let scan = try RecoveryScan(files, configuration, checkpointed: meta.checkpointed)
        checkpointed = meta.checkpointed.number
        last = scan.last.number
        problem = try Self.problem(of: scan, behind: checkpointed, known)
        guard let own else { return }
        let ownNoted = own.directoryRow?.known.number ?? 0
        let ownLast = max(own.meta.checkpointed.number, own.meta.checkpointing.number, ownNoted)
        guard ownLast > last else { return }
        // What only the own file has would be lost with it.
        switch problem {
        case nil, .missingWatermark?: throw .lost(records: last + 1...ownLast)
        case .some(let problem): throw problem
        }
    }

    /// What is wrong with a journal after the records that continue a backup; throws what is wrong
    /// where none does.
    private static func problem(
        of scan: RecoveryScan,
        behind checkpointed: UInt64,
        _ known: JournalPosition
    ) throws(JournalError) -> JournalError? {
        // A backup of version 0.1 does not say that there must be a watermark.
        let unproven: JournalError? =
            scan.hasWatermark ? nil : .missingWatermark(last: scan.last.number)
        guard let problem = scan.problem ?? unproven else { return nil }
        switch problem {
        case .missingWatermark:
            // A start that knows of no durable record does not miss the watermark.
            guard known.number > 0 else { throw problem }
            return problem
        case .damaged, .missing, .lost:
            guard scan.last.number > checkpointed else { throw problem }
            return problem
        default: throw problem
        }
    }
}
