import Glibc

/// A call of the system that failed on one file.
package struct FileError: Error, Equatable, Sendable {
    /// What was tried, a verb: "write", "sync".
    package let operation: String

    /// The file's name below the data directory.
    package let name: String

    /// The system's error number.
    package let code: Int32

    /// A failed call; `code` is as in errno.
    package init(_ operation: String, _ name: String, code: Int32) {
        self.operation = operation
        self.name = name
        self.code = code
    }

    /// Whether the disk, or what we may use of it, is full.
    package var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT }

    /// Whether the path, or what we may do with it, is at fault.
    package var isOfPermission: Bool {
        [EACCES, EPERM, EROFS, ENOENT, ENOTDIR, EISDIR].contains(code)
    }

    /// Whether the user of this process may not do it.
    package var isForbidden: Bool { code == EACCES || code == EPERM }

    /// Whether there is no such file or directory.
    package var isMissing: Bool { code == ENOENT }

    /// Whether a signal came first, so that the call is to be made again.
    var isInterruption: Bool { code == EINTR }
}

extension FileError: CustomStringConvertible {
    package var description: String {
        "Could not \(operation) \(name): \(unsafe String(cString: strerror(code))) (error \(code))."
    }
}
