package import ArgumentParser
package import LoadGen

/// The flags that ask for several runs, or for a rate that changes.
package struct SeriesOptions: ParsableArguments {
    package init() {}

    @Option(
        help: """
            Look for the highest rate that keeps service levels, as p99<5ms or p99<5ms,errors<0.1%: \
            doubled until a trial fails, then bisected, then confirmed.
            """
    )
    package var search: String?
    @Option(
        parsing: .unconditional,
        help: "With --search: the first rate. (default: a tenth of a closed loop of 3s)"
    )
    package var searchFrom: String?
    @Option(parsing: .unconditional, help: "With --search: how close to look (0.1% to 50%).")
    package var searchPrecision = Self.usualPrecision
    @Option(parsing: .unconditional, help: "With --search: how long a trial measures.")
    package var searchTrial = Self.usualTrial
    @Option(help: "With --search: how many trials of what length confirm a rate; most must pass.")
    package var searchConfirm = Self.usualConfirmation
    @Option(help: "Runs at S rates from A to B requests a second, each measured for D: A:B:S:D.")
    package var steps: String?
    @Option(help: "With --steps: given or shuffled.")
    package var stepsOrder = Self.usualOrder
    @Option(help: "One run whose rate changes evenly from A to B requests a second over D: A:B:D.")
    package var ramp: String?
    @Option(
        parsing: .unconditional,
        help: "Make the run this often (1 to 1000), and report the mean and its 95% interval."
    )
    package var runs = "1"
    @Option(
        parsing: .unconditional,
        help:
            "With --runs: a command of the shell between two runs, which starts the service again."
    )
    package var restartCmd: String?

    fileprivate static let usualPrecision = "2%"
    fileprivate static let usualTrial = "5s"
    fileprivate static let usualConfirmation = "3x20s"
    fileprivate static let usualOrder = "given"
}

extension SeriesPlan {
    /// The series that `options` ask for; nil where they ask for one run.
    ///
    /// Shuffled steps are in an order of `seed`.
    package init?(_ options: Options, seed: UInt64) throws(FlagError) {
        let given = options.series
        let asked = [
            ("--search", given.search), ("--steps", given.steps), ("--ramp", given.ramp),
            ("--runs", given.runs == "1" ? nil : given.runs),
        ].filter { $0.1 != nil }
        if asked.count > 1 {
            throw FlagError(
                flag: asked[1].0,
                expected: "no \(asked[0].0) beside it",
                actual: asked[1].1 ?? ""
            )
        }
        if given.restartCmd != nil, asked.first?.0 != "--runs" {
            throw FlagError(
                flag: "--restart-cmd",
                expected: "--runs with it",
                actual: given.restartCmd ?? ""
            )
        }
        try Self.refuseFlagsOfOthers(asked.first?.0, options)
        guard let flag = asked.first?.0 else { return nil }
        for case (let other, let value?) in [("--ab", options.ab), ("--compare", options.compare)] {
            throw FlagError(flag: other, expected: "no \(flag) beside it", actual: value)
        }
        guard flag != "--ramp" else { return nil }
        if flag != "--runs" { try Self.checkAlone(flag, options) }
        if let text = given.search {
            self = .search(try Self.search(text, given))
        } else if let text = given.steps {
            self = try Self.steps(text, options.series, seed: seed)
        } else {
            let count = try FlagValue("--runs", given.runs).count(1...Self.mostRuns)
            self = .runs(count, restartCommand: given.restartCmd)
        }
    }

