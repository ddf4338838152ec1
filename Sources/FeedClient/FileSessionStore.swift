internal import Glibc

/// A session store in a file, which only its owner may read and write (mode 0600).
///
/// A file that others may read has a token that they may know, so it is not loaded.
public struct FileSessionStore: SessionStore {
    /// The path of the file; its folder has to exist.
    public let path: String

    private let report: @Sendable (String) -> Void

    /// A store in a file, which is made with the first token.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - report: Takes a sentence where the file cannot be read or written; the session then ends with
    ///     the program. By default it is dropped.
    public init(path: String, report: @escaping @Sendable (String) -> Void = { _ in }) {
        self.path = path
        self.report = report
    }

    /// The token in the file; nil where there is no such file, or others may read it.
    public func load() -> Secret? {
        guard let mode else { return nil }
        guard mode & 0o077 == 0 else {
            report("\(path): others may read the session; it is not used. Sign in again.")
            return nil
        }
        guard let token = Secret(file: path) else {
            report("\(path): there is no session in this file.")
            return nil
        }
        return token
    }

    /// Writes the token to a file beside the one of the token before, and puts it in its place.
    public func save(_ token: Secret) {
        let new = path + ".new"
        _ = unsafe unlink(new)
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
        let descriptor = unsafe open(new, flags, 0o600)
        guard descriptor >= 0 else { return reportFailure("create", new) }
        let bytes = Array((token.hexadecimal + "\n").utf8)
        let count = unsafe bytes.withUnsafeBytes { buffer in
            unsafe write(descriptor, buffer.baseAddress, buffer.count)
        }
        let isWritten = count == bytes.count && fsync(descriptor) == 0
        close(descriptor)
        guard isWritten, unsafe rename(new, path) == 0 else { return reportFailure("write", path) }
    }

    /// Removes the file.
    public func remove() {
        guard unsafe unlink(path) != 0, errno != ENOENT else { return }
        reportFailure("remove", path)
    }

    /// The permissions of the file; nil where there is none.
    private var mode: mode_t? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_mode : nil
    }

    private func reportFailure(_ action: String, _ path: String) {
        report("\(path): the session could not be kept: \(action): errno \(errno).")
    }
}
