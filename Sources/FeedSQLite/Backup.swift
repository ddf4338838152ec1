import CSQLite

/// A copy of a database being made into another file, some pages at a time.
///
/// What the source's own connection writes meanwhile is copied too, so it never starts over.
@safe
package final class Backup {
    private let source: Database
    private let path: String
    private var target: OpaquePointer?
    private var handle: OpaquePointer?

    /// Begins a copy into the same file system; what the other file held is lost.
    package init(of source: Database, to path: String) throws(StorageError) {
        self.source = source
        self.path = path
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        let code = unsafe sqlite3_open_v2(path, &target, flags, source.vfs)
        guard code == SQLITE_OK else { throw failure(code) }
        let target = unsafe target
        unsafe handle = sqlite3_backup_init(target, "main", source.connection, "main")
        guard unsafe handle != nil else { throw failure(unsafe sqlite3_extended_errcode(target)) }
    }

    deinit {
        unsafe sqlite3_backup_finish(handle)
        unsafe sqlite3_close_v2(target)
    }

    /// Copies so many pages more, or all that are left; true when the copy is whole and synced.
    package func step(pages: Int? = nil) throws(StorageError) -> Bool {
        let code = unsafe sqlite3_backup_step(handle, Int32(pages ?? -1))
        switch code {
        case SQLITE_DONE: return true
        case SQLITE_OK: return false
        default: throw failure(code)
        }
    }

    private func failure(_ code: Int32) -> StorageError {
        StorageError("back up \(source.path) to \(path)", code: code)
    }
}

@available(*, unavailable)
extension Backup: Sendable {}
