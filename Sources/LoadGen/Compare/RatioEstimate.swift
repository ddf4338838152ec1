import Foundation

/// A ratio of two servers or of two runs, with its interval of 95%.
package struct RatioEstimate: Sendable, Equatable {
    /// The ratio.
    package let ratio: Double
    /// The lower end of the interval.
    package let low: Double
    /// The upper end of the interval.
    package let high: Double

    /// A ratio with its interval.
    package init(ratio: Double, low: Double, high: Double) {
        self.ratio = ratio
        self.low = low
        self.high = high
    }

    /// The fewest pairs that have an interval of 95%.
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

    /// The fewest values of a sample that has an interval.
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

    /// The 97.5th percentile of the normal distribution.
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

    /// How far from 1 the interval reaches, as a share.
    package var reach: Double { max(high, 1 / low) - 1 }
}
