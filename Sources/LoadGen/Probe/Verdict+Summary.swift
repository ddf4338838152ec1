extension Verdict {
    /// What the figures of a run that was held up show, and how to get a figure to compare.
    static func lowerBoundSummary(_ inputs: Inputs, isClientBound: Bool) -> String {
        let shown = "A lower bound: the service can do at least this much"
        if let count = inputs.crowdedCoreCount {
            let cores = "\(count) core\(count == 1 ? "" : "s")"
            let pinned =
                count == 1
                ? ""
                : ", or give each cores of its own (taskset -c 0 feed-service --threads 1; "
                    + "taskset -c 1 loadgen)"
            return """
                \(shown), as the generator shares \(cores) with it. For a figure to compare, run \
                loadgen on another machine\(pinned).
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
}
