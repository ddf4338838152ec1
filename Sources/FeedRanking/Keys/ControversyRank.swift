import Glibc

/// Reddit's controversy: many votes, up and down alike.
///
/// `(ups + downs) ^ (min(ups, downs) / max(ups, downs))` in doubles, and 0 for a post without
/// upvotes or without downvotes, from `_sorts.pyx::controversy`.
package enum ControversyRank {
    /// The controversy; not negative.
    package static func value(upvoteCount: UInt64, downvoteCount: UInt64) -> Double {
        guard upvoteCount > 0, downvoteCount > 0 else { return 0 }
        let balance =
            Double(min(upvoteCount, downvoteCount)) / Double(max(upvoteCount, downvoteCount))
        return pow(Double(upvoteCount + downvoteCount), balance)
    }
}
