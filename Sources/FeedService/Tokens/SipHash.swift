/// SipHash-2-4: a keyed 64-bit checksum that cannot be forged without the key.
///
/// Aumasson and Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012. The standard
/// library's `Hasher` is of the same family, but takes no key of ours and may change between
/// versions.
package struct SipHash {
    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64

    /// The checksum of `bytes` under the key (`key0`, `key1`), in O(bytes).
    package static func checksum(of bytes: Span<UInt8>, key0: UInt64, key1: UInt64) -> UInt64 {
        var state = SipHash(key0: key0, key1: key1)
        let wholeWords = bytes.count / 8
        for word in 0..<wholeWords {
            state.absorb(littleEndianWord(in: bytes, from: word * 8, byteCount: 8))
        }
        let tail = littleEndianWord(
            in: bytes,
            from: wholeWords * 8,
            byteCount: bytes.count - wholeWords * 8
        )
        state.absorb(tail | UInt64(truncatingIfNeeded: bytes.count) << 56)
        return state.finish()
    }

    private init(key0: UInt64, key1: UInt64) {
        v0 = key0 ^ 0x736f_6d65_7073_6575
        v1 = key1 ^ 0x646f_7261_6e64_6f6d
        v2 = key0 ^ 0x6c79_6765_6e65_7261
        v3 = key1 ^ 0x7465_6462_7974_6573
    }

    private mutating func absorb(_ word: UInt64) {
        v3 ^= word
        round()
        round()
        v0 ^= word
    }

    private mutating func finish() -> UInt64 {
        v2 ^= 0xff
        for _ in 0..<4 { round() }
        return v0 ^ v1 ^ v2 ^ v3
    }

    private mutating func round() {
        v0 &+= v1
        v1 = v1.rotated(left: 13) ^ v0
        v0 = v0.rotated(left: 32)
        v2 &+= v3
        v3 = v3.rotated(left: 16) ^ v2
        v0 &+= v3
        v3 = v3.rotated(left: 21) ^ v0
        v2 &+= v1
        v1 = v1.rotated(left: 17) ^ v2
        v2 = v2.rotated(left: 32)
    }

    private static func littleEndianWord(
        in bytes: Span<UInt8>,
        from start: Int,
        byteCount: Int
    ) -> UInt64 {
        var word: UInt64 = 0
        for index in 0..<byteCount {
            word |= UInt64(bytes[start + index]) << UInt64(8 * index)
        }
        return word
    }
}

extension UInt64 {
    fileprivate func rotated(left count: UInt64) -> UInt64 {
        self << count | self >> (64 - count)
    }
}
