/// An e-mail by which a user signs in.
///
/// Two addresses are the same account if they differ only in the case of ASCII letters, also before
/// the `@`, where mail servers could tell them apart but people do not. Other characters are compared
/// byte by byte: the folding of all of Unicode changes from version to version, and a key that is
/// kept for years must not.
package struct EmailAddress: Sendable {
    /// The longest address, in bytes (RFC 5321).
    package static let maximumByteCount = 254

    /// The address as it was written.
    package let text: String
    /// The bytes of the address with its ASCII letters in lower case, by which the account is found.
    ///
    /// No text: Swift takes texts for equal whose characters are, as "é" in one scalar and in two.
    package let key: [UInt8]

    /// Reads an address; nil unless it is well formed.
    ///
    /// It has at most 254 bytes and one `@`, with something before and behind it, and no space or ASCII
    /// control character. Whether mail arrives there is not known.
    package init?(_ text: String) {
        let bytes = text.utf8
        guard bytes.count <= Self.maximumByteCount,
            bytes.count(where: { $0 == Self.at }) == 1,
            bytes.first != Self.at, bytes.last != Self.at,
            !bytes.contains(where: { $0 <= 0x20 || $0 == 0x7f })
        else { return nil }
        self.text = text
        key = bytes.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
    }

    private static let at = UInt8(ascii: "@")
}
