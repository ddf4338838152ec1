/// The keys that a request may refresh before it must continue in a later loop iteration.
///
/// A request keeps one allowance for all of its tries, one an iteration. Each try starts over, and
/// votes between two tries make posts stale again. So each renewal doubles the keys of the try
/// before. A request ends after log2(posts / 8,192) tries or so, however many votes come between
/// them.
///
/// A side list is worked on in steps, each of which gives up the stripe's lock at its end. A try makes
/// as many of them as its keys allow, and the next try continues. So such tries are doubled four times
/// only: that suffices for what votes leave between two tries.
package struct RefreshAllowance: Sendable {
    /// The most keys of a try that follows one with steps, as a multiple of the first try's.
    private static let stepwiseFactor = 16

    /// The keys of a try that follows one with steps, at most.
    private let stepwiseKeyCount: Int
    /// The keys of this try, used keys included.
    private var tryKeyCount: Int
    /// The keys left; a refresh that has begun is finished, so this may fall below zero.
    package private(set) var remainingKeyCount: Int
    /// The steps that have left work to do.
    private var stepCount = 0
    /// The posts that the step under way may still work on, and those that it has and not charged.
    private var stepPostCount = 0
    private var lookCount = 0
    /// Whether the last step has left work to do.
    private(set) var isCut = false
    /// Whether a step of this try has left work to do.
    private var isStepwise = false

    package init(keyCount: Int = RankingLimits.firstTryKeyCount) {
        tryKeyCount = keyCount
        remainingKeyCount = keyCount
        let (limit, isTooLarge) = keyCount.multipliedReportingOverflow(by: Self.stepwiseFactor)
        stepwiseKeyCount = isTooLarge ? .max : limit
    }

    /// Begins the next try of a request that was told `again`, with twice the keys.
    ///
    /// A try that follows one with steps gets sixteen times the first try's keys at most.
    package mutating func renew() {
        let limit = isStepwise ? max(stepwiseKeyCount, tryKeyCount) : .max
        let (doubled, isTooLarge) = tryKeyCount.multipliedReportingOverflow(by: 2)
        tryKeyCount = min(isTooLarge ? .max : doubled, limit)
        remainingKeyCount = tryKeyCount
        isCut = false
        isStepwise = false
    }

    var isUsedUp: Bool { remainingKeyCount <= 0 }

    mutating func charge(_ keyCount: Int) { remainingKeyCount -= keyCount }

    // A step: what a reader may still do for side lists before it gives up the stripe's lock, in posts.
    //
    // A build or a refresh that does not fit into a step is continued by a later one, which finds what
    // the steps before have done.

    /// What a post of the tail costs, whose key is sorted and merged.
    static let tailPostCost = 2

    /// Begins a step; all of the list where steps have not led to an end, or the keys are not limited.
    mutating func startStep(_ pace: RefreshPace) {
        let isLimited = stepCount < RankingLimits.maximumSideStepCount && tryKeyCount < .max
        stepPostCount = isLimited ? pace.sideStepPostCount : .max / 4
        lookCount = 0
        isCut = false
    }

    /// Takes as many of some posts as the step still allows; returns how many.
    mutating func take(_ wanted: Int, costing cost: Int = 1) -> Int {
        let count = min(wanted, room(costing: cost))
        stepPostCount -= count * cost
        lookCount += count * cost
        if count < wanted { isCut = true }
        return count
    }

    func room(costing cost: Int = 1) -> Int { stepPostCount / cost }

    mutating func cutStep() {
        stepPostCount = 0
        isCut = true
    }

    /// Charges the posts that were looked at, each as a quarter of a key; returns whether all was done.
    mutating func chargeLooks() -> Bool {
        charge(lookCount / 4)
        lookCount = 0
        guard isCut else { return true }
        isStepwise = true
        stepCount += 1
        return false
    }

    /// Begins a further step of this try; false unless the last one has left work to do and keys are left.
    mutating func beginStep() -> Bool {
        guard isCut, !isUsedUp else { return false }
        isCut = false
        return true
    }
}

/// When a stripe's refresh is due, and how much of it is done at once.
package struct RefreshPace: Sendable {
    package var minimumStaleCount = RankingLimits.minimumStaleCount
    package var wholePostCount = RankingLimits.wholeRefreshPostCount
    /// The keys that a step sorts; a step merges four times as many instead.
    package var stepKeyCount = RankingLimits.refreshedKeysPerStep
    /// The posts in the heads of all stripes together: five pages of the largest size.
    package var headPostCount = 512

    package var sideStepPostCount = RankingLimits.sideStepPostCount

    package init() {}
}
