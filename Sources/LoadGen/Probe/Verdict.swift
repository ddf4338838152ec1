/// What limited the run, and whether its figures may be trusted.
package struct Verdict: Sendable, Equatable {
    package enum Bound: String, Sendable {
        case server = "SERVER-BOUND"
        case client = "CLIENT-BOUND"
        case both = "BOTH SATURATED"
        case none = "NOT SATURATED"
        case unknown = "SERVER NOT SEEN"
    }

    package enum Figures: String, Sendable {
        case comparable = "comparable"
        /// The service does at least as much: the generator or other programs held the run up.
        case lowerBound = "lower bound"
        case notComparable = "not comparable"
    }

    /// What was seen of the machine while requests were measured; nil is what could not be seen.
    package struct Inputs: Sendable {
        /// The share of a core that the busiest thread of the generator used.
        package var generatorThreadShare = 0.0
        /// The share of time that the least idle loop of the generator slept.
        package var loopIdleShare: Double?
        /// The share of a core that the busiest thread of the service used.
        package var serverThreadShare: Double?
        /// The share of time that this thread waited for a core.
        package var serverWaitShare: Double?
        /// Time that the host gave to other machines, as a share of all cores.
        package var stealShare = 0.0
        /// Time that other processes took, as a share of all cores.
        package var otherShare = 0.0
        /// The cores that service and generator share, where the two had little room on them.
        package var crowdedCoreCount: Int?
        /// Open loop: the 99th percentiles of slip and response.
        package var slip99AndResponse99: (slip: Double, response: Double)?
        /// Open loop: how late the loop came to what was due, as a 99th percentile; nil where nobody knows,
        /// and the slip then counts as the loop's.
        package var loopLate99: Double?
        /// Open loop: requests a second by the plan and as answered.
        package var offeredAndAchieved: (offered: Double, achieved: Double)?
        /// Open loop: how many requests a second fewer than planned may be due by chance.
        package var chanceOfPlan = 0.0
        /// Requests that had no answer in time, or none when their connection or the run ended.
        package var unansweredCount: UInt64 = 0
        package var sentCount: UInt64 = 0
        /// Connections that were lost, also those that were opened again.
        package var lostConnectionCount: UInt64 = 0
        /// Measured requests that were answered with success; nil where that is not looked at.
        package var sampleCount: UInt64?
        /// How much faster the last third of the seconds was than the first, as a share.
        package var drift: Double?

        package init() {}

        /// Whether a plan says when requests leave: then throughput says nothing of what the service
        /// could do.
        var isOpenLoop: Bool { offeredAndAchieved != nil || slip99AndResponse99 != nil }

        /// Whether a delay of the open loop is large enough to count, beside the response times.
        func isLong(_ delay: Double?) -> Bool {
            guard let delay, let (_, response) = slip99AndResponse99 else { return false }
            return delay > slipLimit * response
        }

        var isLoopLate: Bool { isLong(loopLate99 ?? slip99AndResponse99?.slip) }

        /// Whether requests left late though the loop was not: no connection had room.
        var hadNoRoom: Bool { isLong(slip99AndResponse99?.slip) && !isLoopLate }
    }

    package let bound: Bound
    /// Whether other processes took more of the machine than the figures allow.
    package let isContended: Bool
    /// Why the figures may not be trusted, and what else is worth knowing; a sentence each.
    package let reasons: [String]
    package let isValid: Bool
    package let figures: Figures
    /// What the figures of a run show that are not comparable, and how to get comparable ones; nil
    /// where they are comparable.
    package let summary: String?

    package init(_ inputs: Inputs) {
        var faults = Self.clientFaults(inputs)
        let isClientBound = !faults.isEmpty
        let isServerBound = (inputs.serverThreadShare ?? 0) >= Self.serverThreadLimit
        switch (isClientBound, isServerBound) {
        case (true, true):
            bound = .both
            if !inputs.isOpenLoop {
                faults.append(
                    "Both sides are saturated: throughput is a lower bound for the server."
                )
            }
        case (true, false): bound = .client
        case (false, true): bound = .server
        case (false, false): bound = inputs.serverThreadShare == nil ? .unknown : .none
        }
        let contention = Self.contention(inputs)
        isContended = !contention.isEmpty
        faults += contention
        faults += Self.waits(inputs) + Self.losses(inputs) + Self.samples(inputs)
        if let (offered, achieved) = inputs.offeredAndAchieved,
            achieved < 0.99 * offered - inputs.chanceOfPlan
        {
            faults.append(
                """
                Offered \(NumberFormat.rate(offered))/s but \(NumberFormat.rate(achieved))/s were \
                completed: latency above is queueing and grows with --duration.
                """
            )
        }
        if let drift = inputs.drift, abs(drift) > Self.driftLimit {
            faults.append("Throughput drifted by \(NumberFormat.percent(drift)) during the run.")
        }
        isValid = faults.isEmpty
        reasons = faults
        if isValid {
            figures = .comparable
            summary = nil
        } else if (isClientBound || isContended) && !inputs.isOpenLoop {
            figures = .lowerBound
            summary = Self.lowerBoundSummary(inputs, isClientBound: isClientBound)
        } else {
            figures = .notComparable
            summary = Self.notComparableSummary(
                inputs,
                isClientBound: isClientBound,
                isContended: isContended
            )
        }
    }

    /// Whether others took more of the machine than the figures allow.
    static func isBusy(steal: Double, other: Double) -> Bool { steal + other > contentionLimit }

    /// A generator thread this busy delays what it measures.
    private static let clientThreadLimit = 0.85
    /// A loop that sleeps less than this has answers waiting for it.
    private static let idleLimit = 0.10
    /// Slip beyond this share of the response time is the generator's, not the service's.
    private static let slipLimit = 0.10
    /// Of fewer samples less than ten lie beyond the 99th percentile.
    private static let fewestSamples: UInt64 = 1_000
    /// A thread of the service that is this busy is the limit.
    private static let serverThreadLimit = 0.95
    private static let contentionLimit = 0.03
    private static let serverWaitLimit = 0.05
    /// The share of requests that may have no answer: they would be beyond the 99.99th percentile.
    private static let unansweredLimit = 0.0001
    private static let driftLimit = 0.05

    /// Whether a generator with such a busiest thread and such a least idle loop has no time left.
    static func isSaturated(threadShare: Double, loopIdleShare: Double?) -> Bool {
        threadShare >= clientThreadLimit || loopIdleShare ?? 1 < idleLimit
    }

    private static func clientFaults(_ inputs: Inputs) -> [String] {
        var faults: [String] = []
        if inputs.generatorThreadShare >= clientThreadLimit {
            let share = NumberFormat.percent(inputs.generatorThreadShare, digits: 0)
            faults.append("A generator thread used \(share) of a core (limit 85%).")
        }
        if let idle = inputs.loopIdleShare, idle < idleLimit {
            let share = NumberFormat.percent(idle, digits: 0)
            faults.append("A generator loop was idle \(share) of the time (limit 10%).")
        }
        if let (slip, response) = inputs.slip99AndResponse99, inputs.isLoopLate {
            let late = NumberFormat.milliseconds(inputs.loopLate99 ?? slip)
            faults.append(
                """
                The generator's loop was late (p99 \(late) ms), by more than 10% of the response time (p99 \
                \(NumberFormat.milliseconds(response)) ms).
                """
            )
        }
        return faults
    }

    private static func waits(_ inputs: Inputs) -> [String] {
        guard inputs.hadNoRoom, let (slip, response) = inputs.slip99AndResponse99 else { return [] }
        return [
            """
            No connection had room for requests that were due: they left late (p99 \
            \(NumberFormat.milliseconds(slip)) ms of \(NumberFormat.milliseconds(response)) ms). The service \
            was slower than the plan, or the run needs more --clients or --pipeline.
            """
        ]
    }

    private static func samples(_ inputs: Inputs) -> [String] {
        guard let count = inputs.sampleCount, count < fewestSamples else { return [] }
        let answers = count == 1 ? "request was" : "requests were"
        return [
            """
            Only \(count) measured \(answers) answered: under \(NumberFormat.count(fewestSamples)), chance \
            decides the figures and this verdict.
            """
        ]
    }

    private static func losses(_ inputs: Inputs) -> [String] {
        var faults: [String] = []
        if inputs.lostConnectionCount > 0 {
            let count = NumberFormat.count(inputs.lostConnectionCount)
            faults.append("Connections were lost: \(count).")
        }
        if isMissingAnswers(inputs) {
            let count = NumberFormat.count(inputs.unansweredCount)
            let sent = NumberFormat.count(inputs.sentCount)
            faults.append(
                """
                \(count) of \(sent) requests had no answer (limit 0.01%): they are in no latency.
                """
            )
        }
        return faults
    }

    private static func isMissingAnswers(_ inputs: Inputs) -> Bool {
        Double(inputs.unansweredCount) > unansweredLimit * Double(inputs.sentCount)
    }

    private static func contention(_ inputs: Inputs) -> [String] {
        var faults: [String] = []
        if isBusy(steal: inputs.stealShare, other: inputs.otherShare) {
            let steal = NumberFormat.percent(inputs.stealShare)
            let other = NumberFormat.percent(inputs.otherShare)
            faults.append(
                "Others used the machine: steal \(steal), other processes \(other) (limit 3%)."
            )
        }
        if let wait = inputs.serverWaitShare, wait > serverWaitLimit {
            faults.append(
                "The server waited for a core \(NumberFormat.percent(wait)) of the time (limit 5%)."
            )
        }
        return faults
    }

    /// What the figures of a run that was held up show, and how to get a figure to compare.
    private static func lowerBoundSummary(_ inputs: Inputs, isClientBound: Bool) -> String {
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
    private static func notComparableSummary(
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
