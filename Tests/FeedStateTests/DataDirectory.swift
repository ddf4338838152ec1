import FeedJournal
import FeedSQLite
import FeedState
import FeedTestSupport
import Foundation

/// A directory of its own with the files of a state, removed with it.
final class DataDirectory {
    private let directory: TemporaryDirectory
    private var locked: POSIXFiles?

    var path: String { directory.path }

    /// The directory's files, locked for this process.
    var files: POSIXFiles {
        guard let locked else { preconditionFailure("The directory was unlocked.") }
        return locked
    }

    init() throws {
        directory = try TemporaryDirectory()
        locked = try POSIXFiles(path: directory.path)
    }

    /// A directory with a `state.db` of the SQL of a file in `Golden`.
    convenience init(golden name: String) throws {
        try self.init()
        let file = Programs.projectFolder.appending(path: "Tests/FeedStateTests/Golden/\(name)")
        let database = try Database(path: path + "/state.db")
        try database.execute(String(contentsOf: file, encoding: .utf8))
        try database.checkpointLog()
    }

    /// A directory and a new state in it; whoever lets go of the directory removes it.
    static func created() throws -> (DataDirectory, StateDatabase) {
        let directory = try DataDirectory()
        return (directory, try directory.create())
    }

    func create(vfs: String? = nil) throws -> StateDatabase {
        try StateDatabase.create(directory: path, files: files, vfs: vfs)
    }

    func open() throws -> StateDatabase { try StateDatabase(directory: path, files: files) }

    /// Opens the state anew, as after a crash; the old one is closed.
    func reopen(_ database: inout StateDatabase) throws -> StateDatabase {
        // Two connections to one file are one too many: the old one goes first.
        database = try DataDirectory().create()
        return try open()
    }

    /// Lets another one have the directory.
    func unlock() { locked = nil }

    /// Changes rows behind the state's back, with the file closed before and after.
    func execute(_ sql: String) throws {
        let database = try Database(path: path + "/state.db", mode: .existing)
        try database.execute(sql)
        try database.checkpointLog()
    }

    func read(_ name: String) throws -> [UInt8] { try Array(Data(contentsOf: url(name))) }

    /// Writes a file anew, in place.
    func write(_ name: String, _ bytes: [UInt8]) throws { try Data(bytes).write(to: url(name)) }

    private func url(_ name: String) -> URL { URL(filePath: path + "/" + name) }
}
