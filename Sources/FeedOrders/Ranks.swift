// Public, and inlinable what each vote calls: the compiler inlines no `package` function into another module.

/// Reddit's confidence, by which BEST sorts: the lower bound of Wilson's interval for the share of
/// upvotes, at 80 %.
///
/// From `_sorts.pyx::_confidence`, with n = ups + downs and p = ups / n:
/// `(p + z²/(2n) - z * sqrt(p(1 - p)/n + z²/(4n²))) / (1 + z²/n)`. The operations are those of IEEE
/// 754 doubles in the order of `value`, so other programs compute the same bits. See Wilson,
/// "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).
public enum ConfidenceRank {
    private static let z = 1.281551565545

    /// The confidence in 0 to 1; 0 for a post without upvotes, where the formula is 0, too.
    public static func value(upvoteCount: UInt64, downvoteCount: UInt64) -> Double {
        guard upvoteCount > 0 else { return 0 }
        let n = Double(upvoteCount + downvoteCount)
        let p = Double(upvoteCount) / n
        let left = p + z * z / (2 * n)
        let right = z * (p * (1 - p) / n + z * z / (4 * n * n)).squareRoot()
        return min(max((left - right) / (1 + z * z / n), 0), 1)
    }

    /// What decides whether posts have a confidence, without a root for each.
    ///
    /// The bounds of Wilson's interval are the c with (p - c)² = z² c(1 - c) / n. So the confidence of
    /// a post is at least c where ups - cn is not negative and its square is at least `spread` * n.
    public static func spread(at confidence: Double) -> Double {
        z * z * confidence * (1 - confidence)
    }
}

/// Reddit's controversy: many votes, up and down alike.
///
/// `(ups + downs) ^ (min(ups, downs) / max(ups, downs))` in doubles, and 0 for a post without
/// upvotes or without downvotes, from `_sorts.pyx::controversy`.
public enum ControversyRank {
    /// The controversy; not negative.
    public static func value(upvoteCount: UInt64, downvoteCount: UInt64) -> Double {
        guard upvoteCount > 0, downvoteCount > 0 else { return 0 }
        let balance =
            Double(min(upvoteCount, downvoteCount)) / Double(max(upvoteCount, downvoteCount))
        return BinaryLogarithm.power(upvoteCount + downvoteCount, balance)
    }
}

/// Reddit's hot rank: a factor of ten in the score weighs as much as 45,000 s of time.
///
/// `sign(s) * log10(max(|s|, 1)) + (t - 1134028003) / 45000`, from `_sorts.pyx::_hot`, times 10^7
/// and rounded to the nearest integer, with t in whole seconds. The rounding is exact, so that other
/// programs compute the same orders.
///
/// There are no ties to round. The time's part is a multiple of 1/9, since 10^7 / 45000 is 2000 / 9;
/// the logarithm's part is an integer where |s| is a power of ten and irrational elsewhere; so no
/// sum ends in one half.
public enum HotRank {
    /// The Unix time of a post up to which its key and the key's bound keep their last digits: some 71,000
    /// years.
    public static let maximumTimeMilliseconds: Int64 = 1 << 51

    /// The bits behind the point of a sum.
    private static let fractionBitCount: Int64 = 34
    /// 10^7 * log10(2), with 41 bits behind the point.
    private static let scale: Int64 = 0x5BDD_F7E9_CCB1_84C5
    /// A sum that is nearer to a half than this is computed exactly.
    ///
    /// The error of the logarithm counts less than 2^-34, and so do those of the scale, of the product and of
    /// the ninths.
    private static let uncertainty: Int64 = 4
    /// The logarithms of most scores.
    private static let orders: [Int64] = (0..<4_096).map { order(max($0, 1)) }

    /// The key of a score and a creation time; O(1).
    public static func key(score: Int64, createTimeMilliseconds: Int64) -> Int64 {
        let (whole, ninths) = timePart(seconds(createTimeMilliseconds))
        let magnitude = score.magnitude
        let order =
            magnitude < orders.count
            ? orders[Int(truncatingIfNeeded: magnitude)] : order(magnitude)
        // Without the whole part of the time; with a half, so that it is rounded by rounding down.
        let time = (ninths << fractionBitCount) / 9 + 1 << (fractionBitCount - 1)
        let sum = (score < 0 ? -order : order) + time
        let fraction = sum & (1 << fractionBitCount - 1)
        let isCertain = fraction >= uncertainty && fraction < 1 << fractionBitCount - uncertainty
        return whole + (isCertain ? sum >> fractionBitCount : exactSum(score, ninths))
    }

