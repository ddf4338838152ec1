/// The BLAKE2b hash of a session's token, 32 bytes as four little-endian words.
package struct TokenHash: Hashable, Sendable, BitwiseCopyable {
    /// The length in bytes.
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

    /// Reads a hash; nil unless it has 32 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        func word(_ index: Int) -> UInt64 {
            bytes[8 * index..<8 * index + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        self.init(word(0), word(1), word(2), word(3))
    }

    /// The 32 bytes.
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
