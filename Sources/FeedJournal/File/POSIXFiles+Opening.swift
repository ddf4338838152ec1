import Glibc

extension POSIXFiles {
    /// Makes the directory where none is, its parent being there, and opens it.
    package static func creating(path: String) throws(JournalError) -> POSIXFiles {
        if unsafe mkdir(path, 0o700) == 0 {
            try syncParent(of: path)
        } else if errno != EEXIST {
            throw .file(FileError("create", path, code: errno))
        }
        return try POSIXFiles(path: path)
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

    /// A descriptor of a directory that is there, ours, and not read-only.
    static func openDirectory(_ path: String) throws(JournalError) -> Int32 {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT: throw .missingDirectory(path: path)
            case ENOTDIR: throw .notADirectory(path: path)
            default: throw .file(FileError("open", path, code: errno))
            }
        }
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
    static func lock(_ directory: Int32, _ path: String) throws(JournalError) -> Int32 {
        let descriptor = unsafe openat(directory, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .file(FileError("open", "lock", code: errno))
        }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            let code = errno
            let holder = holder(descriptor)
            close(descriptor)
            guard code == EWOULDBLOCK else { throw .file(FileError("lock", path, code: code)) }
            throw .locked(path: path, holder: holder)
        }
        // Who holds it is for the message that another one gets; nothing depends on it.
        let text = Array("\(getpid())\n".utf8)
        _ = ftruncate(descriptor, 0)
        _ = unsafe text.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        return descriptor
    }

    private static func holder(_ descriptor: Int32) -> Int? {
        var text = [UInt8](repeating: 0, count: 20)
        let count = unsafe text.withUnsafeMutableBytes {
            unsafe pread(descriptor, $0.baseAddress, $0.count, 0)
        }
        return Int(String(decoding: text.prefix(max(0, count)).prefix { $0 != 10 }, as: UTF8.self))
    }
}
