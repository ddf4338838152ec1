import CSodium

/// The secret that a client shows for its session: 32 random bytes.
///
/// The service gives a token to the client once and keeps its hash only. A token has no description,
/// so that no log line shows it.
package struct SessionToken: Sendable {
    /// The length in bytes.
    package static let byteCount = 32

    /// The bytes, for the answer to the client.
    package let bytes: [UInt8]

    /// Draws a new token from the system's secure random numbers.
    package init() {
        var bytes = [UInt8](repeating: 0, count: Self.byteCount)
        Sodium.prepare()
        unsafe randombytes_buf(&bytes, Self.byteCount)
        self.bytes = bytes
    }

    /// Reads a token; nil unless it has 32 bytes.
    ///
    /// The length is looked at before all else.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// The BLAKE2b hash of the token, 32 bytes.
    ///
    /// A token has 256 random bits, so the hash needs neither a salt nor to be slow.
    package var hash: TokenHash {
        var hash = [UInt8](repeating: 0, count: TokenHash.byteCount)
        let code = unsafe crypto_generichash(
            &hash,
            TokenHash.byteCount,
            bytes,
            UInt64(Self.byteCount),
            nil,
            0
        )
        guard code == 0, let hash = TokenHash(bytes: hash) else {
            preconditionFailure("BLAKE2b takes 32 bytes and gives 32.")
        }
        return hash
    }
}
