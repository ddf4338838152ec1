internal import FeedJournal

/// The names in a data directory that has no `state.db`, and what they say of it.
struct DirectoryNames {
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

    private let names: [String]
    private let journalIsEmpty: Bool

    /// The names of a directory, and the names that `list` gives of a folder in it.
    init<Failure: Error>(
        _ names: [String],
        list: (String) throws(Failure) -> [String]
    ) throws(Failure) {
        self.names = names
        let folder = SegmentJournal.directoryName
        let segments = names.contains(folder) ? try list(folder) : []
        journalIsEmpty = segments.isEmpty
    }

    /// Refuses a directory that was served from, is used for something else, or has to have a state.
    ///
    /// `lost+found` and hidden files, which mounts and file systems make, are no use. Nor is what a
    /// start has left that was killed before it had made `state.db`, nor an empty `journal`.
    func checkIsNew(_ options: StateOptions) throws(StateStartError) {
        let isBegun = names.contains(where: Self.begun.contains) || !journalIsEmpty
        guard !isBegun else { throw .missingDatabase }
        if let foreign = names.sorted().first(where: isForeign) { throw .foreignFile(foreign) }
        guard !options.mustExist, options.acceptedLoss == nil else { throw .noState }
    }

    private func isForeign(_ name: String) -> Bool {
        let known = ["lock", "lost+found", SegmentJournal.directoryName, "restoring"]
        return !known.contains(name) && !name.hasPrefix(".")
            && !name.hasPrefix(StateDatabase.newFileName)
    }
}
