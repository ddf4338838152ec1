import CXXHash

/// The hash that records and headers are checked by: XXH3 of 64 bits, by Yann Collet.
package struct RecordHash: Sendable {
    package let digest: @Sendable (Span<UInt8>, UInt64) -> UInt64

    package static let xxh3: RecordHash = RecordHash { RecordHash.xxh3($0, seed: $1) }

    /// A hash of one's own; only a test of what a blind one lets through has a use for it.
    package init(_ digest: @escaping @Sendable (Span<UInt8>, UInt64) -> UInt64) {
        self.digest = digest
    }
}

extension RecordHash {
    package static func xxh3(_ bytes: Span<UInt8>, seed: UInt64) -> UInt64 {
        unsafe bytes.withUnsafeBytes {
            unsafe XXH3_64bits_withSeed($0.baseAddress, $0.count, seed)
        }
    }

    /// XXH3 of some numbers, as memory has them, under a seed.
    ///
    /// Every processor that this runs on has the least byte first, so the hash may be stored.
    package static func xxh3(_ numbers: Span<UInt64>, seed: UInt64) -> UInt64 {
        unsafe numbers.withUnsafeBytes {
            unsafe XXH3_64bits_withSeed($0.baseAddress, $0.count, seed)
        }
    }
}
