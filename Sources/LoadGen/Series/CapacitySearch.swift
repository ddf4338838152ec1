/// The trials of a search for the highest rate that keeps its levels; a value that sends nothing
/// and reads no clock.
///
/// ```
/// climb: × 2 until one fails ─► bisect to the precision ─► confirm, also 5% above ─► draw a curve
/// ```
///
/// A rate is confirmed where most of its trials pass, so that one disturbed trial decides nothing.
/// Where the rate that the bisection found is not confirmed, lower ones are tried, by the precision
/// each time.
package struct CapacitySearch: Sendable {
    /// What a trial is for, in the order of a search.
    package enum Phase: String, Sendable {
        case climb, bisect, confirm, curve
    }

    package enum Outcome: String, Sendable {
        case passed
        /// One was missed, or the rate was not reached.
        case failed
        /// The generator was at its limit, so the trial shows nothing of the service.
        case generator = "generator limit"
        /// One was missed while others used the machine, so the trial does not say why.
        case busy = "busy machine"
    }

    package struct Trial: Sendable, Equatable {
        package let phase: Phase
        /// Requests a second.
        package let rate: Double
    }

    private enum State {
        /// Between a rate that passed and one that did not; the outcomes are of the nearest ones.
        case narrowing(low: Double?, high: Double?)
        case confirming(Confirmation)
        case drawing([Double])
        case done
    }

    private struct Confirmation {
        let rate: Double
        var passCount = 0
        var failCount = 0
        var loweredCount = 0
    }

    /// The highest confirmed rate; nil while there is none.
    package private(set) var capacity: Double?
    /// How the trial ended that keeps the rate from being higher: the service did only where it failed.
    package private(set) var limit = Outcome.failed

    private let precision: Double
    private let confirmCount: Int
    private let startRate: Double
    private let seed: UInt64
    private var state = State.narrowing(low: nil, high: nil)

    package init(_ plan: SearchPlan, startRate: Double, seed: UInt64) {
        precision = plan.precision
        confirmCount = plan.confirmCount
        self.startRate = min(max(startRate, Self.lowestRate), SeriesPlan.highestRate)
        self.seed = seed
    }

    /// The next trial; nil where the search is over.
    package var next: Trial? {
        switch state {
        case .narrowing(let low?, let high?):
            Trial(phase: .bisect, rate: (low * high).squareRoot())
        case .narrowing(let low?, nil):
            Trial(phase: .climb, rate: min(2 * low, SeriesPlan.highestRate))
        case .narrowing(nil, let high?): Trial(phase: .climb, rate: high / 2)
        case .narrowing(nil, nil): Trial(phase: .climb, rate: startRate)
        case .confirming(let confirmation): Trial(phase: .confirm, rate: confirmation.rate)
        case .drawing(let rates): rates.first.map { Trial(phase: .curve, rate: $0) }
        case .done: nil
        }
    }

    package mutating func record(_ outcome: Outcome) {
        guard let trial = next else { preconditionFailure("A search that is over has no trial.") }
        switch state {
        case .narrowing(let low, let high):
            if outcome == .passed {
                narrow(low: trial.rate, high: high)
            } else {
                limit = outcome
                narrow(low: low, high: trial.rate)
            }
        case .confirming(let confirmation): confirm(confirmation, outcome)
        case .drawing(let rates):
            state = rates.count > 1 ? .drawing(Array(rates.dropFirst())) : .done
        case .done: break
        }
    }

    private mutating func narrow(low: Double?, high: Double?) {
        state = .narrowing(low: low, high: high)
        switch (low, high) {
        case (let low?, let high?):
            if high / low <= 1 + precision { state = .confirming(Confirmation(rate: low)) }
        case (let low?, nil):
            if low >= SeriesPlan.highestRate { state = .confirming(Confirmation(rate: low)) }
        case (nil, let high?):
            if high <= Self.lowestRate { state = .done }
        case (nil, nil): break
        }
    }

    private mutating func confirm(_ running: Confirmation, _ outcome: Outcome) {
        var confirmation = running
        if outcome == .passed { confirmation.passCount += 1 } else { confirmation.failCount += 1 }
        state = .confirming(confirmation)
        if confirmation.passCount > confirmCount / 2 {
            let isRaised = capacity != nil
            capacity = confirmation.rate
            let higher = confirmation.rate * Self.step
            if isRaised || confirmation.loweredCount > 0 || higher > SeriesPlan.highestRate {
                draw()
            } else {
                state = .confirming(Confirmation(rate: higher))
            }
        } else if confirmation.failCount >= (confirmCount + 1) / 2 {
            if outcome != .passed { limit = outcome }
            guard capacity == nil else { return draw() }
            guard confirmation.loweredCount < Self.mostLowered else {
                state = .done
                return
            }
            state = .confirming(
                Confirmation(
                    rate: confirmation.rate / (1 + precision),
                    loweredCount: confirmation.loweredCount + 1
                )
            )
        }
    }

    /// Plans the points of the curve, in random order, so that a drift does not look like load.
    private mutating func draw() {
        guard let capacity else { return }
        let rates = Self.curveShares.map { $0 * capacity }
        state = .drawing(StepsOrder.shuffled.ordered(rates, seed: seed))
    }

    /// Below this rate no service is looked for.
    private static let lowestRate = 1.0
    /// How far above the rate that the bisection found is confirmed, too.
    private static let step = 1.05
    /// How often a rate is lowered that is not confirmed: with a precision of 2% to a half.
    private static let mostLowered = 35
    /// Where latency is drawn over load, as shares of the capacity.
    private static let curveShares = [0.1, 0.3, 0.5, 0.7, 0.9, 1.1]
}
