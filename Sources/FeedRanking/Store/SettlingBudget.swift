/// How many keys a request may settle before it has to go on in a later turn.
///
/// A request keeps one budget for all of its turns. Each try starts over, and votes that came
/// between two turns have made stripes dirty again; so each renewal doubles what the turn before
/// had, and a request ends within log2(posts / 8,192) turns or so, whatever comes in between.
package struct SettlingBudget: Sendable {
    /// The keys of this turn, of which some are used.
    private var turnKeyCount: Int
    /// The keys left; a settle that began is finished, so this may fall below zero.
    package private(set) var remainingKeyCount: Int

    /// The budget of a request's first turn.
    package init(keyCount: Int = RankingLimits.settlingKeysPerTurn) {
        turnKeyCount = keyCount
        remainingKeyCount = keyCount
    }

    /// Begins the next turn of the request that was told `again`, with twice the keys.
    package mutating func renew() {
        let (doubled, isTooLarge) = turnKeyCount.multipliedReportingOverflow(by: 2)
        turnKeyCount = isTooLarge ? .max : doubled
        remainingKeyCount = turnKeyCount
    }

    /// Whether no further settle may begin in this turn.
    var isUsedUp: Bool { remainingKeyCount <= 0 }

    /// Notes keys that a settle or a build has moved.
    mutating func charge(_ keyCount: Int) {
        remainingKeyCount -= keyCount
    }
}
