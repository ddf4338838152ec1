public import FeedProto

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Where a client keeps the session of its user from one launch of the program to the next.
///
/// The client loads the session before it connects, saves it after a sign-in, and removes it with a
/// sign-out and if the service does not know the session any more.
public protocol SessionStore: Sendable {
    /// The session that is kept; nil if there is none.
    func load() -> StoredSession?

    /// Keeps a session in place of the one before.
    func save(_ session: StoredSession)

    /// Forgets the session.
    func remove()
}

extension SessionStore {
    /// Forgets the session of a token; another one stays, as it is a later one of another client.
    package func remove(_ token: [UInt8]) {
        if load()?.token.bytes == token { remove() }
    }
}

/// A session as a store keeps it: the token to show, and whose it is.
public struct StoredSession: Sendable, Hashable {
    /// The token that a later Hello shows.
    public let token: Secret
    /// The account, which a program without a network has to know too.
    public let userID: UserID

    /// A session that was received or stored.
    public init(token: Secret, userID: UserID) {
        self.token = token
        self.userID = userID
    }
}

extension StoredSession {
    /// The session as stores write it.
    var line: String { "\(token.hexadecimal) \(userID)\n" }

    /// Reads a line; nil if it is none of a session.
    init?(line: some Sequence<UInt8>) {
        guard
            let words = String(validating: line, as: UTF8.self)?.split(
                whereSeparator: \.isWhitespace
            ),
            words.count == 2, let token = Secret(hexadecimal: words[0]),
            let userID = UserID(String(words[1])), userID > 0
        else { return nil }
        self.init(token: token, userID: userID)
    }
}

/// A session store in a file, which only its owner may read and write (mode 0600).
///
/// The file is a line with the token's 64 hexadecimal digits and the account's number. A file that others
/// may read has a token that they may know, so it is not loaded.
public struct FileSessionStore: SessionStore {
    /// The path of the file; its folder has to exist.
    public let path: String

    private let report: @Sendable (String) -> Void

    /// A store in a file, which is made with the first session.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - report: Takes a sentence if the file cannot be read or written; the session then ends with
    ///     the program. By default it is dropped.
    public init(path: String, report: @escaping @Sendable (String) -> Void = { _ in }) {
        self.path = path
        self.report = report
    }

    /// The session in the file; nil if there is no such file, or others may read it.
    public func load() -> StoredSession? {
        guard let mode else { return nil }
        guard mode & 0o077 == 0 else {
            report("\(path): others may read the session; it is not used. Sign in again.")
            return nil
        }
        guard let session = storedSession else {
            report("\(path): there is no session in this file. Sign in again.")
            return nil
        }
        return session
    }

    /// Writes the session to a file beside the one of the session before, and puts it in its place.
    public func save(_ session: StoredSession) {
        let new = path + ".new"
        _ = unsafe unlink(new)
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC
        let descriptor = unsafe open(new, flags, 0o600)
        guard descriptor >= 0 else {
            reportFailure("create", new)
            return remove()
        }
        let bytes = Array(session.line.utf8)
        let count = unsafe bytes.withUnsafeBytes { buffer in
            unsafe write(descriptor, buffer.baseAddress, buffer.count)
        }
        let isWritten = count == bytes.count && fsync(descriptor) == 0
        close(descriptor)
        guard isWritten, unsafe rename(new, path) == 0 else {
            reportFailure("write", path)
            // The session before must not come back in place of this one.
            return remove()
        }
    }

    /// Removes the file.
    public func remove() {
        _ = unsafe unlink(path + ".new")
        guard unsafe unlink(path) != 0, errno != ENOENT else { return }
        reportFailure("remove", path)
    }

    /// What the file has; nil if it cannot be read or has anything else than a session.
    private var storedSession: StoredSession? {
        FileManager.default.contents(atPath: path).flatMap(StoredSession.init(line:))
    }

    private var mode: mode_t? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_mode : nil
    }

    private func reportFailure(_ action: String, _ path: String) {
        report("\(path): the session could not be kept: \(action): errno \(errno).")
    }
}
