package import FeedJournal
internal import FeedTLS

/// The reason why a file of service keys is refused.
///
/// No text shows a word of the file, because that may be a key.
package enum ServiceKeyFileError: Error, Equatable, CustomStringConvertible {
    /// The fault of a line.
    package enum Line: Error, Equatable {
        /// It has another number of words than two or three.
        case wordCount(Int)
        /// The first word cannot be a name.
        case name
        /// The second word begins neither as a hash nor as a name of a certificate.
        case noProof
        /// The second word is no hash.
        case hash
        /// The second word is no name that a certificate may have.
        case identity
        /// It names a certificate, and clients show none.
        case noClientAuthority
        /// The third word is no role.
        case role
        /// An earlier line has the name.
        case repeatedName
        /// An earlier line has the hash, or the name of the certificate.
        case repeatedProof
    }

    /// A system call failed.
    case file(FileError)
    /// A directory, a pipe or a device.
    case notAFile(String)
    /// Others than the owner may read or write it: the mode.
    case notPrivate(String, mode: UInt32)
    /// Another user owns it.
    case wrongOwner(String, owner: UInt32, user: UInt32)
    /// It is longer than a file of keys can be.
    case tooLong(String, limit: Int)
    /// It is not UTF-8.
    case notText(String)
    /// It has no line with a key.
    case noKeys(String)
    /// It has more keys than the limit.
    case tooManyKeys(String)
    /// A line has a fault.
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
