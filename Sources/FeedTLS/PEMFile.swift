internal import COpenSSL
internal import Glibc

/// A file with certificates or a key in PEM, read whole.
///
/// The checks are of the opened file, so another file cannot take its place between a check and the
/// reading.
struct PEMFile {
    let path: String
    private var bytes: [UInt8]

    /// Reads a file; ``SecretFile`` must let it pass if it is to be private.
    init(_ path: String, isPrivate: Bool) throws(TLSFileError) {
        self.path = path
        // A pipe would let the caller wait for its other end.
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
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
                    mode: status.st_mode & 0o7777,
                    owner: status.st_uid,
                    group: status.st_gid
                )
        else {
            throw .notPrivate(path, mode: status.st_mode & 0o7777)
        }
        let limit = TLSLimits.maximumFileByteCount
        guard status.st_size <= limit else { throw .tooLong(path, limit: limit) }
        bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var count = 0
        while count < bytes.count {
            let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(
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

    /// Calls `body` with the certificates, in their order; it does not keep them without a reference.
    func withCertificates<Result>(
        _ body: ([OpaquePointer]) throws(TLSFileError) -> Result
    ) throws(TLSFileError) -> Result {
        var certificates: [OpaquePointer] = unsafe []
        defer {
            for index in unsafe certificates.indices { unsafe X509_free(certificates[index]) }
        }
        let isWhole = unsafe withBIO { bio in
            while let next = unsafe copenssl_read_certificate(bio) {
                unsafe certificates.append(next)
            }
            // The end of the file is no fault, and anything else is.
            return ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE
        }
        OpenSSLErrors.clear()
        guard isWhole, unsafe !certificates.isEmpty else { throw .noCertificate(path) }
        return unsafe try body(certificates)
    }

    /// Calls `body` with the private key, then overwrites the bytes of the file.
    mutating func withKey<Result>(
        _ body: (OpaquePointer) throws(TLSFileError) -> Result
    ) throws(TLSFileError) -> Result {
        let key = unsafe withBIO { unsafe copenssl_read_key($0) }
        unsafe bytes.withUnsafeMutableBytes { bytes in
            if let start = bytes.baseAddress { unsafe explicit_bzero(start, bytes.count) }
        }
        OpenSSLErrors.clear()
        guard let key = unsafe key else { throw .noKey(path) }
        defer { unsafe EVP_PKEY_free(key) }
        return unsafe try body(key)
    }

    private func withBIO<Result>(_ body: (OpaquePointer?) -> Result) -> Result {
        OpenSSLErrors.clear()
        return unsafe bytes.withUnsafeBytes { bytes in
            let bio = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count))
            defer { unsafe BIO_free(bio) }
            return unsafe body(bio)
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
