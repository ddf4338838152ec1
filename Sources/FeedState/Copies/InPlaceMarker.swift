internal import FeedJournal

/// What the file `restoring` says while a restore in place is under way: one line,
/// `in-place <number> <the backup's path>`.
struct InPlaceMarker: Equatable {
    private static let prefix = "in-place "
    private static let newName = "\(BackupRestore.restoringName).new"

    /// The number in the names of the files that are moved to `quarantine/`: a repetition keeps it, so
    /// that a database and its log stay together.
    let number: Int

    /// The path of the backup.
    let backup: String

    /// The marker of a directory; nil where no restore in place is under way.
    static func read(_ files: any JournalFiles) -> InPlaceMarker? {
        guard
            let bytes = try? files.begin(of: BackupRestore.restoringName, byteCount: 1 << 16),
            bytes.last == UInt8(ascii: "\n"),
            let text = String(validating: bytes.dropLast(), as: UTF8.self),
            text.hasPrefix(prefix)
        else { return nil }
        let words = text.dropFirst(prefix.count).split(separator: " ", maxSplits: 1)
        guard words.count == 2, let number = Int(words[0]) else { return nil }
        return InPlaceMarker(number: number, backup: String(words[1]))
    }

    /// The marker of a restore that begins, or begins anew.
    ///
    /// - Parameters:
    ///   - backup: The path of the backup.
    ///   - kept: What is in `quarantine/`, of which nothing is overwritten.
    ///   - moving: The files that are to be moved there.
    ///   - interrupted: The marker of the run that was interrupted, whose number stays if it can.
    /// - Returns: The marker, which is not written yet.
    static func next(
        _ backup: String,
        _ kept: Set<String>,
        moving: [String],
        interrupted: InPlaceMarker?
    ) -> InPlaceMarker {
        if let number = interrupted?.number {
            let marker = InPlaceMarker(number: number, backup: backup)
            if moving.allSatisfy({ !kept.contains(marker.keptName(of: $0)) }) { return marker }
        }
        var number = 1
        while kept.contains(where: { $0.hasPrefix("\(StateDatabase.fileName).\(number)") }) {
            number += 1
        }
        return InPlaceMarker(number: number, backup: backup)
    }

    /// What a file of the old database is called in `quarantine/`: `state.db.1-wal`, say.
    func keptName(of name: String) -> String {
        let suffix = name.dropFirst(StateDatabase.fileName.count)
        return "\(StateDatabase.fileName).\(number)\(suffix)"
    }

    /// Whether the old database was moved under this marker's number.
    func hasMoved(_ files: any JournalFiles) -> Bool {
        let kept = (try? files.names(in: Quarantine.directoryName)) ?? []
        return kept.contains(keptName(of: StateDatabase.fileName))
    }

    /// Writes the marker, whole or not at all, durably.
    func write(_ files: any JournalFiles) throws(FileError) {
        let file = try files.create(Self.newName)
        try file.write(Array("\(Self.prefix)\(number) \(backup)\n".utf8).span, at: 0)
        try file.sync()
        try files.rename(Self.newName, to: BackupRestore.restoringName)
        try files.syncDirectory(".")
    }

    /// Removes the marker, durably.
    static func remove(_ files: any JournalFiles) throws(FileError) {
        try files.remove(newName)
        try files.remove(BackupRestore.restoringName)
        try files.syncDirectory(".")
    }
}
