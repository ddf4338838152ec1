import FeedJournal

extension StateDatabase {
    /// What every SQLite database begins with.
    private static let magic = Array("SQLite format 3\0".utf8)

    /// Refuses a file that is not there, or no database: SQLite takes an empty one for a new one.
    static func checkFile(
        _ name: String,
        _ path: String,
        _ files: any JournalFiles
    ) throws(StateError) {
        let begin = try fileErrors { () throws(FileError) -> [UInt8]? in
            guard try files.names(in: ".").contains(name) else { return nil }
            return try files.begin(of: name, byteCount: magic.count)
        }
        guard let begin else { throw .missingFile(path: path) }
        guard !begin.isEmpty else { throw .notAState(file: name, reason: "the file is empty") }
        guard begin == magic else {
            throw .notAState(file: name, reason: "it does not begin as an SQLite database does")
        }
    }

    /// Whether SQLite's log of a file has anything that is not in the file.
    static func hasLog(_ name: String, _ files: any JournalFiles) throws(StateError) -> Bool {
        try fileErrors { () throws(FileError) in
            guard let log = try files.open("\(name)-wal") else { return false }
            return try log.byteCount() > 0
        }
    }
}
