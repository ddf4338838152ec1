import FeedJournal

extension StateDirectory {
    /// The folders of a data directory that have files of the state, copies of them or records.
    private static let folders = [
        SegmentJournal.directoryName, BackupFolders.directory, Quarantine.directoryName,
    ]

    /// Keeps other users from reading the state: the directory, its files and its folders become
    /// readable by their owner alone.
    ///
    /// New files are made so. An older version, or a person who has copied a backup, may have made
    /// others. What is not ours stays as it is.
    static func makePrivate(_ names: [String], _ files: POSIXFiles) {
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
