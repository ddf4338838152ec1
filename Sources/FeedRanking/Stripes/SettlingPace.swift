/// When a stripe's settling is due, and how much of it is done at once.
package struct SettlingPace: Sendable {
    /// The dirty posts below which settling is never due.
    package var minimumBacklogCount = RankingLimits.minimumBacklogCount
    /// Up to so many posts a stripe is settled whole.
    package var wholePostCount = RankingLimits.wholeSettlingPostCount
    /// The keys sorted in a step, or four times as many merged.
    package var stepKeyCount = RankingLimits.settlingKeysPerStep
    /// The posts before the floors of all stripes together: five pages of the largest size.
    package var floorPostCount = 512

    /// The pace of the service.
    package init() {}
}