    /// A number not below the key, without a table, a division and a rounding; for times up to
    /// `maximumTimeMilliseconds`.
    ///
    /// It is at most 46,600 above the key of a score that is not negative, as much as 210 s are. The
    /// two units are room for the rounding of the key and of the sum.
    @inlinable
    @inline(__always)
    public static func upperBound(score: Int64, createTimeMilliseconds: Int64) -> Double {
        let order = LogarithmBound.log2(Double(max(score, 1))) * (1e7 * 0.301_029_995_663_981_2)
        return Double(createTimeMilliseconds) * (1e7 / 45e6) - epochPart + order + 2
    }

    /// The part of the key of Reddit's epoch.
    @usableFromInline static var epochPart: Double {
        @inline(__always) get { 1_134_028_003 * (1e7 / 45_000) }
    }

    /// 10^7 times the logarithm of a number from 1 on to the base 10.
    @inline(__always)
    private static func order(_ magnitude: UInt64) -> Int64 {
        BinaryLogarithm.of(magnitude).multipliedFullWidth(by: scale).high
    }

    /// Whole seconds since Reddit's epoch, rounded down before 1970 too.
    @inline(__always)
    private static func seconds(_ milliseconds: Int64) -> Int64 {
        (milliseconds >= 0 ? milliseconds / 1_000 : (milliseconds + 1) / 1_000 - 1) - 1_134_028_003
    }

    /// The time's part of the key: an integer below it, and 0 to 8 ninths.
    @inline(__always)
    private static func timePart(_ seconds: Int64) -> (whole: Int64, ninths: Int64) {
        let (quotient, remainder) = (seconds * 2_000).quotientAndRemainder(dividingBy: 9)
        return remainder < 0 ? (quotient - 1, remainder + 9) : (quotient, remainder)
    }

    /// The score's part and some ninths, added up and rounded, in integers with 98 bits behind the
    /// point; about a microsecond, for one in two thousand million keys.
    ///
    /// The error is below 2^-95. There are fewer than 2^68 sums, 2^64 scores by 9 ninths, so the
    /// nearest to a half is to be expected 2^-68 from it, where the error decides nothing.
    private static func exactSum(_ score: Int64, _ ninths: Int64) -> Int64 {
        let part = Int128(scaledLogarithm(score.magnitude))
        let time = (Int128(ninths) << 98) / 9
        let half = Int128(1) << 97
        return Int64(((score < 0 ? -part : part) + time + half) >> 98)
    }

    /// 10^7 * log10(2) with 106 bits behind the point, rounded down.
    private static let scaledLogarithmOfTwo: UInt128 = 0xB7BB_EFD3_9963_098B_48D3_DEFA_BCED_6E35

    /// 10^7 * log10(max(magnitude, 1)) with 98 bits behind the point, too low by less than 2^-96.
    private static func scaledLogarithm(_ magnitude: UInt64) -> UInt128 {
        BinaryLogarithm.exact(max(magnitude, 1))
            .multipliedFullWidth(by: scaledLogarithmOfTwo).high
    }
}

/// Upper bounds of logarithms, without a call of the C library.
public enum LogarithmBound {
    /// A number that is not below the logarithm to the base 2 of a number from 1 on, and at most
    /// 0.0154 above it.
    ///
    /// The logarithm of 1 + f lies between 0.0073 below and 0.008 above f * (1.3446 - 0.3446 f), a
    /// parabola with the logarithm's values at 0 and 1.
    @inlinable
    @inline(__always)
    public static func log2(_ value: Double) -> Double {
        let bits = value.bitPattern
        let fraction = Double(bitPattern: bits & 0x000F_FFFF_FFFF_FFFF | 0x3FF0_0000_0000_0000) - 1
        let exponent = Double(Int64(bitPattern: bits >> 52) &- 1_023)
        return exponent + 0.008 + fraction * (1.3446 - 0.3446 * fraction)
    }
}
