/// Reddit's confidence, by which BEST sorts: the lower bound of Wilson's interval for the share of
/// upvotes, at 80 %.
///
/// From `_sorts.pyx::_confidence`, with n = ups + downs and p = ups / n:
/// `(p + z²/(2n) - z * sqrt(p(1 - p)/n + z²/(4n²))) / (1 + z²/n)`. The operations are those of IEEE
/// 754 doubles in the order of `value`, so other programs compute the same bits. See Wilson,
/// "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).
package enum ConfidenceRank {
    private static let z = 1.281551565545

    /// The confidence in 0 to 1; 0 for a post without upvotes, where the formula is 0, too.
    package static func value(upvoteCount: UInt64, downvoteCount: UInt64) -> Double {
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
    static func spread(at confidence: Double) -> Double {
        z * z * confidence * (1 - confidence)
    }
}
