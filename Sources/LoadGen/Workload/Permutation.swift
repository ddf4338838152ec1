/// A pseudorandom bijection of 0 ..< `count` onto itself: every rank gets one post and every post
/// one rank.
///
/// A Feistel network of four rounds over the next even power of two (Luby and Rackoff, 1988). A
/// value that lands outside passes through again until it lands inside ("cycle walking", Black and
/// Rogaway, 2002): at most four passes on average.
package struct Permutation: Sendable {
    /// How many values are permuted.
    package let count: Int
    private let halfBitCount: UInt64
    private let keys: [4 of UInt64]

    /// The permutation that `seed` names.
    package init(count: Int, seed: UInt64) {
        precondition(count >= 1, "A permutation needs a value.")
        self.count = count
        let bitCount = Int.bitWidth - (count - 1).leadingZeroBitCount
        halfBitCount = UInt64(max(1, (bitCount + 1) / 2))
        var stream = RandomStream(seed: seed, thread: 0, client: 0, purpose: .scatter)
        keys = [stream.next(), stream.next(), stream.next(), stream.next()]
    }

    /// Where `index` goes.
    package func callAsFunction(_ index: Int) -> Int {
        precondition(index >= 0 && index < count, "The index lies outside the permutation.")
        var value = UInt64(index)
        repeat { value = encipher(value) } while value >= UInt64(count)
        return Int(value)
    }

    private func encipher(_ value: UInt64) -> UInt64 {
        let mask = (1 << halfBitCount) - 1 as UInt64
        var left = value >> halfBitCount
        var right = value & mask
        for round in keys.indices {
            (left, right) = (right, left ^ (RandomStream.mix(right ^ keys[round]) & mask))
        }
        return left << halfBitCount | right
    }
}
