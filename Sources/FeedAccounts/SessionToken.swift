import CSodium

/// The secret that a client shows for its session: 32 random bytes.
///
/// The service gives a token to the client once and keeps its hash only. A token has no description,
/// so that no log line shows it.
package struct SessionToken: Sendable {
    package static let byteCount = 32

    package let bytes: [UInt8]

    /// Draws a new token from the system's secure random numbers.
    package init() {
        var bytes = [UInt8](repeating: 0, count: Self.byteCount)
        Sodium.prepare()
        unsafe randombytes_buf(&bytes, Self.byteCount)
        self.bytes = bytes
    }

    /// Reads a token; nil unless it has 32 bytes.
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

/// The BLAKE2b hash of a session's token, 32 bytes as four little-endian words.
package struct TokenHash: Hashable, Sendable, BitwiseCopyable {
    package static let byteCount = 32

    package let word0: UInt64
    package let word1: UInt64
    package let word2: UInt64
    package let word3: UInt64

    package init(_ word0: UInt64, _ word1: UInt64, _ word2: UInt64, _ word3: UInt64) {
        self.word0 = word0
        self.word1 = word1
        self.word2 = word2
        self.word3 = word3
    }

    /// Reads a hash; nil unless it has 32 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        func word(_ index: Int) -> UInt64 {
            bytes[8 * index..<8 * index + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        self.init(word(0), word(1), word(2), word(3))
    }

    package var bytes: [UInt8] {
        [word0, word1, word2, word3].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) }
        }
    }

    /// Whether two hashes are the same; takes the same time wherever they differ.
    package static func == (left: Self, right: Self) -> Bool {
        (left.word0 ^ right.word0) | (left.word1 ^ right.word1) | (left.word2 ^ right.word2)
            | (left.word3 ^ right.word3) == 0
    }
}
