import Histogram

/// The result of several generators that loaded one service together.
///
/// Histograms and counts are added, so all percentiles of the whole run are exact. Seconds are
/// merged by their number; of a second's percentiles the largest is kept, as they cannot be added.
/// What the service and the machine used is the largest that one of them saw: generators on the
/// service's machine see the same.
package struct MergedRuns {
    package private(set) var result: RunReport

    /// Merges results, of which there is one at least; the first has the configuration.
    package init(_ results: [RunReport]) {
        result = results[0]
        for other in results.dropFirst() { add(other) }
    }

    private mutating func add(_ other: RunReport) {
        result.configuration.clientCount += other.configuration.clientCount
        result.configuration.threadCount += other.configuration.threadCount
        result.configuration.postCount += other.configuration.postCount
        if let rate = result.configuration.ratePerSecond {
            result.configuration.ratePerSecond = rate + (other.configuration.ratePerSecond ?? 0)
        }
        result.totals.add(other.totals)
        result.measuredSeconds = max(result.measuredSeconds, other.measuredSeconds)
        result.hottestShare = max(result.hottestShare, other.hottestShare)
        result.openedConnectionCount += other.openedConnectionCount
        result.lostConnectionCount += other.lostConnectionCount
        result.loopIdleShares += other.loopIdleShares
        result.isInterrupted = result.isInterrupted || other.isInterrupted
        if let failover = other.failover {
            result.failover?.add(failover)
            result.failover = result.failover ?? failover
        }
        result.serverPID = result.serverPID ?? other.serverPID
        result.server = [result.server, other.server].compactMap(\.self)
            .max { $0.seconds < $1.seconds }
        if let mine = result.generator, let theirs = other.generator {
            result.generator = mine.adding(theirs)
        } else {
            result.generator = result.generator ?? other.generator
        }
        result.machine = [result.machine, other.machine].compactMap(\.self)
            .max { $0.busyShare < $1.busyShare }
        result.audit = result.audit.adding(other.audit)
        for (number, interval) in other.intervals.enumerated() {
            if number < result.intervals.count {
                result.intervals[number].add(interval)
            } else {
                result.intervals.append(interval)
            }
        }
    }
}

extension RunReport.Interval {
    fileprivate mutating func add(_ other: Self) {
        isMeasured = isMeasured && other.isMeasured
        answered = zip(answered, other.answered).map { $0 + $1 }
        outcomes = outcomes + other.outcomes
        reconnectCount += other.reconnectCount
        latencies.count += other.latencies.count
        latencies.percentiles = zip(latencies.percentiles, other.latencies.percentiles).map(max)
        latencies.maximum = max(latencies.maximum, other.latencies.maximum)
        latencies.buckets.add(other.latencies.buckets)
        usage = usage ?? other.usage
    }
}

extension ProcessUsage {
    /// What both processes used; the busiest thread is the busier one of the two.
    fileprivate func adding(_ other: Self) -> Self {
        var sum = self
        let whole = max(seconds + other.seconds, 1e-9)
        sum.userShare = (userShare * seconds + other.userShare * other.seconds) / whole
        sum.seconds += other.seconds
        sum.busiestThreadShare = max(busiestThreadShare, other.busiestThreadShare)
        sum.waitShare = max(waitShare, other.waitShare)
        sum.residentByteCount += other.residentByteCount
        sum.cores = cores.union(other.cores)
        return sum
    }
}

extension AuditOutcome {
    /// Both audits; one that was not done leaves the other's word standing only if it failed.
    fileprivate func adding(_ other: Self) -> Self {
        switch (self, other) {
        case (.done(var sum), .done(let more)):
            sum.acknowledgedVoteCount += more.acknowledgedVoteCount
            sum.unknownVoteCount += more.unknownVoteCount
            sum.failedVoteCount += more.failedVoteCount
            sum.countedVoteCount += more.countedVoteCount
            sum.exactPostCount += more.exactPostCount
            sum.postCount += more.postCount
            sum.createdPostCount += more.createdPostCount
            sum.listedPostCount = max(sum.listedPostCount, more.listedPostCount)
            sum.findings.add(more.findings)
            return .done(sum)
        case (.done(let summary), let undone), (let undone, .done(let summary)):
            return summary.findings.isEmpty ? undone : .done(summary)
        case (.impossible, _), (.skipped, .skipped): return self
        case (.skipped, .impossible): return other
        }
    }
}

/// Several runs side by side, a row each.
package struct RunTable {
    private let runs: [(name: String, result: RunReport)]

    package init(_ runs: [(name: String, result: RunReport)]) {
        self.runs = runs
    }

    package func rendered() -> String {
        let levels: [Double] = [50, 99, 99.9]
        let heads =
            ["run", "figures", "op/s"] + levels.map { "\(PercentileText.name($0)) ms" }
            + ["max ms", "CPU-s/M", "audit"]
        let rows = [heads] + runs.map { row($0.name, $0.result, levels) }
        let widths = heads.indices.map { place in rows.map { $0[place].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).enumerated().map { place, cell in
                // Not `column`, which would cut the name of a file with characters of two UTF-16 units.
                let space = String(repeating: " ", count: cell.1 - cell.0.count)
                return place == 0 ? cell.0 + space : space + cell.0
            }.joined(separator: "   ")
        }.joined(separator: "\n") + "\n"
    }

    private func row(_ name: String, _ result: RunReport, _ levels: [Double]) -> [String] {
        let latencies = result.totals.merged(result.shownMeasure)
        let percentiles = levels.map { level in
            latencies.map { PercentileText.cell($0, percentile: level) } ?? "-"
        }
        let audit =
            switch result.audit {
            case .done(let summary): summary.findings.isEmpty ? "PASS" : "FAIL"
            case .skipped, .impossible: "-"
            }
        return [name, result.verdict.figures.rawValue, NumberFormat.rate(result.ratePerSecond)]
            + percentiles
            + [
                latencies.map { NumberFormat.milliseconds(Double($0.max)) } ?? "-",
                result.secondsPerMillion(result.server).map { NumberFormat.fixed($0, 2) } ?? "-",
                audit,
            ]
    }
}
