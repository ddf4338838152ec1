internal import FeedAccounts
internal import FeedTLS

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
    /// The longest file.
    static let maximumByteCount = 64 << 10
    /// What stands before the digits of a hash.
    static let hashPrefix = "blake2b:"

    /// Reads the keys of a file that its owner alone may read.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - takesCertificates: Whether clients show certificates; else a line with one has no effect, and
    ///     is refused.
    /// - Returns: The keys, in the order of their lines.
    /// - Throws: The refusal of the file.
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
