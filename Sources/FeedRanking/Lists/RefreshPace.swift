/// When a stripe's refresh is due, and how much of it is done at once.
package struct RefreshPace: Sendable {
    /// The stale posts below which a refresh is never due.
    package var minimumStaleCount = RankingLimits.minimumStaleCount
    /// A stripe of up to so many posts is refreshed whole.
    package var wholePostCount = RankingLimits.wholeRefreshPostCount
    /// The keys that a step sorts; a step merges four times as many instead.
    package var stepKeyCount = RankingLimits.refreshedKeysPerStep
    /// The posts in the heads of all stripes together: five pages of the largest size.
    package var headPostCount = 512

    /// The posts of side lists that are worked on before the stripe's lock is given up.
    package var sideStepPostCount = RankingLimits.sideStepPostCount

    /// The pace of the service.
    package init() {}
}
