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
    /// Whether the last step has left work to do.
    private var isCut = false
    /// Whether a step of this try has left work to do.
    private var isStepwise = false

    /// The allowance of a request's first try.
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

    /// Whether no further refresh may begin in this try.
    var isUsedUp: Bool { remainingKeyCount <= 0 }

    /// Notes that a step has left work to do.
    mutating func endStep() {
        isCut = true
        isStepwise = true
        stepCount += 1
    }

    /// Begins a further step of this try, where the last one has left work to do and keys are left.
    ///
    /// - Returns: Whether there is a further step.
    mutating func beginStep() -> Bool {
        guard isCut, !isUsedUp else { return false }
        isCut = false
        return true
    }

    /// The step of a side list that this try may do; all of the list where steps have not led to an
    /// end, or the keys are not limited.
    func sideStep(_ pace: RefreshPace) -> SideStep {
        let isLimited = stepCount < RankingLimits.maximumSideStepCount && tryKeyCount < .max
        return SideStep(postCount: isLimited ? pace.sideStepPostCount : .max / 4)
    }

    /// Subtracts the keys that a refresh or a build has moved.
    mutating func charge(_ keyCount: Int) {
        remainingKeyCount -= keyCount
    }
}
