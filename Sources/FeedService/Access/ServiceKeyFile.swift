internal import FeedAccounts
package import FeedJournal
internal import FeedTLS
internal import Glibc

/// The file of `--service-keys`: a line for each key, with its name, its hash and its role, and one for
/// each certificate, with a name that the certificate has.
///
///     # name   proof (a hash has 64 hexadecimal digits)  role
///     web      blake2b:8d1f…                             service
///     nightly  blake2b:02aa…                             operator
///     shop     uri:spiffe://example.org/shop             service
///     metrics  dns:metrics.example.org                   reader
///
/// Empty lines and lines that begin with `#` are skipped. A line without a role makes a service. The
/// hash has a prefix, because a key and its hash have the same form: a key that was put here in place
/// of its hash is noticed.
package enum ServiceKeyFile {
    /// The most lines with a key or a certificate.
    package static let maximumKeyCount = 64
    static let maximumByteCount = 64 << 10
    /// What stands before the digits of a hash.
    static let hashPrefix = "blake2b:"

    /// Reads the keys of a file that its owner alone may read.
    ///
    /// Where clients show no certificates, a line with one has no effect, and is refused.
    package static func read(
        _ path: String,
        takesCertificates: Bool
    ) throws(ServiceKeyFileError) -> [ServiceKey] {
        let bytes = try PrivateFile.read(path, maximumByteCount: maximumByteCount)
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .notText(path) }
        return try parse(text, of: path, takesCertificates: takesCertificates)
    }

    /// The keys of a file's text; one at least, and each name and each proof once.
    package static func parse(
        _ text: String,
        of path: String,
        takesCertificates: Bool = true
    ) throws(ServiceKeyFileError) -> [ServiceKey] {
        var keys: [ServiceKey] = []
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            let key: ServiceKey
            do throws(ServiceKeyFileError.Line) {
                key = try self.key(words)
                if keys.contains(where: { $0.name == key.name }) { throw .repeatedName }
                if keys.contains(where: { $0.proof == key.proof }) { throw .repeatedProof }
                if case .certificate = key.proof, !takesCertificates { throw .noClientAuthority }
            } catch {
                throw .line(path, index + 1, error)
            }
            keys.append(key)
            guard keys.count <= maximumKeyCount else { throw .tooManyKeys(path) }
        }
        guard !keys.isEmpty else { throw .noKeys(path) }
        return keys
    }

    /// The line of a key, without its end.
    package static func line(of key: ServiceKey) -> String {
        "\(key.name) \(text(of: key.proof)) \(key.role.rawValue)"
    }

    private static func text(of proof: ServiceKey.Proof) -> String {
        switch proof {
        case .key(let hash): hashPrefix + Hexadecimal.text(hash.bytes)
        case .certificate(let identity): identity.description
        }
    }

    private static func key(
        _ words: [Substring]
    ) throws(ServiceKeyFileError.Line) -> ServiceKey {
        guard (2...3).contains(words.count) else { throw .wordCount(words.count) }
        guard ServiceKey.isName(words[0]) else { throw .name }
        let proof = try proof(words[1])
        let word = words.count > 2 ? String(words[2]) : KeyRole.unnamed.rawValue
        guard let role = KeyRole(rawValue: word) else { throw .role }
        return ServiceKey(name: String(words[0]), proof: proof, role: role)
    }

    private static func proof(
        _ word: Substring
    ) throws(ServiceKeyFileError.Line) -> ServiceKey.Proof {
        if word.hasPrefix("uri:") || word.hasPrefix("dns:") {
            guard let identity = TLSIdentity(word) else { throw .identity }
            return .certificate(identity)
        }
        guard word.hasPrefix(hashPrefix) else { throw .noProof }
        guard let bytes = Hexadecimal.bytes(word.dropFirst(hashPrefix.count)),
            let hash = TokenHash(bytes: bytes)
        else { throw .hash }
        return .key(hash)
    }
}

/// The reason why a file of service keys is refused.
///
/// No text shows a word of the file, because that may be a key.
package enum ServiceKeyFileError: Error, Equatable, CustomStringConvertible {
    package enum Line: Error, Equatable {
        case wordCount(Int)
        case name
        /// The second word begins neither as a hash nor as a name of a certificate.
        case noProof
        case hash
        /// The second word is no name that a certificate may have.
        case identity
        /// It names a certificate, and clients show none.
        case noClientAuthority
        case role
        case repeatedName
        case repeatedProof
    }

    case file(StorageError)
    case notAFile(String)
    /// Others than the owner may read or write it: the mode.
    case notPrivate(String, mode: UInt32)
    case wrongOwner(String, owner: UInt32, user: UInt32)
    case tooLong(String, limit: Int)
    case notText(String)
    case noKeys(String)
    case tooManyKeys(String)
    case line(String, Int, Line)

    package var description: String {
        switch self {
        case .file(let error): "\(error)"
        case .notAFile(let path): "\(path) is not a regular file."
        case .notPrivate(let path, let mode):
            "\(path) has the mode \(String(mode, radix: 8)), so others may use it: type "
                + "`chmod 600 \(path)`."
        case .wrongOwner(let path, let owner, let user):
            "\(path) belongs to user \(owner); it must belong to the user of the service, \(user), "
                + "or to root."
        case .tooLong(let path, let limit): "\(path) is longer than \(limit) bytes."
        case .notText(let path): "\(path) is not UTF-8."
        case .noKeys(let path): "\(path) has no keys."
        case .tooManyKeys(let path):
            "\(path) has more than \(ServiceKeyFile.maximumKeyCount) keys."
        case .line(let path, let number, let fault): "\(path), line \(number): \(fault)"
        }
    }
}

extension ServiceKeyFileError.Line: CustomStringConvertible {
    package var description: String {
        switch self {
        case .wordCount(let count):
            "expected a name, a hash or an identity, and a role, got \(count) words."
        case .name:
            "a name has 1 to \(ServiceKey.maximumNameLength) ASCII letters, digits, `.`, `_` and `-`."
        case .noProof:
            "a hash begins with `\(ServiceKeyFile.hashPrefix)`, and an identity with `uri:` or `dns:`. "
                + "If this is the key itself, it is no longer a secret: make a new one."
        case .hash: "a hash has 64 hexadecimal digits."
        case .identity:
            "an identity is `uri:` or `dns:` and 1 to \(TLSLimits.maximumIdentityByteCount) printable "
                + "ASCII characters."
        case .noClientAuthority:
            "an identity is one of a client's certificate, and there is no --tls-client-ca."
        case .role: "a role is one of \(KeyRole.list)."
        case .repeatedName: "an earlier line has this name."
        case .repeatedProof: "an earlier line has this hash or identity."
        }
    }
}

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
        guard descriptor >= 0 else { throw .file(.system("open", path, code: errno)) }
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
                throw .file(.system("read", path, code: errno))
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
        guard descriptor >= 0 else { throw .file(.system("create", path, code: errno)) }
        defer { close(descriptor) }
        let count = unsafe bytes.withUnsafeBytes { buffer in
            unsafe Glibc.write(descriptor, buffer.baseAddress, buffer.count)
        }
        guard count == bytes.count, fsync(descriptor) == 0 else {
            // A short write sets no error: the disk is full.
            let code = (0..<bytes.count).contains(count) ? ENOSPC : errno
            _ = unsafe unlink(path)
            throw .file(.system("write", path, code: code))
        }
    }

    private static func check(_ descriptor: Int32, _ path: String) throws(ServiceKeyFileError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw .file(.system("examine", path, code: errno))
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
