/// How many keys one call may settle before it has to go on in a later turn.
package struct SettlingBudget: Sendable {
    /// About a millisecond's worth.
    package static let defaultKeyCount = 8_192

    /// The keys left; a settle that began is finished, so this may fall below zero.
    package private(set) var remainingKeyCount: Int

    package init(keyCount: Int = SettlingBudget.defaultKeyCount) {
        remainingKeyCount = keyCount
    }

    var isUsedUp: Bool { remainingKeyCount <= 0 }

    mutating func charge(_ keyCount: Int) {
        remainingKeyCount -= keyCount
    }
}
