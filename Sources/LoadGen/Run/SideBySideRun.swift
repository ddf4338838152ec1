import FeedClient
import Histogram

/// Measures two servers in turns, so that what changes on the machine changes for both.
///
/// Each slice is a short run on the posts that its server got before the first one. At the end each
/// server is audited for the votes of all its slices.
package final class SideBySideRun {
    private enum Server: Int {
        case a
        case b
    }

    private struct Side {
        var configuration: RunConfiguration
        /// The posts, and what is known of them; nil before the first slice.
        var posts: PreparedRun?
    }

    private let configuration: RunConfiguration
    private let comparison: SideBySideConfiguration
    private let showProgress: (String) -> Void
    private var sides: [Side]
    private var plan: PairPlan
    private var isInterrupted = false

    /// Prepares a comparison; nothing is sent before `execute()`.
    package init(
        _ configuration: RunConfiguration,
        _ comparison: SideBySideConfiguration,
        showProgress: @escaping (String) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.comparison = comparison
        self.showProgress = configuration.progressInterval == nil ? { _ in } : showProgress
        var other = configuration
        other.target = comparison.target
        other.targetFlag = "--ab"
        other.wireProtocol = comparison.wireProtocol
        sides = [Side(configuration: configuration), Side(configuration: other)]
        plan = PairPlan(
            rounds: comparison.rounds,
            controlCount: comparison.controlCount,
            seed: configuration.seed,
            repeatLimit: comparison.repeatLimit
        )
    }

    package func execute() throws(RunFailure) -> SideBySideResult {
        var result = SideBySideResult(configuration, comparison, environment: Environment())
        try warmUp()
        let total = plan.remainingCount
        while !isInterrupted, let pair = plan.next {
            showProgress("pair \(total - plan.remainingCount + 1) of \(total)")
            let slices = try measure(pair)
            guard !isInterrupted else { break }
            if plan.measured(isTainted: slices.a.isTainted || slices.b.isTainted) {
                result.pairs.append(slices)
            }
        }
        result.repeatedCount = plan.repeatedCount
        result.keptTaintedCount = plan.keptTaintedCount
        result.isInterrupted = isInterrupted
        if configuration.isVerified || configuration.isCleanedUp {
            showProgress("auditing")
            result.audits = (try audit(.a), try audit(.b))
        }
        showProgress("")
        return result
    }

    /// Creates the posts, and loads both servers for the time of the warm-up.
    private func warmUp() throws(RunFailure) {
        showProgress("warming up")
        let duration = max(configuration.warmup, Self.shortestRun)
        for server in [Server.a, .b] {
            _ = try run(server, settle: .zero, duration: duration)
        }
    }

    private func measure(_ pair: PairPlan.Pair) throws(RunFailure) -> SlicePair {
        let first = try measure(pair == .firstB ? .b : .a)
        let second = try measure(pair == .firstA ? .b : .a)
        return pair == .firstB
            ? SlicePair(pair, a: second, b: first) : SlicePair(pair, a: first, b: second)
    }

    private func measure(_ server: Server) throws(RunFailure) -> Slice {
        // The pair of a slice that was interrupted is not used.
        guard !isInterrupted else { return Slice() }
        return Slice(try run(server, settle: comparison.settle, duration: comparison.slice))
    }

    /// The audit of all votes so far, after a last short run.
    private func audit(_ server: Server) throws(RunFailure) -> AuditOutcome {
        try run(server, settle: .zero, duration: Self.shortestRun, isLast: true).audit
    }

    private func run(
        _ server: Server,
        settle: Duration,
        duration: Duration,
        isLast: Bool = false
    ) throws(RunFailure) -> RunReport {
        var configuration = sides[server.rawValue].configuration
        configuration.warmup = settle
        configuration.duration = duration
        configuration.isVerified = configuration.isVerified && isLast
        configuration.isCleanedUp = configuration.isCleanedUp && isLast
        configuration.progressInterval = nil
        let run = try Run(configuration)
        run.continued = sides[server.rawValue].posts
        let result = try run.execute()
        sides[server.rawValue].posts = run.continuation
        if result.isInterrupted { isInterrupted = true }
        if case .endedEarly(let failure)? = run.continuation?.outcome { throw failure }
        return result
    }

    private static let shortestRun = Duration.milliseconds(100)
}

@available(*, unavailable)
extension SideBySideRun: Sendable {}

extension Slice {
    /// The figures of a run that measured one slice.
    init(_ result: RunReport) {
        self.init()
        let answered = result.totals.outcomes.ok
        let traffic = result.totals.traffic
        perSecond = result.ratePerSecond
        serverCost = result.secondsPerMillion(result.server)
        generatorCost = result.secondsPerMillion(result.generator)
        if let latencies = result.totals.merged(result.shownMeasure), latencies.totalCount >= 1000 {
            response99 = Double(latencies.valueAtPercentile(99))
        }
        if answered > 0 {
            bytesPerOperation = Double(traffic.bytesIn + traffic.bytesOut) / Double(answered)
            writesPerOperation = Double(traffic.writeCount) / Double(answered)
        }
        // A server that is not visible would count among the other processes.
        foreignShare =
            (result.machine?.stealShare ?? 0) + (result.server == nil ? 0 : result.otherShare)
        isReconnected = result.lostConnectionCount > 0 || result.totals.retries.reconnectCount > 0
    }
}
