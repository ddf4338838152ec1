package import FeedAccounts
package import FeedTLS

/// What a program shows to have a role: a key, or a certificate with a name.
package struct ServiceKey: Sendable, Equatable {
    /// What the service knows of the key, or of the certificate.
    package enum Proof: Sendable, Equatable {
        /// The BLAKE2b hash of a key, which Hello shows.
        case key(TokenHash)
        /// A name in the certificate of a TLS connection.
        case certificate(TLSIdentity)
    }

    /// The length of a key in bytes, which are random.
    package static let byteCount = 32
    /// The longest name.
    package static let maximumNameLength = 64

    /// The name, for the log: ASCII letters, digits, `.`, `_` and `-`.
    package let name: String
    /// What shows that a caller is the one of this name.
    package let proof: Proof
    /// What it makes its caller.
    package let role: KeyRole

    /// A key with a name that ``isName(_:)`` takes.
    package init(name: String, proof: Proof, role: KeyRole) {
        precondition(Self.isName(name), "The name of a key has no other characters.")
        self.name = name
        self.proof = proof
        self.role = role
    }

    /// Whether a text can be the name of a key: a name cannot forge a line of the log.
    package static func isName(_ text: some StringProtocol) -> Bool {
        (1...maximumNameLength).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
