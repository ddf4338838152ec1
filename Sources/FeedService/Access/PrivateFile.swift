internal import FeedJournal
internal import FeedTLS
internal import Glibc

/// Files that only their owner may read: keys and the hashes of keys.
enum PrivateFile {
    /// Reads a file whole, unless its mode lets others use it (``SecretFile``).
    ///
    /// The owner is the user of the process, or root. The checks are of the opened file, so another
    /// file cannot take its place between a check and the reading.
    static func read(
        _ path: String,
        maximumByteCount: Int
    ) throws(ServiceKeyFileError) -> [UInt8] {
        // A pipe would let the service wait for its other end.
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .file(FileError("open", path, code: errno)) }
        defer { close(descriptor) }
        try check(descriptor, path)
        var bytes = [UInt8](repeating: 0, count: maximumByteCount + 1)
        var count = 0
        while count < bytes.count {
            let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(
                    descriptor,
                    buffer.baseAddress?.advanced(by: count),
                    buffer.count - count
                )
            }
            guard got >= 0 else {
                if errno == EINTR { continue }
                throw .file(FileError("read", path, code: errno))
            }
            guard got > 0 else { return Array(bytes[..<count]) }
            count += got
        }
        throw .tooLong(path, limit: maximumByteCount)
    }

    /// Writes a new file with the mode 0600.
    static func create(_ path: String, _ bytes: [UInt8]) throws(ServiceKeyFileError) {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
        let descriptor = unsafe Glibc.open(path, flags, 0o600)
        guard descriptor >= 0 else { throw .file(FileError("create", path, code: errno)) }
        defer { close(descriptor) }
        let count = unsafe bytes.withUnsafeBytes { buffer in
            unsafe Glibc.write(descriptor, buffer.baseAddress, buffer.count)
        }
        guard count == bytes.count, fsync(descriptor) == 0 else {
            // A short write sets no error: the disk is full.
            let code = (0..<bytes.count).contains(count) ? ENOSPC : errno
            _ = unsafe unlink(path)
            throw .file(FileError("write", path, code: code))
        }
    }

    private static func check(_ descriptor: Int32, _ path: String) throws(ServiceKeyFileError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw .file(FileError("examine", path, code: errno))
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path) }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw .wrongOwner(path, owner: status.st_uid, user: geteuid())
        }
        guard
            SecretFile.isPrivate(
                mode: status.st_mode & 0o7777,
                owner: status.st_uid,
                group: status.st_gid
            )
        else {
            throw .notPrivate(path, mode: status.st_mode & 0o7777)
        }
    }
}
