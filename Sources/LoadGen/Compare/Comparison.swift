/// A run beside an earlier one of the same load.
///
/// The seconds of both are two samples. They say how much a run varies within itself, and nothing of
/// what differs from one start of a server to the next.
package struct Comparison: Sendable, Equatable {
    /// The file of the earlier run.
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
    /// The word.
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
