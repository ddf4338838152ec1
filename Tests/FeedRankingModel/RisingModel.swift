package import FeedRanking
import Glibc

/// The sum of RISING in doubles: `mantissa * 2^exponent`, with a mantissa from 1 to 2 of 33 bits.
///
/// A vote at a time counts 2^(time in hours). Each step is rounded to 33 bits, half up.
package struct RisingModel: Equatable {
    /// From 1 to 2.
    package var mantissa: Double
    /// The hours since 1970, and the doublings beyond.
    package var exponent: Int

    /// The weight of one vote at a time in milliseconds.
    private init(time: Int64) {
        let hours = Double(time % 3_600_000) / 3_600_000
        exponent = Int(time / 3_600_000)
        mantissa = Self.rounded(exp2(hours))
        normalize()
    }

    /// The sum of a post's creation and its upvotes as of then.
    package init(time: Int64, upvotes: UInt64) {
        self.init(time: time)
        // 33 bits times 54 bits: more than a double holds.
        var product = Float80(mantissa) * Float80(upvotes + 1)
        while product >= 2 {
            product /= 2
            exponent += 1
        }
        mantissa = Double((product * 0x1p32 + 0.5).rounded(.down) * 0x1p-32)
        normalize()
    }

    package mutating func add(time: Int64) {
        let vote = RisingModel(time: time)
        let (large, small) = vote.exponent > exponent ? (vote, self) : (self, vote)
        exponent = large.exponent
        let share = small.mantissa * pow(2, Double(max(small.exponent - exponent, -1_000)))
        mantissa = large.mantissa + Self.rounded(share)
        normalize()
    }

    /// Whether one sum is greater than another.
    package static func > (left: RisingModel, right: RisingModel) -> Bool {
        (left.exponent, left.mantissa) > (right.exponent, right.mantissa)
    }

    /// The sum as a store keeps it for a post of a time.
    package func sum(ofPostAt time: Int64) -> RisingSum {
        let fraction = UInt64((mantissa - 1) * 0x1p32)
        return RisingSum(rawValue: UInt64(exponent - Int(time / 3_600_000) + 1) << 32 | fraction)
    }

    private mutating func normalize() {
        guard mantissa >= 2 else { return }
        mantissa = Self.rounded(mantissa / 2)
        exponent += 1
    }

    private static func rounded(_ value: Double) -> Double {
        (value * 0x1p32 + 0.5).rounded(.down) * 0x1p-32
    }
}

extension FeedModel.Post {
    /// The sum by which RISING sorts.
    package var risingNow: RisingModel { rising ?? RisingModel(time: time, upvotes: upvotes) }

    /// Gives the post another time; a sum moves with it by whole hours.
    package mutating func setTime(_ newTime: Int64) {
        rising?.exponent += Int(newTime / 3_600_000) - Int(time / 3_600_000)
        time = newTime
    }
}
