/// Several runs one after another, as `--search`, `--steps` and `--runs` ask for.
package enum SeriesPlan: Sendable, Equatable {
    case search(SearchPlan)
    /// A run at each rate, in this order.
    case steps(rates: [Double], duration: Duration)
    /// The same run again and again, with a command of the shell between two runs.
    case runs(Int, restartCommand: String?)

    /// The warm-up of a trial or a step, unless another one is asked for: the service is warm.
    package static let settleTime = Duration.seconds(1)
    package static let mostRuns = 1_000
    /// The lowest rate of any open loop: a request every 1,000 s.
    package static let lowestRate = 0.001
    package static let highestRate = 10_000_000.0

    /// The rates of `count` even steps from `first` to `last`.
    package static func steps(from first: Double, to last: Double, count: Int) -> [Double] {
        (0..<count).map { first + (last - first) * Double($0) / Double(max(count - 1, 1)) }
    }
}

package enum StepsOrder: String, Sendable, CaseIterable {
    case given
    /// In a random order of the seed, so that a drift does not look like an effect of the load.
    case shuffled

    package func ordered(_ rates: [Double], seed: UInt64) -> [Double] {
        guard self == .shuffled else { return rates }
        var stream = RandomStream(seed: seed, thread: 0, client: 0, purpose: .trials)
        return rates.shuffled(using: &stream)
    }
}

/// What `--search` looks for, and how.
package struct SearchPlan: Sendable, Equatable {
    package var levels: [ServiceLevel]
    /// The rate of the first trial; nil for a tenth of what a closed loop does.
    package var startRate: Double?
    /// How close the rates of a trial that passes and one that fails come, as a share.
    package var precision = 0.02
    package var trialDuration = Duration.seconds(5)
    /// How many trials confirm a rate; most of them must pass.
    package var confirmCount = 3
    package var confirmDuration = Duration.seconds(20)

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

    package init(from first: Double, to last: Double, over duration: Duration) {
        precondition(first >= 0 && last >= 0 && first + last > 0, "A ramp has a rate.")
        self.first = first
        self.last = last
        nanoseconds = Double(duration.nanoseconds)
    }

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

/// A condition that must hold at the end, as `--slo` names it.
package struct ServiceLevel: Sendable, Equatable {
    package enum Subject: Sendable, Equatable {
        /// A percentile of the response time in nanoseconds, of one operation or of all.
        case percentile(Double, Operation?)
        /// The longest response time in nanoseconds.
        case maximum(Operation?)
        /// Answers a second.
        case rate
        /// The share of requests that were not answered with success, in percent.
        case errors
        /// CPU-seconds of the service per million operations.
        case serverCPU
        /// Whether the audit passed: 1 or 0.
        case audit
    }

    package enum Comparison: String, Sendable, CaseIterable {
        case atMost = "<="
        case atLeast = ">="
        case below = "<"
        case above = ">"
        case equal = "="

        func holds(_ value: Double, _ limit: Double) -> Bool {
            switch self {
            case .atMost: value <= limit
            case .atLeast: value >= limit
            case .below: value < limit
            case .above: value > limit
            case .equal: value == limit
            }
        }
    }

    package let text: String
    package let subject: Subject
    package let comparison: Comparison
    /// The limit, in the subject's unit.
    package let limit: Double

    /// The forms that `--slo` takes, for its error.
    package static let forms = """
        p99<5ms, vote.p99.9<20ms, max<1s, rate>=100k, errors<0.01%, cpu<6s/M or audit=ok, each with its \
        unit, or several with commas
        """

    /// The service levels in `text`, divided by commas; nil where one is none.
    package static func list(_ text: String) -> [Self]? {
        let levels = text.split(separator: ",", omittingEmptySubsequences: false)
            .map { Self(parsing: String($0)) }
        let known = levels.compactMap(\.self)
        return known.count == levels.count ? known : nil
    }

    package init?(parsing text: String) {
        let found = Comparison.allCases.lazy.compactMap { comparison in
            text.firstRange(of: comparison.rawValue).map { (comparison, $0) }
        }.first
        guard let (comparison, range) = found else { return nil }
        let subject = Subject(parsing: String(text[..<range.lowerBound]))
        let value = String(text[range.upperBound...])
        guard let subject, let limit = subject.limit(value, comparison) else { return nil }
        self.text = text
        self.subject = subject
        self.comparison = comparison
        self.limit = limit
    }

    /// Whether `value` holds; a missing value never does.
    package func holds(_ value: Double?) -> Bool {
        value.map { comparison.holds($0, limit) } ?? false
    }
}

extension ServiceLevel.Subject {
    /// The operation whose response times are checked; nil where it is not of one alone.
    package var operation: Operation? {
        switch self {
        case .percentile(_, let operation), .maximum(let operation): operation
        case .rate, .errors, .serverCPU, .audit: nil
        }
    }

    fileprivate init?(parsing text: String) {
        switch text {
        case "rate": self = .rate
        case "errors": self = .errors
        case "cpu": self = .serverCPU
        case "audit": self = .audit
        default:
            var name = Substring(text)
            var operation: Operation?
            if let dot = text.firstIndex(of: "."), let named = Operation(name: text[..<dot]) {
                operation = named
                name = text[text.index(after: dot)...]
            }
            if name == "max" {
                self = .maximum(operation)
            } else if name.first == "p", let percentile = Double(name.dropFirst()), percentile > 0,
                percentile < 100
            {
                self = .percentile(percentile, operation)
            } else {
                return nil
            }
        }
    }

    fileprivate func limit(_ text: String, _ comparison: ServiceLevel.Comparison) -> Double? {
        // Only the audit compares for equality: two measured numbers are never equal.
        guard (self == .audit) == (comparison == .equal) else { return nil }
        switch self {
        // A bound without its unit is a guess: 5 is meant as milliseconds, and would be seconds.
        case .percentile, .maximum:
            guard !Quantity.isBare(text) else { return nil }
            return Quantity.duration(text).map { Double($0.nanoseconds) }
        case .rate: return Quantity.rate(text)
        case .errors: return Quantity.isBare(text) ? nil : Quantity.percent(text)
        case .serverCPU:
            guard text.hasSuffix("s/M"), let value = Double(text.dropLast(3)), value > 0 else {
                return nil
            }
            return value
        case .audit: return text == "ok" ? 1 : nil
        }
    }
}
