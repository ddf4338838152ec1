import Foundation
import LoadGen
import Testing

@Suite struct RatioEstimateTests {
    /// The depression scores of Hollander and Wolfe, "Nonparametric Statistical Methods", whose
    /// estimate is 0.46 and whose interval is 0.010 to 0.786.
    @Test func agreesWithTheTextbookOnPairs() throws {
        let before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
        let after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
        let ratios = zip(before, after).map { exp($0 - $1) }
        let estimate = try #require(RatioEstimate(pairs: ratios))
        #expect(abs(log(estimate.ratio) - 0.46) < 1e-9)
        #expect(abs(log(estimate.low) - 0.010) < 1e-9)
        #expect(abs(log(estimate.high) - 0.786) < 1e-9)
    }

    /// The permeability constants of the same book, whose estimate is 0.305 and whose interval is
    /// -0.15 to 0.76.
    @Test func agreesWithTheTextbookOnSamples() throws {
        let term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
        let early = [1.15, 0.88, 0.90, 0.74, 1.21]
        let estimate = try #require(
            RatioEstimate(of: term.map { exp($0) }, to: early.map { exp($0) })
        )
        #expect(abs(log(estimate.ratio) - 0.305) < 1e-9)
        #expect(abs(log(estimate.low) + 0.15) < 1e-9)
        #expect(abs(log(estimate.high) - 0.76) < 1e-9)
    }

    @Test func hasNoIntervalOfTooFewValues() {
        #expect(RatioEstimate(pairs: [1, 1, 1, 1, 1]) == nil)
        #expect(RatioEstimate(pairs: [1, 1, 1, 1, 1, 1]) != nil)
        #expect(RatioEstimate(pairs: [1, 1, 1, 1, 1, 0]) == nil)
        #expect(RatioEstimate(of: [1, 2, 3, 4], to: [1, 2, 3, 4, 5]) == nil)
    }

    @Test func isMovedLittleByAnOutlier() throws {
        let ratios = [1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0, 30]
        let estimate = try #require(RatioEstimate(pairs: ratios))
        #expect(abs(estimate.ratio - 1) < 0.02)
    }

    /// Of samples without a difference, 95 in 100 intervals hold 1.
    @Test func coversTheTruthAsOftenAsItSays() {
        var stream = RandomStream(seed: 3, thread: 0, client: 0)
        func noise() -> Double {
            exp((0..<12).reduce(-6) { sum, _ in sum + stream.nextUnit() } * 0.05)
        }
        var pairs = 0
        var samples = 0
        for _ in 0..<400 {
            let estimate = RatioEstimate(pairs: (0..<24).map { _ in noise() / noise() })
            if let estimate, estimate.low <= 1, estimate.high >= 1 { pairs += 1 }
            let other = (0..<10).map { _ in noise() }
            let sample = RatioEstimate(of: other, to: (0..<10).map { _ in noise() })
            if let sample, sample.low <= 1, sample.high >= 1 { samples += 1 }
        }
        #expect((368...392).contains(pairs))
        #expect((368...392).contains(samples))
    }

    @Test(
        arguments: [
            (1.04, 1.08, 0.0, .faster), (1.04, 1.08, 0.05, .cannotTell),
            (0.90, 0.95, 0.0, .slower), (0.90, 0.95, 0.2, .cannotTell),
            (0.98, 1.02, 0.0, .same), (0.98, 1.02, 0.2, .same),
            (0.98, 1.04, 0.0, .cannotTell), (0.5, 2, 0.0, .cannotTell),
        ] as [(Double, Double, Double, Judgement)]
    )
    func givesAWord(_ low: Double, _ high: Double, _ floor: Double, _ word: Judgement) {
        let ratio = RatioEstimate(ratio: (low * high).squareRoot(), low: low, high: high)
        #expect(Judgement(ratio, limit: 0.03, floor: floor) == word)
    }

    @Test func cannotTellWhatWasNotMeasured() {
        #expect(Judgement(nil, limit: 0.03) == .cannotTell)
    }
}
