package import LoadGen

extension SideBySideConfiguration {
    /// The comparison that `options` ask for beside the load of `configuration`; nil without `--ab`.
    package init?(
        _ options: Options,
        _ configuration: RunConfiguration
    ) throws(FlagError) {
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
            throw FlagError(
                flag: "--ab",
                expected: "another server than --target",
                actual: target
            )
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
