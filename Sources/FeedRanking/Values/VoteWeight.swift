import Glibc

/// The weight of a vote for RISING: 2^(t/H) for a vote at the time t, with a half-life H of an hour.
///
/// A caller makes one for the votes of a moment, so that a vote costs a shift and an addition. The
/// weight is `mantissa * 2^(hour - 32)`.
public struct VoteWeight: BitwiseCopyable, Equatable, Sendable {
    /// The half-life of a vote.
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
