internal import Histogram

/// Whether the service kept the levels of a search in one trial.
struct TrialJudgement: Sendable {
    /// How the trial ended.
    let outcome: CapacitySearch.Outcome
    /// Why it did not pass; a few words each.
    let reasons: [String]

    /// Judges a trial at `rate` requests a second.
    ///
    /// A level of response times alone would pass a trial whose queue grows, while the trial is
    /// short. So the rate must be reached too, and no request may wait for room at the end.
    init(_ result: RunReport, rate: Double) {
        var reasons = result.serviceLevels.filter { !$0.isKept }.map { level in
            "\(level.level.text) is \(level.valueText)"
        }
        // Of the requests that were due: a random plan has a few more or less than the rate says.
        let dueCount =
            result.totals.unsentCount + (result.totals.merged(.response)?.totalCount ?? 0)
        if Double(result.totals.measuredRequestCount) < Self.reachedShare * Double(dueCount)
            || dueCount == 0
        {
            reasons.append("\(NumberFormat.rate(result.requestsPerSecond))/s completed")
        }
        let waited = Double(result.totals.unsentCount) / rate * 1e9
        if waited > Self.longestWait {
            reasons.append(
                "\(NumberFormat.milliseconds(waited)) ms of requests had no room at the end"
            )
        }
        let limitsErrors = result.serviceLevels.contains { $0.level.subject == .errors }
        if !limitsErrors, result.failedShare > 0 {
            reasons.append("\(NumberFormat.percent(result.failedShare, digits: 3)) errors")
        }
        if result.isGeneratorSaturated {
            reasons.append("the generator is at its limit")
            outcome = .generator
        } else if !reasons.isEmpty, result.isMachineBusy {
            reasons.append("others used the machine")
            outcome = .busy
        } else {
            outcome = reasons.isEmpty ? .passed : .failed
        }
        self.reasons = reasons
    }

    /// The share of the offered requests that must be completed.
    private static let reachedShare = 0.99
    /// How long requests may wait for room when a trial ends, in nanoseconds.
    private static let longestWait = 1e6
}
