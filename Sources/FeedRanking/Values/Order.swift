/// The order of a list; every order is total.
///
/// The raw values are stored in data directories, so they never change.
package enum Order: UInt8, CaseIterable, Sendable {
    /// Score from the highest, then title in the byte order of its UTF-8, then id from the lowest.
    case top
    /// Creation time from the latest, then id from the highest.
    case new
    /// `new` walked backwards.
    case old
    /// Hot key (`HotRank`) from the highest, then id from the lowest.
    case hot
    /// Confidence (`ConfidenceRank`) from the highest, then id from the lowest.
    case best
    /// Controversy (`ControversyRank`) from the highest, then id from the lowest.
    case controversial
    /// Decayed rate of upvotes (`RisingSum`) from the highest, then id from the lowest.
    case rising
    /// Number of comments from the highest, then id from the lowest.
    case discussed

    package var allowsWindow: Bool {
        switch self {
        case .top, .controversial, .discussed: true
        case .new, .old, .hot, .best, .rising: false
        }
    }
}
