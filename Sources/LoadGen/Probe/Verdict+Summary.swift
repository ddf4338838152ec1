extension Verdict {
    /// What the figures of a run that was held up show, and how to get a figure to compare.
    static func lowerBoundSummary(_ inputs: Inputs, isClientBound: Bool) -> String {
        let shown = "A lower bound: the service can do at least this much"
        if let shared = shared(inputs) {
            return """
                \(shown), as the generator shares \(shared.cores) with it. For a figure to compare, \
                \(shared.advice).
                """
        }
        if isClientBound {
            return """
                \(shown), as the generator was at its limit. For a figure to compare, give it more \
                --threads, --clients or --pipeline, or a machine of its own.
                """
        }
        return """
            \(shown), as other programs used the machine. For a figure to compare, run on a quiet \
            machine.
            """
    }

    /// What is wrong with the figures of a run that are not comparable, and how to get such that are.
    static func notComparableSummary(
        _ inputs: Inputs,
        isClientBound: Bool,
        isContended: Bool
    ) -> String {
        let start = "Compare no figure of this run with another's: "
        if inputs.lostConnectionCount > 0 || isMissingAnswers(inputs) {
            return start + "find out first why answers are missing."
        }
        if isClientBound || isContended, let shared = shared(inputs) {
            return start + """
                the generator shares \(shared.cores) with the service. For one to compare, \
                \(shared.advice).
                """
        }
        if isClientBound {
            return start + """
                each latency has a part that is the generator's. Give it more --threads, or a machine of \
                its own.
                """
        }
        if isContended {
            return start + "other programs used the machine. Run on a quiet machine."
        }
        if inputs.hadNoRoom {
            return start + "take more --clients or --pipeline, or a lower --rate."
        }
        return start + "run longer\(inputs.isOpenLoop ? ", or with a lower --rate" : "")."
    }

    /// What is to be done where the generator shares cores with the service; nil where it does not.
    private static func shared(_ inputs: Inputs) -> (cores: String, advice: String)? {
        guard let count = inputs.crowdedCoreCount else { return nil }
        let cores = "\(count) core\(count == 1 ? "" : "s")"
        let pinned =
            count == 1
            ? ""
            : ", or give each cores of its own (taskset -c 0 feed-service --threads 1; "
                + "taskset -c 1 loadgen)"
        return (cores, "run loadgen on another machine\(pinned)")
    }
}
