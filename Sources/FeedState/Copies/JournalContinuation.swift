internal import FeedJournal

/// How the journal of a directory continues the state of a backup, up to its end and its mark: then
/// nothing is lost with the directory's own `state.db`.
struct JournalContinuation: Equatable {
    /// The last record that is in the backup.
    let folded: UInt64

    /// The last record of the journal.
    let last: UInt64

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
        let meta = backup.meta
        // A file that is damaged in its rows still knows how far it was.
        let own = try? StateDatabase.look(directory: directory, files: files, vfs: vfs)
        if let own, own.meta.instanceID != meta.instanceID {
            throw .otherInstance(
                file: StateDatabase.fileName,
                found: own.meta.instanceID,
                expected: meta.instanceID
            )
        }
        var configuration = JournalConfiguration(instanceID: meta.instanceID)
        configuration.known = backup.directoryRecord?.known ?? meta.folded
        let scan = try RecoveryScan(files, configuration, folded: meta.folded)
        if let problem = scan.problem { throw problem }
        // A backup of version 0.1 does not say that there has to be one.
        guard scan.hasMark else { throw .missingMark(last: scan.last.sequence) }
        let known = own.map { own in
            let noted = own.directoryRecord?.known.sequence ?? 0
            return max(own.meta.folded.sequence, own.meta.folding.sequence, noted)
        }
        if let known, known > scan.last.sequence {
            throw .lost(sequences: scan.last.sequence + 1...known)
        }
        folded = meta.folded.sequence
        last = scan.last.sequence
    }
}
