import Glibc

extension POSIXFiles {
    /// Makes the directory where none is, its parent being there, and opens it.
    package static func creating(path: String) throws(JournalError) -> POSIXFiles {
        guard unsafe mkdir(path, 0o700) == 0 else {
            guard errno == EEXIST else { throw .file(FileError("create", path, code: errno)) }
            return try POSIXFiles(path: path)
        }
        do {
            try syncParent(of: path)
            return try POSIXFiles(path: path)
        } catch {
            // The disk may have no room for the lock's file.
            _ = unsafe rmdir(path)
            throw error
        }
    }

    /// Removes the directory where it has nothing but the lock's file; else it stays as it is.
    package func removeUnused() {
        guard (try? names(in: ".")) == ["lock"] else { return }
        _ = unsafe unlinkat(directory, "lock", 0)
        _ = unsafe rmdir(path)
    }

    /// Makes the name of a directory durable, which is in the directory above.
    private static func syncParent(of path: String) throws(JournalError) {
        let parent = unsafe Glibc.open("\(path)/..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { throw .file(FileError("open", "\(path)/..", code: errno)) }
        defer { close(parent) }
        guard fsync(parent) == 0 else {
            throw .file(FileError("sync", "\(path)/..", code: errno))
        }
    }

    /// A descriptor of a directory that is there; to be changed, it is ours and not read-only.
    static func openDirectory(_ path: String, _ access: Access) throws(JournalError) -> Int32 {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT: throw .missingDirectory(path: path)
            case ENOTDIR: throw .notADirectory(path: path)
            default: throw .file(FileError("open", path, code: errno))
            }
        }
        guard access == .change else { return descriptor }
        do {
            try check(descriptor, path)
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    private static func check(_ descriptor: Int32, _ path: String) throws(JournalError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw .file(FileError("examine", path, code: errno))
        }
        // Another owner's files could not be written later, or would be by whom he does not expect.
        guard status.st_uid == geteuid() else {
            throw .wrongOwner(path: path, owner: status.st_uid, user: geteuid())
        }
        guard unsafe faccessat(descriptor, ".", R_OK | W_OK | X_OK, AT_EACCESS) == 0 else {
            throw .readOnlyDirectory(path: path)
        }
    }

    /// The lock of a directory, held until the descriptor is closed.
    ///
    /// A directory that is looked at and has no lock's file: the result is -1. The directory itself is
    /// locked too, for the case that somebody removes the lock's file while a process has it.
    static func lock(
        _ directory: Int32,
        _ path: String,
        _ access: Access
    ) throws(JournalError) -> Int32 {
        let mode = access == .look ? O_RDONLY : O_RDWR | O_CREAT
        let descriptor = unsafe openat(directory, "lock", mode | O_CLOEXEC, 0o600)
        if descriptor < 0, errno != ENOENT || access == .change {
            throw .file(FileError("open", "lock", code: errno))
        }
        for locked in [descriptor, directory] where locked >= 0 {
            let code = lock(locked)
            // Some file systems lock no directory.
            guard code == EWOULDBLOCK || code != 0 && locked == descriptor else { continue }
            let holder = descriptor < 0 ? nil : holder(descriptor)
            if descriptor >= 0 { close(descriptor) }
            guard code == EWOULDBLOCK else { throw .file(FileError("lock", path, code: code)) }
            throw .locked(path: path, holder: holder)
        }
        guard access == .change else { return descriptor }
        // Who holds it is for the message that another one gets; nothing depends on it.
        let text = Array("\(getpid())\n".utf8)
        _ = ftruncate(descriptor, 0)
        _ = unsafe text.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        return descriptor
    }

    /// Locks a file or a directory; gives the system's error number, 0 where it is locked now.
    private static func lock(_ descriptor: Int32) -> Int32 {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno != EINTR { return errno }
        }
        return 0
    }

    private static func holder(_ descriptor: Int32) -> Int? {
        var text = [UInt8](repeating: 0, count: 20)
        let count = unsafe text.withUnsafeMutableBytes {
            unsafe pread(descriptor, $0.baseAddress, $0.count, 0)
        }
        return Int(String(decoding: text.prefix(max(0, count)).prefix { $0 != 10 }, as: UTF8.self))
    }
}
