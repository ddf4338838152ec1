import CFileBirth
import Glibc

extension POSIXFiles {
    package func identity(of name: String) throws(FileError) -> FileIdentity? {
        var inode: UInt64 = 0
        var birth: UInt64 = 0
        // A system that cannot say is no reason to refuse a start.
        guard unsafe cfilebirth_read(directory, name, &inode, &birth) == 0 else { return nil }
        return FileIdentity(inode: inode, birthNanoseconds: birth)
    }

    /// Refuses a file of another user's; a file that is not there is no error.
    package func claim(_ name: String) throws(JournalError) {
        var status = stat()
        guard unsafe fstatat(directory, name, &status, 0) == 0 else {
            guard errno == ENOENT else { throw .file(FileError("examine", name, code: errno)) }
            return
        }
        guard status.st_uid == geteuid() else {
            throw .wrongOwner(path: "\(path)/\(name)", owner: status.st_uid, user: geteuid())
        }
    }

    /// Keeps other users from reading a file or a folder of ours, "." being the directory itself.
    ///
    /// Version 0.1 made files as the process's mask had it. Some file systems have one mode for all
    /// files: then it stays.
    ///
    /// - Returns: Whether it is a folder.
    @discardableResult
    package func makePrivate(_ name: String) -> Bool {
        var status = stat()
        guard unsafe fstatat(directory, name, &status, 0) == 0 else { return false }
        if status.st_mode & 0o077 != 0, status.st_uid == geteuid() {
            _ = unsafe fchmodat(directory, name, status.st_mode & 0o700, 0)
        }
        return status.st_mode & S_IFMT == S_IFDIR
    }

    /// The names in a directory that nobody has locked; nil where there is no directory.
    package static func names(atPath path: String) throws(FileError) -> [String]? {
        guard let stream = unsafe opendir(path) else {
            guard errno == ENOENT else { throw FileError("list", path, code: errno) }
            return nil
        }
        defer { unsafe closedir(stream) }
        return unsafe names(stream)
    }

    /// The names that a stream gives, but for the directory itself and the one above; `errno` says
    /// whether it came to its end.
    static func names(_ stream: OpaquePointer) -> [String] {
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
        return names
    }
}
