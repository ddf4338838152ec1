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

extension RunResult {
    /// The number of cores that service and generator share, where they, or all programs of the
    /// machine, left less than a fifth of the time unused.
    ///
    /// It is nil where they share none or had room.
    package var crowdedCoreCount: Int? {
        guard let server, let generator, measuredSeconds > 0 else { return nil }
        let shared = server.cores.intersection(generator.cores)
        guard !shared.isEmpty else { return nil }
        let all = server.cores.union(generator.cores)
        let own = (server.seconds + generator.seconds) / measuredSeconds / Double(all.count)
        let whole = machine.map { $0.busyShare + $0.stealShare } ?? 0
        return max(own, whole) > 0.8 ? shared.count : nil
    }
}