    /// Refuses flags that mean nothing without the one they belong to; `flag` is the series asked for.
    private static func refuseFlagsOfOthers(_ flag: String?, _ options: Options) throws(FlagError) {
        let given = options.series
        let flags: [(owner: String, flag: String, value: String?, unset: String?)] = [
            ("--search", "--search-from", given.searchFrom, nil),
            ("--search", "--search-precision", given.searchPrecision, SeriesOptions.usualPrecision),
            ("--search", "--search-trial", given.searchTrial, SeriesOptions.usualTrial),
            ("--search", "--search-confirm", given.searchConfirm, SeriesOptions.usualConfirmation),
            ("--steps", "--steps-order", given.stepsOrder, SeriesOptions.usualOrder),
        ]
        for one in flags where one.value != one.unset && one.owner != flag {
            throw FlagError(
                flag: one.flag,
                expected: "\(one.owner) with it",
                actual: one.value ?? ""
            )
        }
        let hasRate = options.load.rate != "0" || flag != nil && flag != "--runs"
        guard hasRate || options.load.arrival == "poisson" else {
            throw FlagError(
                flag: "--arrival",
                expected: "--rate, --ramp, --steps or --search with it",
                actual: options.load.arrival
            )
        }
    }

    /// Refuses flags that say how long or how fast a run is beside one that says it too.
    static func checkAlone(_ flag: String, _ options: Options) throws(FlagError) {
        let others = [
            ("--rate", options.load.rate == "0" ? nil : options.load.rate),
            ("--duration", options.duration), ("--requests", options.requests),
            ("--verify-only", options.verifyOnly),
        ]
        for case (let other, let value?) in others {
            let words =
                flag == "--search" && other == "--duration"
                ? " (--search-trial and --search-confirm say how long it measures)" : ""
            throw FlagError(flag: other, expected: "no \(flag) beside it\(words)", actual: value)
        }
        let pauses = options.load.think
        if pauses != "0" {
            throw FlagError(flag: "--think", expected: "no \(flag) beside it", actual: pauses)
        }
        guard options.load.pipelineMode == "window" else {
            throw FlagError(
                flag: "--pipeline-mode",
                expected: "window with \(flag) (batches are a closed loop)",
                actual: options.load.pipelineMode
            )
        }
    }

    private static func search(
        _ text: String,
        _ options: SeriesOptions
    ) throws(FlagError) -> SearchPlan {
        let levels = try FlagValue("--search", text).parse(
            """
            p99<5ms, vote.p99.9<20ms, max<1s, errors<0.01% or cpu<6s/M, each with its unit, or several \
            with commas
            """,
            SearchPlan.levels
        )
        var plan = SearchPlan(levels: levels)
        if let from = options.searchFrom {
            plan.startRate = Double(
                try FlagValue("--search-from", from).count(1...Int(highestRate))
            )
        }
        plan.precision = try FlagValue("--search-precision", options.searchPrecision)
            .parse("0.1% to 50%") { text in
                Quantity.percent(text).flatMap { (0.1...50).contains($0) ? $0 / 100 : nil }
            }
        plan.trialDuration = try FlagValue("--search-trial", options.searchTrial)
            .duration(.milliseconds(100)...(.seconds(3600)))
        let confirmation = options.searchConfirm
        guard plan.takeConfirmation(confirmation) else {
            throw FlagError(
                flag: "--search-confirm",
                expected: "a count and a time, as 3x20s (1 to 99 times, 100ms to 3600s)",
                actual: confirmation
            )
        }
        return plan
    }

    private static func steps(
        _ text: String,
        _ options: SeriesOptions,
        seed: UInt64
    ) throws(FlagError) -> Self {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let flag = FlagValue("--steps", text)
        let form = "A:B:S:D, as 10k:100k:10:5s (rates from 0.001 to 10M, 1 to \(mostRuns) steps)"
        guard parts.count == 4, let first = rate(parts[0]), let last = rate(parts[1]),
            let count = Quantity.count(parts[2]), (1...UInt64(mostRuns)).contains(count),
            let duration = Quantity.duration(parts[3]), duration >= .milliseconds(100),
            duration <= .seconds(86_400)
        else { throw flag.error(form) }
        let order: StepsOrder = try FlagValue("--steps-order", options.stepsOrder).choice()
        let rates = SeriesPlan.steps(from: first, to: last, count: Int(count))
        return .steps(rates: order.ordered(rates, seed: seed), duration: duration)
    }

