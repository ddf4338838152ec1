import CXXHash

extension RecordHash {
    /// XXH3 of some bytes under a seed.
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
