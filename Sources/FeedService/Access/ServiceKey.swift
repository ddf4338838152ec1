package import FeedAccounts

/// A key that a program shows to have a role: 32 random bytes, of which the service knows the hash.
package struct ServiceKey: Sendable, Equatable {
    /// The length of a key in bytes.
    package static let byteCount = 32
    /// The longest name.
    package static let maximumNameLength = 64

    /// The name, for the log: ASCII letters, digits, `.`, `_` and `-`.
    package let name: String
    /// The BLAKE2b hash of the key.
    package let hash: TokenHash
    /// What the key makes its caller.
    package let role: KeyRole

    /// A key with a name that ``isName(_:)`` takes.
    package init(name: String, hash: TokenHash, role: KeyRole) {
        precondition(Self.isName(name), "The name of a key has no other characters.")
        self.name = name
        self.hash = hash
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