    /// A rate of an open loop; nil where `text` is none.
    static func rate(_ text: String, atLeast least: Double = lowestRate) -> Double? {
        Quantity.rate(text).flatMap { (least...highestRate).contains($0) ? $0 : nil }
    }
}

extension RateRamp {
    /// The ramp that `text` names, and how long it takes.
    static func read(_ text: String) throws(FlagError) -> (RateRamp, Duration) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let first = SeriesPlan.rate(parts[0], atLeast: 0),
            let last = SeriesPlan.rate(parts[1], atLeast: 0), first + last >= SeriesPlan.lowestRate,
            let duration = Quantity.duration(parts[2]), duration >= .milliseconds(100),
            duration <= .seconds(86_400)
        else {
            throw FlagValue("--ramp", text).error("A:B:D, as 1k:100k:60s (rates up to 10M)")
        }
        return (RateRamp(from: first, to: last, over: duration), duration)
    }
}

extension SideBySideConfiguration {
    /// The comparison that `options` ask for beside the load of `configuration`; nil without `--ab`.
    package init?(_ options: Options, _ configuration: RunConfiguration) throws(FlagError) {
        guard let target = options.ab else {
            try Self.refuseFlagsOfAComparison(options)
            return nil
        }
        var wireProtocol = configuration.wireProtocol
        if let text = options.abProtocol {
            wireProtocol = try FlagValue("--ab-protocol", text).choice()
        }
        let address = wireProtocol.address(of: target)
        guard address != configuration.target else {
            throw FlagError(flag: "--ab", expected: "another server than --target", actual: target)
        }
        self.init(target: address, wireProtocol: wireProtocol)
        let pairs = RatioEstimate.fewestPairs...Self.mostPairs
        if let text = options.rounds { rounds = try FlagValue("--rounds", text).count(pairs) }
        if let text = options.aa {
            let count = try FlagValue("--aa", text).count(0...pairs.upperBound)
            guard count == 0 || pairs.contains(count) else {
                throw FlagError(
                    flag: "--aa",
                    expected: "0, or \(pairs.lowerBound) to \(pairs.upperBound)",
                    actual: text
                )
            }
            controlCount = count
        }
        if let text = options.slice {
            let lengths = Duration.milliseconds(100)...Duration.seconds(600)
            slice = try FlagValue("--slice", text).duration(lengths)
        }
        limit = try RunConfiguration.comparisonLimit(options)
        if wireProtocol == .resp, configuration.wireProtocol != .resp {
            try configuration.refuseFlagsOfTheFeed(options)
        }
        try Self.refuseFlagsOfARun(options)
    }

    /// Refuses flags that mean nothing without `--ab`.
    private static func refuseFlagsOfAComparison(_ options: Options) throws(FlagError) {
        let given = [
            ("--ab-protocol", options.abProtocol), ("--rounds", options.rounds),
            ("--slice", options.slice), ("--aa", options.aa),
        ]
        for case (let flag, let value?) in given {
            throw FlagError(flag: flag, expected: "--ab with it", actual: value)
        }
    }

    /// Refuses flags of a run that a comparison does not have.
    private static func refuseFlagsOfARun(_ options: Options) throws(FlagError) {
        let given: [(flag: String, value: String?)] = [
            ("--duration", options.duration), ("--requests", options.requests),
            ("--verify-only", options.verifyOnly), ("--hdr", options.load.hdr),
            ("--slo", options.load.slo.first), ("--compare", options.compare),
            ("--html", options.load.html), ("--search", options.series.search),
            ("--steps", options.series.steps), ("--ramp", options.series.ramp),
            ("--runs", options.series.runs == "1" ? nil : options.series.runs),
            ("--split", options.load.split ? "--split" : nil),
            ("--server-pid", options.load.serverPID == "auto" ? nil : options.load.serverPID),
        ]
        for case (let flag, let value?) in given {
            throw FlagError(
                flag: flag,
                expected: "no --ab beside it (--slice says how long to measure)",
                actual: value
            )
        }
    }
}
