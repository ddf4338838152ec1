import Glibc

/// Reddit's hot rank: a factor of ten in the score weighs as much as 45,000 s of time.
///
/// `sign(s) * log10(max(|s|, 1)) + (t - 1134028003) / 45000`, from `_sorts.pyx::_hot`, times 10^7
/// and rounded half to even, with t in whole seconds.
package enum HotRank {
    private static let tableCount = 4_096
    private static let logarithms: [Double] = (0..<tableCount).map { log10(Double(max($0, 1))) }

    /// The key of a score and a creation time; O(1).
    package static func key(score: Int64, createTimeMilliseconds: Int64) -> Int64 {
        let seconds = Double(seconds(createTimeMilliseconds))
        let rank = (order(score) + seconds / 45_000) * 1e7
        return Int64(rank.rounded(.toNearestOrEven))
    }

    /// A number not below the key, and at most three above it, without dividing and rounding; for
    /// times up to `RankingLimits.maximumTimeMilliseconds`.
    @inline(__always)
    package static func upperBound(score: Int64, createTimeMilliseconds: Int64) -> Int64 {
        let seconds = Double(seconds(createTimeMilliseconds))
        return Int64(order(score) * 1e7 + seconds * (1e7 / 45_000)) + 2
    }

    @inline(__always)
    private static func order(_ score: Int64) -> Double {
        let magnitude = score.magnitude
        let order =
            magnitude < tableCount ? logarithms[Int(magnitude)] : log10(Double(magnitude))
        return score < 0 ? -order : order
    }

    /// Whole seconds since Reddit's epoch, rounded down before 1970 too.
    @inline(__always)
    private static func seconds(_ milliseconds: Int64) -> Int64 {
        (milliseconds >= 0 ? milliseconds / 1_000 : (milliseconds + 1) / 1_000 - 1) - 1_134_028_003
    }
}
