import Glibc

/// A directory of its own with a database's path in it, removed with it.
final class DatabaseFile {
    let directory: String
    var path: String { directory + "/state.db" }

    init() throws {
        var template = Array("/tmp/feed-sqlite-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw FileFailure(code: errno) }
        directory = String(
            decoding: template.dropLast().map(UInt8.init(bitPattern:)),
            as: UTF8.self
        )
    }

    deinit {
        for name in ["state.db", "state.db-wal", "state.db-shm", "state.db-journal", "copy.db"] {
            _ = unsafe unlink(directory + "/" + name)
        }
        _ = unsafe rmdir(directory)
    }

    /// Changes bytes of a file in the directory, from an offset on.
    func overwrite(_ name: String, at offset: Int, with bytes: [UInt8]) throws {
        let descriptor = unsafe open(directory + "/" + name, O_RDWR | O_CREAT, 0o600)
        guard descriptor >= 0 else { throw FileFailure(code: errno) }
        defer { close(descriptor) }
        let count = unsafe bytes.withUnsafeBytes {
            unsafe pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset))
        }
        guard count == bytes.count else { throw FileFailure(code: errno) }
    }
}

/// The system refused a file.
struct FileFailure: Error {
    let code: Int32
}
