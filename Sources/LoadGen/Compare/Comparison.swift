import Foundation

/// A run beside an earlier one of the same load.
///
/// The seconds of both are two samples. They say how much a run varies within itself, and nothing of
/// what differs from one start of a server to the next.
package struct Comparison: Sendable, Equatable {
    package let path: String
    /// The difference that counts, as a share.
    package let limit: Double
    /// What is compared: throughput, or in the open loop the 99th percentile of the response time.
    package let figure: ComparedFigure
    /// This run's figure ÷ the earlier one's; nil with fewer than five seconds of either.
    package let ratio: RatioEstimate?
    /// The server's processor time for an operation in this run ÷ that in the earlier one; nil where
    /// one was not seen.
    package let serverCostRatio: Double?
    /// Why there is no word but "cannot tell", a sentence each.
    package let reasons: [String]
    package let judgement: Judgement

    /// Compares `run` with `baseline`, which have the same settings.
    package init(_ run: RunFigures, with baseline: RunFigures, at path: String, limit: Double) {
        self.path = path
        self.limit = limit
        figure = run.settings.isOpenLoop ? .response99 : .throughput
        ratio =
            figure.isRate
            ? RatioEstimate(of: run.rates, to: baseline.rates)
            : RatioEstimate(of: run.response99s, to: baseline.response99s)
        var serverCostRatio: Double?
        if let mine = run.serverCost, let other = baseline.serverCost, other > 0 {
            serverCostRatio = mine / other
        }
        self.serverCostRatio = serverCostRatio
        var reasons: [String] = []
        if run.machine != baseline.machine {
            reasons.append("The earlier run was on another machine (\(baseline.machine)).")
        }
        if !baseline.isComparable {
            reasons.append("The earlier run says that its figures are not to be compared.")
        }
        if !run.isComparable {
            reasons.append("This run's figures are not to be compared; the verdict says why.")
        }
        if ratio == nil {
            reasons.append("Five whole seconds of each run are needed.")
        }
        self.reasons = reasons
        judgement =
            reasons.isEmpty
            ? Judgement(figure.isRate ? ratio : ratio?.inverse, limit: limit) : .cannotTell
    }
}

extension Comparison: JSONDescribed {
    package static let members: [Member<Comparison>] = [
        .written("baseline") { $0.path },
        .written("limit") { $0.limit },
        .written("figure") { $0.figure.rawValue },
        .written("ratio") { $0.ratio?.ratio },
        .written("ratio_ci95") { $0.ratio?.interval },
        .written("server_cpu_ratio") { $0.serverCostRatio },
        .written("verdict") { $0.judgement.rawValue },
        .written("reasons") { $0.reasons },
    ]
}

/// The figures of a run, as far as another run is compared with them.
package struct RunFigures: Sendable, Equatable {
    /// What the load was; figures of two runs are compared only where it is the same.
    package var settings: RunSettings
    package var machine: String
    /// Whether the run's own verdict lets its figures be compared.
    package var isComparable: Bool
    /// Operations answered in each whole measured second.
    package var rates: [Double]
    /// The 99th percentile of the response time of each of those seconds, in milliseconds.
    package var response99s: [Double]
    /// CPU-seconds of the server per million operations; nil where its process was not seen.
    package var serverCost: Double?

    package init(
        settings: RunSettings,
        machine: String,
        isComparable: Bool,
        rates: [Double],
        response99s: [Double],
        serverCost: Double?
    ) {
        self.settings = settings
        self.machine = machine
        self.isComparable = isComparable
        self.rates = rates
        self.response99s = response99s
        self.serverCost = serverCost
    }

    /// The text for a machine, which is equal only for equal ones.
    package static func machine(_ processor: String, _ coreCount: Int) -> String {
        "\(processor), \(coreCount) cores"
    }
}

/// The settings of a load that change its figures, with the flags that set them.
package struct RunSettings: Sendable, Equatable {
    package let values: [Setting]

    package struct Setting: Sendable, Equatable {
        package let flag: String
        package let text: String

        init(_ flag: String, _ text: String) {
            self.flag = flag
            self.text = text
        }
    }

    package init(_ configuration: RunConfiguration) {
        let rate = configuration.ratePerSecond ?? 0
        let ramp: [Double] = configuration.ramp.map { [$0.first, $0.last] } ?? [0]
        let life = configuration.connectionLife
        let age = (life.age ?? .zero) / .seconds(1)
        values = [
            Setting("--protocol", configuration.wireProtocol.rawValue),
            Setting("--clients", "\(configuration.clientCount)"),
            Setting("--pipeline", "\(configuration.pipelineDepth)"),
            Setting("--pipeline-mode", configuration.pipelineMode.rawValue),
            Setting("--batch", "\(configuration.batchVoteCount)"),
            Setting("--rate", NumberFormat.fixed(rate, 0)),
            Setting("--mix", configuration.mix.description),
            Setting("--posts", "\(configuration.postCount)"),
            Setting("--keys", configuration.keys.description),
            Setting("--page-size", "\(configuration.pageSize)"),
            Setting("--voters", "\(configuration.voterCount)"),
            Setting("--think", configuration.think.description),
            Setting("--ramp", ramp.map { NumberFormat.fixed($0, 0) }.joined(separator: ":")),
            Setting("--reconnect-every", "\(life.requestCount ?? 0)"),
            Setting("--conn-life", NumberFormat.fixed(age, 3) + "s"),
        ]
    }

    /// Whether the rate was given, so that the response time is the figure to compare.
    package var isOpenLoop: Bool { values.contains { $0.flag == "--rate" && $0.text != "0" } }

    /// The first setting in which this load and `other` differ, with both values.
    package func difference(
        from other: RunSettings
    ) -> (flag: String, mine: String, other: String)? {
        zip(values, other.values).first { $0 != $1 }.map { ($0.flag, $0.text, $1.text) }
    }
}

