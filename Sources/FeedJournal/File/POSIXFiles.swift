internal import Dispatch
import Glibc

/// A data directory of the system's, locked for this process as long as the value lives.
///
/// The lock is `flock`'s on the file `lock`: it goes with the process, however that ends.
package final class POSIXFiles: JournalFiles {
    /// Where the directory is, as it was given.
    package let path: String

    private let directory: Int32
    private let lock: Int32

    /// Opens and locks a directory that this user owns and may write.
    package init(path: String) throws(JournalError) {
        self.path = path
        directory = try Self.openDirectory(path)
        do {
            lock = try Self.lock(directory, path)
        } catch {
            close(directory)
            throw error
        }
    }

    deinit {
        close(lock)
        close(directory)
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
        var names: [String] = []
        errno = 0
        while let entry = unsafe readdir(stream) {
            // In place: an entry is as long as its name, and the type as the longest name.
            let start = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
            let name = unsafe String(
                cString: UnsafeRawPointer(entry).advanced(by: start)
                    .assumingMemoryBound(to: CChar.self)
            )
            if name != "." && name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw failure("list", directory) }
        return names
    }

    package func createDirectory(_ name: String) throws(FileError) {
        guard unsafe mkdirat(directory, name, 0o700) == 0 || errno == EEXIST else {
            throw failure("create", name)
        }
    }

    package func open(_ name: String) throws(FileError) -> (any JournalFile)? {
        let descriptor = unsafe openat(directory, name, O_RDWR | O_CLOEXEC)
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

    package func discard(_ name: String) throws(FileError) {
        // The blocks go with the last descriptor: another thread closes it.
        let descriptor = unsafe openat(directory, name, O_RDONLY | O_CLOEXEC)
        try remove(name)
        guard descriptor >= 0 else { return }
        DispatchQueue.global(qos: .background).async { close(descriptor) }
    }

    package func syncDirectory(_ name: String) throws(FileError) {
        let descriptor = unsafe openat(directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", name) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("sync", name) }
    }

    package func freeByteCount() throws(FileError) -> Int {
        var status = statvfs()
        guard unsafe fstatvfs(directory, &status) == 0 else { throw failure("measure", path) }
        return Int(status.f_bavail) * Int(status.f_frsize)
    }

    private func failure(_ operation: String, _ name: String) -> FileError {
        FileError(operation, name, code: errno)
    }
}

@available(*, unavailable)
extension POSIXFiles: Sendable {}
