import FeedJournal
import FeedSQLite
import FeedState
import FeedTestSupport
import Foundation
import Glibc

/// A directory of its own with the files of a state, removed with it.
final class DataDirectory {
    let path: String
    private var locked: POSIXFiles?

    /// The directory's files, locked for this process.
    var files: POSIXFiles {
        guard let locked else { preconditionFailure("The directory was unlocked.") }
        return locked
    }

    init() throws {
        var template = Array("/tmp/feed-state-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw FileFailure(code: errno) }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        locked = try POSIXFiles(path: path)
    }

    /// A directory with a `state.db` of the SQL of a file in `Golden`.
    convenience init(golden name: String) throws {
        try self.init()
        let file = Programs.projectFolder.appending(path: "Tests/FeedStateTests/Golden/\(name)")
        let database = try Database(path: path + "/state.db")
        try database.execute(String(contentsOf: file, encoding: .utf8))
        try database.checkpointLog()
    }

    deinit { Self.remove(path) }

    func create() throws -> StateDatabase {
        try StateDatabase.create(directory: path, files: files)
    }

    func open() throws -> StateDatabase { try StateDatabase(directory: path, files: files) }

    /// Lets another one have the directory.
    func unlock() { locked = nil }

    /// Changes rows behind the state's back, with the file closed before and after.
    func execute(_ sql: String) throws {
        let database = try Database(path: path + "/state.db", mode: .existing)
        try database.execute(sql)
        try database.checkpointLog()
    }

    func read(_ name: String) throws -> [UInt8] {
        let descriptor = unsafe Glibc.open(path + "/" + name, O_RDONLY)
        guard descriptor >= 0 else { throw FileFailure(code: errno) }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Int(lseek(descriptor, 0, SEEK_END)))
        let count = unsafe bytes.withUnsafeMutableBytes {
            unsafe pread(descriptor, $0.baseAddress, $0.count, 0)
        }
        guard count == bytes.count else { throw FileFailure(code: errno) }
        return bytes
    }

    /// Writes a file anew.
    func write(_ name: String, _ bytes: [UInt8]) throws {
        let descriptor = unsafe Glibc.open(path + "/" + name, O_RDWR | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else { throw FileFailure(code: errno) }
        defer { close(descriptor) }
        let count = unsafe bytes.withUnsafeBytes {
            unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0)
        }
        guard count == bytes.count else { throw FileFailure(code: errno) }
    }

    private static func remove(_ path: String) {
        if let stream = unsafe opendir(path) {
            while let entry = unsafe readdir(stream) {
                let start = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
                let name = unsafe String(
                    cString: UnsafeRawPointer(entry).advanced(by: start)
                        .assumingMemoryBound(to: CChar.self)
                )
                guard name != ".", name != ".." else { continue }
                let below = path + "/" + name
                if unsafe unlink(below) != 0 { remove(below) }
            }
            unsafe closedir(stream)
        }
        _ = unsafe rmdir(path)
    }
}

struct FileFailure: Error {
    let code: Int32
}

extension DataDirectory {
    /// Opens the state anew, as after a crash; the old one is closed.
    func reopen(_ database: inout StateDatabase) throws -> StateDatabase {
        // Two connections to one file are one too many: the old one goes first.
        database = try DataDirectory().create()
        return try open()
    }
}
