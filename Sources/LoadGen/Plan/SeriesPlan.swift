/// Several runs one after another, as `--search`, `--steps` and `--runs` ask for.
package enum SeriesPlan: Sendable, Equatable {
    /// Looks for the highest rate that keeps service levels.
    case search(SearchPlan)
    /// A run at each rate, in this order.
    case steps(rates: [Double], duration: Duration)
    /// The same run again and again, with a command of the shell between two runs.
    case runs(Int, restartCommand: String?)

    /// The warm-up of a trial or a step, unless another one is asked for: the service is warm.
    package static let settleTime = Duration.seconds(1)
    /// The most steps or runs.
    package static let mostRuns = 1_000
    /// The lowest rate of any open loop: a request every 1,000 s.
    package static let lowestRate = 0.001
    /// The highest rate of any open loop.
    package static let highestRate = 10_000_000.0

    /// The rates of `count` even steps from `first` to `last`.
    package static func steps(from first: Double, to last: Double, count: Int) -> [Double] {
        (0..<count).map { first + (last - first) * Double($0) / Double(max(count - 1, 1)) }
    }
}

/// The order of the steps, as `--steps-order` names it.
package enum StepsOrder: String, Sendable, CaseIterable {
    /// From the first rate to the last.
    case given
    /// In a random order of the seed, so that a drift does not look like an effect of the load.
    case shuffled

    /// The rates in this order.
    package func ordered(_ rates: [Double], seed: UInt64) -> [Double] {
        guard self == .shuffled else { return rates }
        var stream = RandomStream(seed: seed, thread: 0, client: 0, purpose: .trials)
        return rates.shuffled(using: &stream)
    }
}

/// What `--search` looks for, and how.
package struct SearchPlan: Sendable, Equatable {
    /// What a trial must keep.
    package var levels: [ServiceLevel]
    /// The rate of the first trial; nil for a tenth of what a closed loop does.
    package var startRate: Double?
    /// How close the rates of a trial that passes and one that fails come, as a share.
    package var precision = 0.02
    /// How long a trial measures.
    package var trialDuration = Duration.seconds(5)
    /// How many trials confirm a rate; most of them must pass.
    package var confirmCount = 3
    /// How long a confirming trial measures.
    package var confirmDuration = Duration.seconds(20)

    /// A search for the highest rate that keeps `levels`.
    package init(levels: [ServiceLevel]) { self.levels = levels }

    /// The levels in `text`, divided by commas, that a trial can keep; nil where one is none.
    ///
    /// The audit fails a whole search, and a rate is what the search looks for.
    package static func levels(_ text: String) -> [ServiceLevel]? {
        ServiceLevel.list(text).flatMap { levels in
            levels.allSatisfy { $0.subject != .audit && $0.subject != .rate } ? levels : nil
        }
    }

    /// Takes the confirmation that `text` names, as `3x20s`; returns false where it is none.
    package mutating func takeConfirmation(_ text: String) -> Bool {
        let parts = text.split(separator: "x", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let count = Int(parts[0]), (1...99).contains(count),
            let duration = Quantity.duration(String(parts[1])),
            (.milliseconds(100)...(.seconds(3600))).contains(duration)
        else { return false }
        (confirmCount, confirmDuration) = (count, duration)
        return true
    }
}

/// A rate that changes evenly while a run is measured, as `--ramp` names it.
package struct RateRamp: Sendable, Equatable {
    /// Requests a second at the start.
    package let first: Double
    /// Requests a second at the end, and from then on.
    package let last: Double
    /// How long the change takes, in nanoseconds.
    package let nanoseconds: Double

    /// A ramp; one of the rates is above 0.
    package init(from first: Double, to last: Double, over duration: Duration) {
        precondition(first >= 0 && last >= 0 && first + last > 0, "A ramp has a rate.")
        self.first = first
        self.last = last
        nanoseconds = Double(duration.nanoseconds)
    }

    /// The rate on average.
    package var meanRate: Double { (first + last) / 2 }

    /// When request number `count` is due where requests are even, in nanoseconds from the start.
    ///
    /// The inverse of the number of requests due until an instant, which grows with its square: a
    /// plan of an even rate becomes the plan of a ramp by this change of time.
    package func nanoseconds(ofRequest count: Double) -> Double {
        guard count > 0 else { return 0 }
        let total = meanRate * nanoseconds / 1e9
        guard count < total else {
            return last > 0 ? nanoseconds + (count - total) / last * 1e9 : Double(UInt64.max / 4)
        }
        let slope = (last - first) / (nanoseconds / 1e9)
        let root = (first * first + 2 * slope * count).squareRoot()
        return 2 * count / (first + root) * 1e9
    }
}
