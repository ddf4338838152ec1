import FeedConcurrency
import Foundation
import Histogram

/// Several runs, one after another: the trials of a search, steps, or repetitions.
///
/// Each run is whole: it has posts of its own, a warm-up, and an audit. The result is that of the
/// run that says most, with what all of them show.
package struct Series {
    package typealias Execute = (RunConfiguration) throws(RunFailure) -> RunReport

    private let configuration: RunConfiguration
    private let showProgress: (String) -> Void
    private let execute: Execute
    private let restart: (String) throws(RunFailure) -> Void

    /// A series of runs of `configuration`.
    ///
    /// - Parameters:
    ///   - configuration: What the runs have in common.
    ///   - showProgress: Shows a line before each run.
    ///   - execute: Makes one run.
    ///   - restart: Executes the command between two runs.
    package init(
        _ configuration: RunConfiguration,
        showProgress: @escaping (String) -> Void = { _ in },
        execute: @escaping Execute,
        restart: @escaping (String) throws(RunFailure) -> Void = RestartCommand.execute
    ) {
        self.configuration = configuration
        self.showProgress = showProgress
        self.execute = execute
        self.restart = restart
    }

    /// Makes all runs of `plan`; a signal or a failed audit ends the series early.
    package func run(_ plan: SeriesPlan) throws(RunFailure) -> RunReport {
        switch plan {
        case .search(let search): try self.search(search)
        case .steps(let rates, let duration): try steps(rates, duration)
        case .runs(let count, let command): try repetitions(count, command)
        }
    }

    private func search(_ plan: SearchPlan) throws(RunFailure) -> RunReport {
        let goal = plan.levels.map(\.text).joined(separator: ",")
        var series = SeriesResult(kind: .search, goal: goal)
        var configuration = configuration
        // The levels are the search's, and a trial may miss them.
        configuration.serviceLevels = plan.levels
        configuration.isStrict = false
        var shown: RunReport?
        var startRate = plan.startRate
        if startRate == nil {
            configuration.duration = Self.probeDuration
            announce("closed loop, to find where to begin")
            let result = try execute(configuration)
            series.entries.append(SeriesResult.Entry(result, phase: "probe", reasons: []))
            startRate = result.requestsPerSecond / 10
            guard goesOn(after: result) else { return finished(result, series) }
            shown = result
        }
        var search = CapacitySearch(plan, startRate: startRate ?? 1, seed: configuration.seed)
        while let trial = search.next {
            configuration.ratePerSecond = trial.rate
            configuration.duration =
                trial.phase == .confirm ? plan.confirmDuration : plan.trialDuration
            let number = series.entries.count + 1
            // Trials of one seed would have the same lucky or unlucky arrivals.
            configuration.seed = self.configuration.seed &+ UInt64(number)
            announce("run \(number), \(trial.phase.rawValue): \(NumberFormat.rate(trial.rate))/s")
            let result = try execute(configuration)
            let judgement = TrialJudgement(result, rate: trial.rate)
            series.entries.append(
                SeriesResult.Entry(
                    result,
                    phase: trial.phase.rawValue,
                    outcome: judgement.outcome.rawValue,
                    reasons: judgement.reasons
                )
            )
            guard goesOn(after: result) else { return finished(result, series) }
            search.record(judgement.outcome)
            series.capacity = search.capacity
            series.isGeneratorLimit = search.limit == .generator
            series.isBusy = search.limit == .busy
            // The report is of the last trial that confirmed the capacity.
            if search.capacity == nil || trial.rate == search.capacity, trial.phase != .curve {
                shown = result
            }
        }
        guard let shown else { preconditionFailure("A search has a trial.") }
        return finished(shown, series)
    }

    private func steps(_ rates: [Double], _ duration: Duration) throws(RunFailure) -> RunReport {
        var configuration = configuration
        configuration.duration = duration
        return try runs(.steps, "step", rates.count) { number throws(RunFailure) in
            let rate = rates[number - 1]
            configuration.ratePerSecond = rate
            announce("step \(number) of \(rates.count): \(NumberFormat.rate(rate))/s")
            return try execute(configuration)
        }
    }

    private func repetitions(_ count: Int, _ command: String?) throws(RunFailure) -> RunReport {
        try runs(.runs, "run", count) { number throws(RunFailure) in
            announce("run \(number) of \(count)")
            guard number > 1, let command else { return try execute(configuration) }
            try restart(command)
            return try executeWhenReachable()
        }
    }

    /// Makes runs number 1 to `count`, of which there is one at least; the last is shown.
    private func runs(
        _ kind: SeriesResult.Kind,
        _ phase: String,
        _ count: Int,
        _ run: (Int) throws(RunFailure) -> RunReport
    ) throws(RunFailure) -> RunReport {
        var series = SeriesResult(kind: kind)
        for number in 1...count {
            let result = try run(number)
            series.entries.append(SeriesResult.Entry(result, phase: phase))
            if number == count || !goesOn(after: result) { return finished(result, series) }
        }
        preconditionFailure("A series has a run.")
    }

    /// Makes a run once the service that was started again can be reached.
    private func executeWhenReachable() throws(RunFailure) -> RunReport {
        // Nothing ends the wait before its time.
        let pause = Semaphore()
        for _ in 0..<Self.mostAttempts {
            do throws(RunFailure) {
                return try execute(configuration)
            } catch {
                guard error.isUnreachable else { throw error }
                _ = pause.wait(upTo: Self.attemptPause)
            }
        }
        return try execute(configuration)
    }

    private func goesOn(after result: RunReport) -> Bool {
        guard !result.isInterrupted else { return false }
        return result.exitStatus != .auditFailed && result.exitStatus != .failed
    }

    private func finished(_ result: RunReport, _ series: SeriesResult) -> RunReport {
        var result = result
        result.series = series
        return result
    }

    private func announce(_ text: String) {
        if configuration.progressInterval != nil { showProgress(text) }
    }

    /// How long the closed loop runs that says where a search begins.
    private static let probeDuration = Duration.seconds(3)
    /// How often a service is looked for that was started again: for a minute.
    private static let mostAttempts = 600
    private static let attemptPause = Duration.milliseconds(100)
}

/// The command between two runs, which starts the service again.
package enum RestartCommand {
    package static func execute(_ command: String) throws(RunFailure) {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command]
        do {
            try process.run()
        } catch {
            throw .restartFailed(command, "\(error.localizedDescription)")
        }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw .restartFailed(command, "it ended with status \(process.terminationStatus)")
        }
    }
}

/// Whether the service kept the levels of a search in one trial.
struct TrialJudgement: Sendable {
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

    private static let reachedShare = 0.99
    /// How long requests may wait for room when a trial ends, in nanoseconds.
    private static let longestWait = 1e6
}
