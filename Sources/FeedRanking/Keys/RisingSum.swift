#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// What RISING sorts by: the sum of the weights of a post's upvotes, of which its creation is one.
///
/// The sum is `(1 + fraction / 2^32) * 2^exponent` times the weight of a vote at the full hour of
/// the post's creation. Each addition is rounded to 33 bits, which is less than a microsecond of a
/// vote's time. See Jacobs, "Exponentially decaying likes" (2015).
public struct RisingSum: BitwiseCopyable, Equatable, Sendable {
    /// The exponent and one in the upper half, and the fraction in the lower; 0 is `initial`.
    public let rawValue: UInt64

    /// A sum from a log or a file.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The sum of a post on which nobody has voted since it was created or imported: all of its
    /// upvotes and its creation count as of its creation.
    @inlinable public static var initial: RisingSum { RisingSum(rawValue: 0) }

    /// Whether the sum follows from the upvotes and the creation.
    @inline(__always)
    package var isInitial: Bool { rawValue == 0 }

    @inline(__always)
    private init(mantissa: UInt64, exponent: Int64) {
        let upper = UInt64(truncatingIfNeeded: exponent &+ 1)
        rawValue = upper << 32 | (mantissa & 0xFFFF_FFFF)
    }

    /// The sum of so many votes as of a creation, and of the creation; O(1).
    package init(upvoteCount: UInt64, createTimeMilliseconds: Int64) {
        let weight = VoteWeight(milliseconds: createTimeMilliseconds)
        let product = weight.mantissa.multipliedFullWidth(by: upvoteCount &+ 1)
        var sum = UInt128(product.high) << 64 | UInt128(product.low)
        let shift = 95 - sum.leadingZeroBitCount
        if shift > 0 { sum = (sum + 1 << (shift - 1)) >> shift }
        let carry = Int(truncatingIfNeeded: sum >> 33)
        let exponent = weight.hour - Self.hour(createTimeMilliseconds) + Int64(shift + carry)
        self.init(mantissa: UInt64(truncatingIfNeeded: sum >> carry), exponent: exponent)
    }

    /// The sum with one more vote, of a post that was created at a Unix time; O(1).
    @inline(__always)
    package func adding(_ weight: VoteWeight, createTimeMilliseconds: Int64) -> RisingSum {
        var exponent = Int64(rawValue >> 32) &- 1
        var mantissa = 1 << 32 | (rawValue & 0xFFFF_FFFF)
        let distance = weight.hour &- Self.hour(createTimeMilliseconds) &- exponent
        if distance <= 0 {
            mantissa &+= Self.shifted(weight.mantissa, by: 0 &- distance)
        } else {
            mantissa = weight.mantissa &+ Self.shifted(mantissa, by: distance)
            exponent &+= distance
        }
        if mantissa >> 33 != 0 {
            mantissa = (mantissa &+ 1) >> 1
            exponent &+= 1
        }
        return RisingSum(mantissa: mantissa, exponent: exponent)
    }

    /// The first part of a key: the greatest sums first, over posts of all times; never 0.
    package func key(createTimeMilliseconds: Int64) -> UInt64 {
        let hour = Self.hour(createTimeMilliseconds) &+ Int64(rawValue >> 32)
        return ~(UInt64(truncatingIfNeeded: hour) << 32 | (rawValue & 0xFFFF_FFFF))
    }

    /// A number of 33 bits divided by a power of two, and rounded to the nearest.
    @inline(__always)
    private static func shifted(_ mantissa: UInt64, by distance: Int64) -> UInt64 {
        if distance > 33 { return 0 }
        let doubled = (mantissa &<< 1) &>> UInt64(truncatingIfNeeded: distance)
        return (doubled &+ 1) >> 1
    }

    /// The whole hours from 1970 to a time that is not negative.
    @inline(__always)
    private static func hour(_ milliseconds: Int64) -> Int64 {
        Int64(UInt64(bitPattern: milliseconds) / UInt64(VoteWeight.halfLifeMilliseconds))
    }
}

/// The weight of a vote for RISING: 2^(t/H) for a vote at the time t, with a half-life H of an hour.
///
/// A caller makes one for the votes of a moment, so that a vote costs a shift and an addition. The
/// weight is `mantissa * 2^(hour - 32)`.
public struct VoteWeight: BitwiseCopyable, Equatable, Sendable {
    package static let halfLifeMilliseconds: Int64 = 3_600_000

    /// The whole half-lives from 1970 to the vote.
    package let hour: Int64
    /// 2 to the power of the rest of the time, with 32 bits behind the point: from 2^32 to 2^33 - 1.
    package let mantissa: UInt64

    /// The weight of a vote at a Unix time in milliseconds, which is not negative.
    package init(milliseconds: Int64) {
        let (hour, rest) = milliseconds.quotientAndRemainder(dividingBy: Self.halfLifeMilliseconds)
        let power = exp2(Double(rest) / Double(Self.halfLifeMilliseconds))
        let mantissa = UInt64((power * 0x1p32).rounded())
        let isWhole = mantissa >> 33 != 0
        self.hour = isWhole ? hour + 1 : hour
        self.mantissa = isWhole ? mantissa >> 1 : mantissa
    }
}
