#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// Certificates or a key in PEM: read whole from a file, or given in memory.
///
/// The checks are of the opened file, so another file cannot take its place between a check and the
/// reading.
package struct PEMBytes: Sendable {
    /// The longest file of certificates or of a key: a system's store has some 250 KiB.
    package static let maximumByteCount = 4 << 20

    /// The path, or what errors say in place of one.
    package let name: String
    package private(set) var bytes: [UInt8]

    package init(_ bytes: [UInt8], name: String) {
        self.name = name
        self.bytes = bytes
    }

    /// Reads a file; ``SecretFile`` must let it pass if it is to be private.
    package init(_ path: String, isPrivate: Bool) throws(TLSFileError) {
        name = path
        // A pipe would let the caller wait for its other end.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreadable(path, Self.text(errno)) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw .unreadable(path, Self.text(errno))
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path) }
        guard
            !isPrivate
                || SecretFile.isPrivate(
                    mode: UInt32(status.st_mode & 0o7777),
                    owner: status.st_uid,
                    group: status.st_gid
                )
        else {
            throw .notPrivate(path, mode: UInt32(status.st_mode & 0o7777))
        }
        let limit = Self.maximumByteCount
        guard status.st_size <= limit else { throw .tooLong(path, limit: limit) }
        bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var count = 0
        while count < bytes.count {
            let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe read(
                    descriptor,
                    buffer.baseAddress?.advanced(by: count),
                    buffer.count - count
                )
            }
            guard got >= 0 || errno == EINTR else { throw .unreadable(path, Self.text(errno)) }
            guard got != 0 else { break }
            count += max(0, got)
        }
        bytes.removeLast(bytes.count - count)
    }

    /// Overwrites a key that is not needed any more.
    package mutating func overwrite() {
        unsafe bytes.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            #if canImport(Darwin)
            unsafe memset_s(start, bytes.count, 0, bytes.count)
            #else
            unsafe explicit_bzero(start, bytes.count)
            #endif
        }
    }

    private static func text(_ code: Int32) -> String {
        switch code {
        case ENOENT: "there is no such file"
        case EACCES: "the user of the process may not read it"
        default: unsafe String(cString: strerror(code))
        }
    }
}

/// Who may read a file that holds a secret.
package enum SecretFile {
    /// Whether the file's mode keeps the secret from all others than those who run the service.
    ///
    /// Nobody but the owner may have access. One exception: the file is root's and its group, of which the
    /// process is a member, may read it, as Kubernetes mounts secrets (0440, the group of `fsGroup`). Only
    /// root can make such a file, and an administrator chose who is in the group.
    package static func isPrivate(mode: UInt32, owner: UInt32, group: UInt32) -> Bool {
        isPrivate(mode: mode, owner: owner, isMember: isMember(of: group))
    }

    /// Whether a group is the process's own, or one of its further groups.
    private static func isMember(of group: UInt32) -> Bool {
        if group == getegid() { return true }
        var groups = [gid_t](repeating: 0, count: Int(max(0, getgroups(0, nil))))
        let count = unsafe getgroups(Int32(groups.count), &groups)
        return groups.prefix(Int(max(0, count))).contains(group)
    }

    /// The same rule, for a process that is a member of the group or not.
    package static func isPrivate(mode: UInt32, owner: UInt32, isMember: Bool) -> Bool {
        mode & 0o077 == 0 || (mode & 0o037 == 0 && owner == 0 && isMember)
    }
}
