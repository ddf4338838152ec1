/// A condition that is reported when it begins, now and then while it lasts, and when it ends: not
/// more often than ``interval``, and its end only if it was reported before.
package struct Episode {
    /// From one report that it lasts to the next, at least.
    package static let interval = Duration.seconds(10)

    package enum Report: Equatable {
        case lasts
        case ended(after: Duration)
    }

    private var began: ContinuousClock.Instant?
    private var lastReport: ContinuousClock.Instant?
    private var isReported = false

    package init() {}

    package var isUnderWay: Bool { began != nil }

    /// Looks whether the condition holds; returns what is to be reported, if anything.
    package mutating func observe(_ holds: Bool, at now: ContinuousClock.Instant) -> Report? {
        guard holds else {
            guard let began else { return nil }
            self.began = nil
            guard isReported else { return nil }
            isReported = false
            lastReport = now
            return .ended(after: began.duration(to: now))
        }
        began = began ?? now
        if let lastReport, lastReport.duration(to: now) < Self.interval { return nil }
        lastReport = now
        isReported = true
        return .lasts
    }
}
