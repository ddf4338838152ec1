import Histogram

/// A service level and whether the run kept it.
package struct ServiceLevelResult: Sendable, Equatable {
    /// What was asked for.
    package let level: ServiceLevel
    /// What was measured, in the subject's unit; nil where there is nothing.
    package let value: Double?

    /// Whether it was kept; a level that was not measured was not kept.
    package var isKept: Bool { level.holds(value) }
}

extension RunResult {
    /// Every service level asked for.
    package var serviceLevels: [ServiceLevelResult] {
        configuration.serviceLevels.map {
            ServiceLevelResult(level: $0, value: value(of: $0.subject))
        }
    }

    /// The exit code: a contradiction outranks an incomplete run, which outranks a missed level.
    package var exitStatus: ExitStatus {
        if audit.isFailed || !totals.outcomes.isConserved { return .auditFailed }
        if case .impossible = audit { return .failed }
        if isVerification { return .success }
        if lostConnectionCount > 0 || openedConnectionCount == 0 { return .failed }
        return serviceLevels.allSatisfy(\.isKept) ? .success : .sloMissed
    }

    private func value(of subject: ServiceLevel.Subject) -> Double? {
        switch subject {
        case .percentile(let percentile, let operation):
            latencies(operation).map { Double($0.valueAtPercentile(percentile)) }
        case .maximum(let operation): latencies(operation).map { Double($0.max) }
        case .rate: ratePerSecond
        case .errors: failedShare * 100
        case .serverCPU: secondsPerMillion(server)
        case .audit: audit.isPassed ? 1 : 0
        }
    }

    private func latencies(_ operation: Operation?) -> LatencyHistogram? {
        guard let operation else { return totals.merged(shownMeasure) }
        return totals.latencies[LatencyKey(operation, shownMeasure)]
    }
}
