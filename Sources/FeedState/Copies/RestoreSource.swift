package import FeedJournal
internal import Foundation

/// What a data directory is restored from, as a person types it: a backup's path, or the flags that
/// name a moment and the path of a data directory.
package struct RestoreSource: Equatable, Sendable {
    /// The path of the backup; with flags, of the data directory.
    package let path: String

    /// The flags before the path: `--at` or `--at-revision`, and its value.
    package let flags: [String]

    /// The source that was typed.
    package init(path: String, flags: [String] = []) {
        self.path = path
        self.flags = flags
    }

    /// Whether a moment of a data directory is wanted, and not a backup.
    var isMoment: Bool { !flags.isEmpty }
}

// The file `restoring`: the flags, one on each line, and the absolute path after them.
extension RestoreSource {
    /// The source that an interrupted restore has noted.
    ///
    /// nil where it has noted none, as in 0.1, where a part has a line's end in it, and where a power
    /// cut left a part of the note.
    package static func read(_ files: any JournalFiles) -> RestoreSource? {
        let name = BackupRestore.restoringName
        guard let bytes = (try? files.begin(of: name, byteCount: 1 << 16)) ?? nil,
            bytes.last == UInt8(ascii: "\n"), !bytes.contains(0),
            // Bytes of a power cut may be no text at all.
            var rest = String(validating: bytes.dropLast(), as: UTF8.self)?[...]
        else { return nil }
        var flags: [String] = []
        // A path is absolute, so that it is no flag.
        while rest.hasPrefix("--") {
            let lines = rest.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)
            guard lines.count == 3 else { return nil }
            flags += lines[...1].map(String.init)
            rest = lines[2]
        }
        // With a line's end in it, it may be a part of a longer one.
        guard rest.hasPrefix("/"), !rest.contains("\n") else { return nil }
        return RestoreSource(path: String(rest), flags: flags)
    }

    /// Writes the file, durably.
    package func write(_ files: any JournalFiles) throws(FileError) {
        let folder = FileManager.default.currentDirectoryPath
        let absolute = path.hasPrefix("/") ? path : "\(folder)/\(path)"
        let text = (flags + [absolute]).map { "\($0)\n" }.joined()
        let marker = try files.create(BackupRestore.restoringName)
        try marker.write(Array(text.utf8).span, at: 0)
        try marker.sync()
        try files.syncDirectory(".")
    }
}
