/// A pseudorandom bijection of 0 ..< `count` onto itself, which is computed and not stored: every
/// rank gets one post and every post one rank; every vote of a schedule comes once.
///
/// A generalised Feistel network over pairs of numbers, with cycle walking (Black and Rogaway,
/// "Ciphers with Arbitrary Finite Domains", 2002). It has four rounds, after which ideal round
/// functions would give an order like a random one (Luby and Rackoff, 1988). The round function is
/// the mixer of SplitMix64 and no cipher: the order spreads values well and hides nothing.
///
/// It is a bijection for every seed. Of the `count`! orders at most 2^64 can occur.
package struct Permutation: Sendable {
    /// How many values are permuted.
    package let count: Int

    // A value is high << lowBitCount | low, with high below highCount. Fewer than 2^lowBitCount
    // pairs, about the root of the count, lie beyond the last value.
    private let lowBitCount: UInt64
    private let highCount: UInt64
    private let keys: [4 of UInt64]

    /// The permutation that `seed` names; `purpose` separates permutations of one seed.
    package init(count: Int, seed: UInt64, purpose: RandomStream.Purpose = .scatter) {
        precondition(count >= 1 && count < 1 << 62, "A permutation has 1 to 2^62 - 1 values.")
        self.count = count
        lowBitCount = UInt64(Int.bitWidth - count.leadingZeroBitCount) / 2
        highCount = (UInt64(count) + (1 << lowBitCount) - 1) >> lowBitCount
        var stream = RandomStream(seed: seed, thread: 0, client: 0, purpose: purpose)
        keys = [stream.next(), stream.next(), stream.next(), stream.next()]
    }

    /// Where `index` goes; O(1) expected.
    @inline(__always)
    package func callAsFunction(_ index: Int) -> Int {
        precondition(index >= 0 && index < count, "The index lies outside the permutation.")
        var value = UInt64(index)
        repeat { value = encipher(value) } while value >= UInt64(count)
        return Int(truncatingIfNeeded: value)
    }

    @inline(__always)
    private func encipher(_ value: UInt64) -> UInt64 {
        let mask = (1 as UInt64 &<< lowBitCount) &- 1
        var low = value & mask
        var high = value &>> lowBitCount
        low = (low &+ RandomStream.mix(high ^ keys[0])) & mask
        high = shift(high, by: RandomStream.mix(low ^ keys[1]))
        low = (low &+ RandomStream.mix(high ^ keys[2])) & mask
        high = shift(high, by: RandomStream.mix(low ^ keys[3]))
        return high &<< lowBitCount | low
    }

    /// `high` plus a random number, modulo `highCount`.
    @inline(__always)
    private func shift(_ high: UInt64, by random: UInt64) -> UInt64 {
        let sum = high &+ random.multipliedFullWidth(by: highCount).high
        return sum >= highCount ? sum &- highCount : sum
    }
}
