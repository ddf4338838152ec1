/// A repeatable stream of random numbers: the same seed and names give the same numbers.
///
/// SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014):
/// number `i` is a mix of the start and `i`, so the stream is hash(seed, thread, client, index).
package struct RandomStream: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// The stream of one client of one thread; `purpose` separates the streams of one client.
    package init(seed: UInt64, thread: Int, client: Int, purpose: Purpose = .requests) {
        var hash = Self.mix(seed &+ purpose.rawValue)
        hash = Self.mix(hash ^ UInt64(truncatingIfNeeded: thread))
        state = Self.mix(hash ^ UInt64(truncatingIfNeeded: client))
    }

    /// The purposes of numbers; each has streams of its own.
    package enum Purpose: UInt64, Sendable {
        /// Which request comes next.
        case requests = 0x52
        /// When it comes.
        case arrivals = 0x41
        /// Which post has which rank.
        case scatter = 0x53
        /// In which order planned votes are cast.
        case schedule = 0x56
    }

    /// The next 64 random bits.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mix(state)
    }

    /// A number in 0 ..< 1 with 53 random bits.
    package mutating func nextUnit() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    /// A number in 0 ..< `bound`, by the high word of a product (bias below `bound` / 2^64).
    package mutating func nextIndex(below bound: Int) -> Int {
        Int(truncatingIfNeeded: next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// The finaliser of SplitMix64: a bijection that spreads every bit of its input over all.
    package static func mix(_ value: UInt64) -> UInt64 {
        var mixed = value
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
