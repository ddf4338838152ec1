/// The keys that a request may refresh before it must continue in a later loop iteration.
///
/// A request keeps one allowance for all of its tries, one an iteration. Each try starts over, and
/// votes between two tries make posts stale again. So each renewal doubles the keys of the try
/// before. A request ends after log2(posts / 8,192) tries or so, however many votes come between
/// them.
package struct RefreshAllowance: Sendable {
    /// The keys of this try, used keys included.
    private var tryKeyCount: Int
    /// The keys left; a refresh that has begun is finished, so this may fall below zero.
    package private(set) var remainingKeyCount: Int

    /// The allowance of a request's first try.
    package init(keyCount: Int = RankingLimits.firstTryKeyCount) {
        tryKeyCount = keyCount
        remainingKeyCount = keyCount
    }

    /// Begins the next try of a request that was told `again`, with twice the keys.
    package mutating func renew() {
        let (doubled, isTooLarge) = tryKeyCount.multipliedReportingOverflow(by: 2)
        tryKeyCount = isTooLarge ? .max : doubled
        remainingKeyCount = tryKeyCount
    }

    /// Whether no further refresh may begin in this try.
    var isUsedUp: Bool { remainingKeyCount <= 0 }

    /// Subtracts the keys that a refresh or a build has moved.
    mutating func charge(_ keyCount: Int) {
        remainingKeyCount -= keyCount
    }
}
