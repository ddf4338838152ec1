import Glibc

/// A data directory of the system's, locked for this process as long as the value lives.
///
/// The lock is `flock`'s on the file `lock`, and on the directory itself: it goes with the process, however
/// that ends.
package final class POSIXFiles: JournalFiles {
    /// Where the directory is, as it was given.
    package let path: String

    /// What a directory is opened for.
    package enum Access: Sendable {
        /// To change it; this user has to own it.
        case change

        /// To look at it; nothing in it is changed, not even the lock's file.
        case look
    }

    let directory: Int32
    private let lock: Int32
    private let access: Access

    /// Opens and locks a directory that is there.
    package init(path: String, for access: Access = .change) throws(JournalError) {
        self.path = path
        self.access = access
        directory = try Self.openDirectory(path, access)
        do {
            lock = try Self.lock(directory, path, access)
        } catch {
            close(directory)
            throw error
        }
    }

    /// Opens a directory of any owner to read it only, without a lock: nothing is written.
    ///
    /// For a backup, which no program changes. Every call that changes something fails.
    package init(reading path: String) throws(FileError) {
        self.path = path
        access = .look
        lock = -1
        directory = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw FileError("open", path, code: errno) }
    }

    deinit {
        unlock()
        if lock >= 0 { close(lock) }
        close(directory)
    }

    package func unlock() {
        // To close the descriptor is not enough: a process that is being started has a copy of it.
        if lock >= 0 { flock(lock, LOCK_UN) }
        flock(directory, LOCK_UN)
    }

    package func names(in directory: String) throws(FileError) -> [String] {
        let descriptor = unsafe openat(
            self.directory,
            directory,
            O_RDONLY | O_DIRECTORY | O_CLOEXEC
        )
        guard descriptor >= 0 else { throw failure("list", directory) }
        guard let stream = unsafe fdopendir(descriptor) else {
            let error = failure("list", directory)
            close(descriptor)
            throw error
        }
        defer { unsafe closedir(stream) }
        let names = unsafe Self.names(stream)
        guard errno == 0 else { throw failure("list", directory) }
        return names
    }

    package func createDirectory(_ name: String) throws(FileError) {
        guard unsafe mkdirat(directory, name, 0o700) == 0 || errno == EEXIST else {
            throw failure("create", name)
        }
    }

    package func open(_ name: String) throws(FileError) -> (any JournalFile)? {
        let mode = access == .look ? O_RDONLY : O_RDWR
        let descriptor = unsafe openat(directory, name, mode | O_CLOEXEC)
        if descriptor >= 0 { return POSIXFile(name: name, descriptor: descriptor) }
        guard errno == ENOENT else { throw failure("open", name) }
        return nil
    }

    package func create(_ name: String) throws(FileError) -> any JournalFile {
        let descriptor = unsafe openat(
            directory,
            name,
            O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC,
            0o600
        )
        guard descriptor >= 0 else { throw failure("create", name) }
        return POSIXFile(name: name, descriptor: descriptor)
    }

    package func rename(_ name: String, to newName: String) throws(FileError) {
        guard unsafe renameat(directory, name, directory, newName) == 0 else {
            throw failure("rename", name)
        }
    }

    package func remove(_ name: String) throws(FileError) {
        guard unsafe unlinkat(directory, name, 0) == 0 || errno == ENOENT else {
            throw failure("remove", name)
        }
    }

    package func removeDirectory(_ name: String) throws(FileError) {
        guard unsafe unlinkat(directory, name, AT_REMOVEDIR) == 0 || errno == ENOENT else {
            throw failure("remove", name)
        }
    }

    package func syncDirectory(_ name: String) throws(FileError) {
        let descriptor = unsafe openat(directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", name) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("sync", name) }
    }

    package func freeByteCount(in name: String) throws(FileError) -> Int {
        let descriptor = unsafe openat(directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", name) }
        defer { close(descriptor) }
        var status = statvfs()
        guard unsafe fstatvfs(descriptor, &status) == 0 else { throw failure("measure", name) }
        return Int(status.f_bavail) * Int(status.f_frsize)
    }

    private func failure(_ operation: String, _ name: String) -> FileError {
        FileError(operation, name, code: errno)
    }
}

@available(*, unavailable)
extension POSIXFiles: Sendable {}
