/// A session: the right of the holder of a token to act as a user until a time.
package struct SessionRow: BitwiseCopyable, Equatable, Sendable {
    /// The hash of the token; the token itself is kept nowhere.
    package var tokenHash: TokenHash
    /// The user.
    package var userID: UInt64
    /// The Unix time from which the session is over.
    package var expireTimeMilliseconds: Int64
    /// The user's generation of sessions when the session began.
    package var generation: UInt64

    /// A session.
    package init(
        tokenHash: TokenHash,
        userID: UInt64,
        expireTimeMilliseconds: Int64,
        generation: UInt64
    ) {
        self.tokenHash = tokenHash
        self.userID = userID
        self.expireTimeMilliseconds = expireTimeMilliseconds
        self.generation = generation
    }
}

/// The 32 bytes of a token's hash, as four words of eight bytes, each with its first byte lowest.
package struct TokenHash: BitwiseCopyable, Hashable, Sendable {
    /// The bytes of a hash.
    package static let byteCount = 32

    /// Bytes 0 to 7.
    package let word0: UInt64
    /// Bytes 8 to 15.
    package let word1: UInt64
    /// Bytes 16 to 23.
    package let word2: UInt64
    /// Bytes 24 to 31.
    package let word3: UInt64

    /// The hash of these words.
    package init(_ word0: UInt64, _ word1: UInt64, _ word2: UInt64, _ word3: UInt64) {
        self.word0 = word0
        self.word1 = word1
        self.word2 = word2
        self.word3 = word3
    }

    /// The hash of these bytes; nil where they are not 32.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        func word(_ index: Int) -> UInt64 {
            bytes[8 * index..<8 * index + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        self.init(word(0), word(1), word(2), word(3))
    }

    /// The bytes of the hash.
    package var bytes: [UInt8] {
        [word0, word1, word2, word3].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64($0 * 8)) }
        }
    }
}