/// A ratio of two servers or of two runs, with its interval of 95%.
package struct RatioEstimate: Sendable, Equatable {
    package let ratio: Double
    package let low: Double
    package let high: Double

    package init(ratio: Double, low: Double, high: Double) {
        self.ratio = ratio
        self.low = low
        self.high = high
    }

    package static let fewestPairs = 6

    /// The estimate of Hodges and Lehmann from the ratios of pairs, with the interval that belongs
    /// to Wilcoxon's signed-rank test; nil with fewer than six pairs.
    ///
    /// The estimate is the median of the means of all two ratios, in logarithms, so one outlier in
    /// four moves it little, and no distribution is assumed but a symmetric one (J. L. Hodges and
    /// E. L. Lehmann, "Estimates of Location Based on Rank Tests", Annals of Mathematical Statistics
    /// 34, 1963). O(n³) for n pairs, of which there are at most a few hundred.
    package init?(pairs ratios: [Double]) {
        let count = ratios.count
        guard count >= Self.fewestPairs, ratios.allSatisfy({ $0 > 0 && $0.isFinite }) else {
            return nil
        }
        let logarithms = ratios.map { log($0) }
        var means: [Double] = []
        for one in 0..<count {
            for other in one..<count { means.append((logarithms[one] + logarithms[other]) / 2) }
        }
        self.init(sorted: means.sorted(), outside: Self.signedRankTail(count))
    }

    /// The estimate of Hodges and Lehmann of the ratio `others` to `ones` from two samples, with the
    /// interval that belongs to Wilcoxon's rank-sum test; nil with fewer than five values in one.
    ///
    /// The estimate is the median of the ratios of each to each. The interval uses the normal
    /// approximation of the test. O(n m log(n m)).
    package init?(of others: [Double], to ones: [Double]) {
        guard min(ones.count, others.count) >= Self.fewestSamples,
            (ones + others).allSatisfy({ $0 > 0 && $0.isFinite })
        else { return nil }
        let ratios = ones.flatMap { one in others.map { log($0 / one) } }
        let (n, m) = (Double(ones.count), Double(others.count))
        let deviation = (n * m * (n + m + 1) / 12).squareRoot()
        self.init(
            sorted: ratios.sorted(),
            outside: max(0, Int((n * m / 2 - Self.normalQuantile * deviation).rounded(.down)))
        )
    }

    package static let fewestSamples = 5

    /// The median of `sorted` logarithms, and the interval that leaves out `outside` of them at each
    /// end.
    private init(sorted: [Double], outside: Int) {
        let middle = sorted.count / 2
        let median =
            sorted.count.isMultiple(of: 2)
            ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
        self.init(
            ratio: exp(median),
            low: exp(sorted[outside]),
            high: exp(sorted[sorted.count - 1 - outside])
        )
    }

    private static let normalQuantile = 1.959964

    /// How many sums of signed ranks of `count` pairs have, counted from the lowest, no more than
    /// 2.5% of the probability: the exact distribution, rank by rank.
    private static func signedRankTail(_ count: Int) -> Int {
        var probabilities = [1.0]
        for rank in 1...count {
            var next = [Double](repeating: 0, count: probabilities.count + rank)
            for (sum, probability) in probabilities.enumerated() {
                next[sum] += probability / 2
                next[sum + rank] += probability / 2
            }
            probabilities = next
        }
        var tail = 0.0
        for (sum, probability) in probabilities.enumerated() {
            tail += probability
            // The interval may leave out `sum` values only if a sum below that is unlikely enough.
            if tail > 0.025 { return max(0, sum - 1) }
        }
        return 0
    }
}

/// What a ratio says, in a word.
package enum Judgement: String, Sendable {
    /// Faster, or with less processor time, by more than the limit.
    case faster
    /// No difference as large as the limit.
    case same
    /// Slower, or with more processor time, by more than the limit.
    case slower
    /// The interval is too wide for any of these words.
    case cannotTell = "cannot tell"

    /// Judges a ratio of which a higher one is faster.
    ///
    /// - Parameters:
    ///   - ratio: The ratio; nil where it could not be measured.
    ///   - limit: The difference that counts, as a share: 0.03.
    ///   - floor: The difference that the machine's noise alone shows, as a share.
    package init(_ ratio: RatioEstimate?, limit: Double, floor: Double = 0) {
        guard let ratio else {
            self = .cannotTell
            return
        }
        let margin = 1 + max(limit, floor)
        if ratio.low > margin {
            self = .faster
        } else if ratio.high < 1 / margin {
            self = .slower
        } else if ratio.low >= 1 / (1 + limit), ratio.high <= 1 + limit {
            self = .same
        } else {
            self = .cannotTell
        }
    }
}

extension RatioEstimate {
    /// The inverse: of A to B, where this is of B to A.
    package var inverse: RatioEstimate {
        RatioEstimate(ratio: 1 / ratio, low: 1 / high, high: 1 / low)
    }

    var interval: [Double] { [low, high] }

    /// How far from 1 the interval reaches, as a share.
    package var reach: Double { max(high, 1 / low) - 1 }
}
