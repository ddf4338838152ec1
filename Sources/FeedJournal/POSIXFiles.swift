import CFileBirth
import Glibc

/// A data directory of the system's, locked for this process as long as the value lives.
///
/// The lock is `flock`'s on the file `lock`, and on the directory itself: it goes with the process, however
/// that ends.
package final class POSIXFiles: JournalFiles {
    package let path: String

    package enum Access: Sendable {
        /// To change it; this user has to own it.
        case change
        /// To look at it; nothing in it is changed, not even the lock's file.
        case look
    }

    private let directory: Int32
    private let lock: Int32
    private let access: Access

    /// Opens and locks a directory that is there.
    package init(path: String, for access: Access = .change) throws(StorageError) {
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
    package init(reading path: String) throws(StorageError) {
        self.path = path
        access = .look
        lock = -1
        directory = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw .system("open", path, code: errno) }
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

    package func names(in directory: String) throws(StorageError) -> [String] {
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

    package func createDirectory(_ name: String) throws(StorageError) {
        guard unsafe mkdirat(directory, name, 0o700) == 0 || errno == EEXIST else {
            throw failure("create", name)
        }
    }

    package func open(_ name: String) throws(StorageError) -> (any JournalFile)? {
        let mode = access == .look ? O_RDONLY : O_RDWR
        let descriptor = unsafe openat(directory, name, mode | O_CLOEXEC)
        if descriptor >= 0 { return POSIXFile(name: name, descriptor: descriptor) }
        guard errno == ENOENT else { throw failure("open", name) }
        return nil
    }

    package func create(_ name: String) throws(StorageError) -> any JournalFile {
        let descriptor = unsafe openat(
            directory,
            name,
            O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC,
            0o600
        )
        guard descriptor >= 0 else { throw failure("create", name) }
        return POSIXFile(name: name, descriptor: descriptor)
    }

    package func rename(_ name: String, to newName: String) throws(StorageError) {
        guard unsafe renameat(directory, name, directory, newName) == 0 else {
            throw failure("rename", name)
        }
    }

    package func remove(_ name: String) throws(StorageError) {
        guard unsafe unlinkat(directory, name, 0) == 0 || errno == ENOENT else {
            throw failure("remove", name)
        }
    }

    package func removeDirectory(_ name: String) throws(StorageError) {
        guard unsafe unlinkat(directory, name, AT_REMOVEDIR) == 0 || errno == ENOENT else {
            throw failure("remove", name)
        }
    }

    package func syncDirectory(_ name: String) throws(StorageError) {
        let descriptor = unsafe openat(directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", name) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("sync", name) }
    }

    package func directorySync(_ name: String) throws(StorageError) -> any FileSync {
        let descriptor = unsafe openat(directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", name) }
        return POSIXSync(name: name, descriptor: Descriptor(descriptor), isOfDirectory: true)
    }

    package func freeByteCount(in name: String) throws(StorageError) -> Int {
        let descriptor = unsafe openat(directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", name) }
        defer { close(descriptor) }
        var status = statvfs()
        guard unsafe fstatvfs(descriptor, &status) == 0 else { throw failure("measure", name) }
        return Int(status.f_bavail) * Int(status.f_frsize)
    }

    private func failure(_ operation: String, _ name: String) -> StorageError {
        .system(operation, name, code: errno)
    }
}

@available(*, unavailable)
extension POSIXFiles: Sendable {}

extension POSIXFiles {
    package func identity(of name: String) throws(StorageError) -> FileIdentity? {
        var inode: UInt64 = 0
        var birth: UInt64 = 0
        // A system that cannot say is no reason to refuse a start.
        guard unsafe cfilebirth_read(directory, name, &inode, &birth) == 0 else { return nil }
        return FileIdentity(inode: inode, birthNanoseconds: birth)
    }

    /// Refuses a file of another user's; a file that is not there is no error.
    package func claim(_ name: String) throws(StorageError) {
        var status = stat()
        guard unsafe fstatat(directory, name, &status, 0) == 0 else {
            guard errno == ENOENT else { throw .system("examine", name, code: errno) }
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

    /// The names in a directory that nobody has locked; nil if there is no directory.
    package static func names(atPath path: String) throws(StorageError) -> [String]? {
        guard let stream = unsafe opendir(path) else {
            guard errno == ENOENT else { throw .system("list", path, code: errno) }
            return nil
        }
        defer { unsafe closedir(stream) }
        return unsafe names(stream)
    }

    /// The names that a stream gives, but for the directory itself and the one above; `errno` says
    /// whether it came to its end.
    private static func names(_ stream: OpaquePointer) -> [String] {
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

    /// Makes the directory if none is, its parent being there, and opens it.
    package static func creating(path: String) throws(StorageError) -> POSIXFiles {
        guard unsafe mkdir(path, 0o700) == 0 else {
            guard errno == EEXIST else { throw .system("create", path, code: errno) }
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

    /// Removes the directory if it has nothing but the lock's file; else it stays as it is.
    package func removeUnused() {
        guard (try? names(in: ".")) == ["lock"] else { return }
        _ = unsafe unlinkat(directory, "lock", 0)
        _ = unsafe rmdir(path)
    }

    /// Makes the name of a directory durable, which is in the directory above.
    private static func syncParent(of path: String) throws(StorageError) {
        let parent = unsafe Glibc.open("\(path)/..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { throw .system("open", "\(path)/..", code: errno) }
        defer { close(parent) }
        guard fsync(parent) == 0 else { throw .system("sync", "\(path)/..", code: errno) }
    }

    /// A descriptor of a directory that is there; to be changed, it is ours and not read-only.
    private static func openDirectory(
        _ path: String,
        _ access: Access
    ) throws(StorageError) -> Int32 {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT: throw .missingDirectory(path: path)
            case ENOTDIR: throw .notADirectory(path: path)
            default: throw .system("open", path, code: errno)
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

    private static func check(_ descriptor: Int32, _ path: String) throws(StorageError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw .system("examine", path, code: errno)
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
    private static func lock(
        _ directory: Int32,
        _ path: String,
        _ access: Access
    ) throws(StorageError) -> Int32 {
        let mode = access == .look ? O_RDONLY : O_RDWR | O_CREAT
        let descriptor = unsafe openat(directory, "lock", mode | O_CLOEXEC, 0o600)
        if descriptor < 0, errno != ENOENT || access == .change {
            throw .system("open", "lock", code: errno)
        }
        for locked in [descriptor, directory] where locked >= 0 {
            let code = lock(locked)
            // Some file systems lock no directory.
            guard code == EWOULDBLOCK || code != 0 && locked == descriptor else { continue }
            let holder = descriptor < 0 ? nil : holder(descriptor)
            if descriptor >= 0 { close(descriptor) }
            guard code == EWOULDBLOCK else { throw .system("lock", path, code: code) }
            throw .locked(path: path, holder: holder)
        }
        guard access == .change else { return descriptor }
        // Who holds it is for the message that another one gets; nothing depends on it.
        let text = Array("\(getpid())\n".utf8)
        _ = ftruncate(descriptor, 0)
        _ = unsafe text.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        return descriptor
    }

    /// Locks a file or a directory; gives the system's error number, 0 if it is locked now.
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

private final class POSIXFile: JournalFile {
    var name: String
    private let shared: Descriptor
    private var descriptor: Int32 { shared.number }

    init(name: String, descriptor: Int32) {
        self.name = name
        shared = Descriptor(descriptor)
    }

    var fileSync: any FileSync {
        POSIXSync(name: name, descriptor: shared, isOfDirectory: false)
    }

    func byteCount() throws(StorageError) -> Int {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw failure("measure") }
        return Int(status.st_size)
    }

    func readOnce(
        into bytes: inout [UInt8],
        from index: Int,
        at offset: Int
    ) throws(StorageError) -> Int {
        let count = unsafe bytes.withUnsafeMutableBytes { buffer in
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[index...])
            return unsafe pread(descriptor, rest.baseAddress, rest.count, off_t(offset))
        }
        guard count >= 0 else { throw failure("read") }
        return count
    }

    func writeOnce(
        _ first: Span<UInt8>,
        _ second: Span<UInt8>,
        at offset: Int
    ) throws(StorageError) -> Int {
        let count = unsafe first.withUnsafeBytes { first in
            unsafe second.withUnsafeBytes { second in
                // The system only reads; its type for both ways has no const.
                let pieces: [2 of iovec] = unsafe [
                    iovec(
                        iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress),
                        iov_len: first.count
                    ),
                    iovec(
                        iov_base: UnsafeMutableRawPointer(mutating: second.baseAddress),
                        iov_len: second.count
                    ),
                ]
                return unsafe pieces.span.withUnsafeBufferPointer {
                    unsafe pwritev(descriptor, $0.baseAddress, 2, off_t(offset))
                }
            }
        }
        guard count >= 0 else { throw failure("write") }
        return count
    }

    func allocate(byteCount: Int) throws(StorageError) {
        while true {
            // If the file system knows no allocation, the C library writes to each block.
            let code = posix_fallocate(descriptor, 0, off_t(byteCount))
            if code == 0 { return }
            guard code == EINTR else { throw .system("allocate", name, code: code) }
        }
    }

    func sync() throws(StorageError) {
        // Not made again after EINTR or any other error: what failed may be forgotten by then.
        guard fdatasync(descriptor) == 0 else { throw failure("sync") }
    }

    private func failure(_ operation: String) -> StorageError {
        .system(operation, name, code: errno)
    }
}

/// An open descriptor, closed when neither the file nor a sync of it has it any more.
private final class Descriptor: Sendable {
    let number: Int32

    init(_ number: Int32) { self.number = number }

    deinit { close(number) }
}

private struct POSIXSync: FileSync {
    let name: String
    let descriptor: Descriptor
    let isOfDirectory: Bool

    func sync() throws(StorageError) {
        let number = descriptor.number
        guard (isOfDirectory ? fsync(number) : fdatasync(number)) == 0 else {
            throw .system("sync", name, code: errno)
        }
    }
}
