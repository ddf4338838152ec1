package import LoadGen

extension RunConfiguration {
    /// What `options` ask for; `coreCount` bounds the default number of threads.
    package init(_ options: Options, coreCount: Int, isTerminal: Bool) throws(FlagError) {
        try self.init(options.load, coreCount: coreCount, isTerminal: isTerminal)
        wireProtocol = try FlagValue("--protocol", options.wireProtocol).choice()
        target = wireProtocol.address(of: options.load.target)
        (duration, requestCount) = try Self.length(options)
        warmup = try Self.warmup(options)
        if let text = options.series.ramp {
            try SeriesPlan.checkAlone("--ramp", options)
            let (ramp, length) = try RateRamp.read(text)
            (self.ramp, ratePerSecond, duration) = (ramp, ramp.meanRate, length)
        }
        mix = try FlagValue("--mix", options.mix).parse(
            "vote, feed, or weights as vote=95,page=5",
            Mix.init(parsing:)
        )
        postCount = try FlagValue("--posts", options.posts).count(1...10_000_000)
        voterCount = try Self.voters(options, clientCount: clientCount, postCount: postCount)
        feed = try FlagValue(
            "--feed",
            options.feed ?? (voterCount > 0 ? "loadgen-ballots" : "loadgen")
        ).parse("a name of a-z, 0-9 and -, a letter first, at most 63", Self.feedName)
        usesOwnFeed = options.feed == nil
        keys = try FlagValue("--keys", options.keys).parse(
            "uniform, zipf:S, hot:F:P, latest:S, seq or one",
            KeyDistribution.init(parsing:)
        )
        pageSize = try FlagValue("--page-size", options.pageSize).count(1...100)
        isVerified = options.verify
        verifiedPath = options.verifyOnly
        if let path = verifiedPath, !isVerified {
            throw FlagValue("--no-verify", "--verify-only \(path)")
                .error("no --verify-only beside it")
        }
        comparedPath = options.compare
        comparisonLimit = try Self.comparisonLimit(options)
        if wireProtocol == .resp { try refuseFlagsOfTheFeed(options) }
        try checkLevels()
    }

    package init(_ options: DatasetOptions, coreCount: Int, isTerminal: Bool) throws(FlagError) {
        try self.init(options.load, coreCount: coreCount, isTerminal: isTerminal)
        repeatCount = UInt64(try FlagValue("--repeat", options.repeatCount).count(1...1_000_000))
        try checkLevels()
    }

    /// A load of votes only, as `options` ask for it, that ends with the last vote.
    ///
    /// The options do not choose the votes.
    package init(_ options: LoadOptions, coreCount: Int, isTerminal: Bool) throws(FlagError) {
        self.init(target: WireProtocol.feed.address(of: options.target))
        clientCount = try FlagValue("--clients", options.clients).count(1...10_000)
        let byClients = (clientCount + 255) / 256
        threadCount =
            try options.threads.map { text throws(FlagError) in
                try FlagValue("--threads", text).count(1...64)
            } ?? max(1, min(coreCount - 1, byClients))
        pipelineDepth = try FlagValue("--pipeline", options.pipeline).count(1...1024)
        batchVoteCount = try FlagValue("--batch", options.batch).count(1...Self.longestBatch)
        pipelineMode = try FlagValue("--pipeline-mode", options.pipelineMode).choice()
        ratePerSecond = try FlagValue("--rate", options.rate).rate()
        arrival = try FlagValue("--arrival", options.arrival).choice()
        seed = try FlagValue("--seed", options.seed).parse("a number or random") { text in
            text == "random" ? .random(in: 1...UInt64(UInt32.max)) : UInt64(text)
        }
        timeout = try FlagValue("--timeout", options.timeout).duration(Self.timeouts)
        connectTimeout = try FlagValue("--connect-timeout", options.connectTimeout)
            .duration(Self.timeouts)
        connectsPerSecond = Double(
            try FlagValue("--connect-rate", options.connectRate).count(1...1_000_000)
        )
        connectionLife = try Self.life(options)
        think = try FlagValue("--think", options.think)
            .parse(ThinkTime.forms, ThinkTime.init(parsing:))
        // The votes that a change of the leader leaves open are the run's, not faults of the services.
        retryLimit =
            try options.retry.map { text throws(FlagError) in
                try FlagValue("--retry", text).count(0...1000)
            } ?? (hasSeveralTargets ? Self.retriesInACluster : 0)
        if let path = options.serviceKeyFile, !readServiceKey(path) {
            throw FlagError(
                flag: "--service-key-file",
                expected: "a file with 64 hexadecimal digits",
                actual: path
            )
        }
        try secure(options)
        isLatencySplit = options.split
        isCleanedUp = options.cleanup
        jsonPath = options.json
        pagePath = options.html
        runID =
            try options.runID.map { text throws(FlagError) in
                try FlagValue("--run-id", text).parse(
                    "1 to 64 letters, digits, - and _",
                    Self.runID
                )
            } ?? Self.randomRunID()
        histogramPrefix = options.hdr
        isStrict = options.strict
        for text in options.slo {
            serviceLevels += try FlagValue("--slo", text)
                .parse(ServiceLevel.forms, ServiceLevel.list)
        }
        serverPID = try FlagValue("--server-pid", options.serverPID).processID()
        progressInterval = try Self.progress(options, isTerminal: isTerminal)
        percentiles = try FlagValue("--percentiles", options.percentiles).percentiles()
        try checkTogether()
    }

    /// Takes the files of TLS, or refuses them where the connections are plain.
    private mutating func secure(_ options: LoadOptions) throws(FlagError) {
        guard options.tls else {
            return try FlagError.refuse(
                [
                    ("--ca", options.ca), ("--cert", options.cert), ("--key", options.key),
                    ("--server-name", options.serverName),
                ],
                expected: "--tls with it"
            )
        }
        let refusal = secure(
            authorityPath: options.ca,
            certificatePath: options.cert,
            keyPath: options.key,
            serverName: options.serverName
        )
        if let refusal {
            throw FlagError(flag: "--tls", expected: "files that can be used", actual: refusal)
        }
    }

    /// Refuses flags that are valid alone but not together.
    private func checkTogether() throws(FlagError) {
        if isOpenLoop && pipelineMode == .batch {
            throw FlagValue("--pipeline-mode", "batch")
                .error("window with --rate (batches are a closed loop)")
        }
        if think != .none && (isOpenLoop || pipelineMode == .batch) {
            let other = isOpenLoop ? "--rate (a closed loop waits)" : "--pipeline-mode batch"
            throw FlagValue("--think", think.description).error("0 with \(other)")
        }
        if retryLimit > 0 && pipelineDepth > RunIdentity.longestPipeline {
            throw FlagValue("--pipeline", "\(pipelineDepth)")
                .error(
                    "at most \(RunIdentity.longestPipeline) with --retry, which is on where --target "
                        + "has several services"
                )
        }
        let mostInFlight = Self.mostVotesInFlight / (clientCount * pipelineDepth)
        if batchVoteCount > max(mostInFlight, 1) {
            throw FlagValue("--batch", "\(batchVoteCount)").error(
                """
                at most \(max(mostInFlight, 1)) with \(clientCount) clients and pipeline \
                \(pipelineDepth) (\(Self.mostVotesInFlight) votes in flight)
                """
            )
        }
        if clientCount < threadCount {
            throw FlagValue("--threads", "\(threadCount)")
                .error("at most one for each of the \(clientCount) clients")
        }
    }

    /// Refuses a level of an operation that the run does not have: it would be missed at its end.
    private func checkLevels() throws(FlagError) {
        let names = mix.operations.map(\.name).joined(separator: ", ")
        for level in serviceLevels {
            guard let operation = level.subject.operation, !mix.operations.contains(operation)
            else { continue }
            throw FlagValue("--slo", level.text).error("operations of the run (\(names))")
        }
    }

    /// The difference that counts between two runs or servers, as a share.
    static func comparisonLimit(_ options: Options) throws(FlagError) -> Double {
        guard let text = options.compareLimit else { return 0.03 }
        if options.compare == nil, options.ab == nil {
            try options.refuse(["--compare-limit"], expected: "--compare or --ab with it")
        }
        return try FlagValue("--compare-limit", text).share()
    }

    private static let timeouts = Duration.milliseconds(1)...Duration.seconds(60)

    private static func life(_ options: LoadOptions) throws(FlagError) -> ConnectionLife {
        var life = ConnectionLife()
        let count = try FlagValue("--reconnect-every", options.reconnectEvery)
            .count(0...1_000_000_000)
        if count > 0 { life.requestCount = UInt64(count) }
        guard options.connLife != "0", !life.takeAge(options.connLife) else { return life }
        throw FlagError(
            flag: "--conn-life",
            expected: "0, or an age from 100ms to 24h with less than it as ±, as 30s±5s",
            actual: options.connLife
        )
    }

    private static func voters(
        _ options: Options,
        clientCount: Int,
        postCount: Int
    ) throws(FlagError) -> Int {
        let count = try FlagValue("--voters", options.voters).count(0...mostVoters)
        guard count > 0 else { return 0 }
        let rowByteCount = BallotSet.byteCount(postCount: postCount)
        let most = min(VoterShare.mostVoters, mostBallotBytes / rowByteCount / clientCount)
        guard count >= clientCount, count <= most * clientCount else {
            throw FlagValue("--voters", options.voters).error(
                """
                0, or \(clientCount) to \(min(most * clientCount, mostVoters)) with \(clientCount) \
                clients and \(postCount) posts
                """
            )
        }
        return count
    }

    private static func warmup(_ options: Options) throws(FlagError) -> Duration {
        guard let text = options.warmup else {
            let series = options.series
            if series.ramp != nil { return .zero }
            return series.search != nil || series.steps != nil
                ? SeriesPlan.settleTime : .seconds(2)
        }
        let longest = options.series.ramp == nil ? Duration.seconds(3600) : .zero
        return try FlagValue("--warmup", text).duration(.zero...longest)
    }

    private static func length(_ options: Options) throws(FlagError) -> (Duration?, UInt64?) {
        let durations = Duration.milliseconds(1)...Duration.seconds(86_400)
        guard let requests = options.requests else {
            return (try FlagValue("--duration", options.duration ?? "10s").duration(durations), nil)
        }
        if let duration = options.duration {
            throw FlagValue("--requests", "--duration \(duration)")
                .error("no --duration beside it")
        }
        return (nil, UInt64(try FlagValue("--requests", requests).count(1...1_000_000_000_000)))
    }

    private static func progress(
        _ options: LoadOptions,
        isTerminal: Bool
    ) throws(FlagError) -> Duration? {
        if options.quiet { return nil }
        guard let progress = options.progress else { return isTerminal ? .seconds(1) : nil }
        return try FlagValue("--progress", progress).duration(.seconds(1)...(.seconds(3600)))
    }

    /// Refuses the flags that mean nothing to redis-server.
    func refuseFlagsOfTheFeed(_ options: Options) throws(FlagError) {
        try options.refuse(
            [
                "--feed", "--voters", "--verify-only", "--batch", "--retry", "--service-key-file",
                "--tls", "--cleanup", "--split", "--reconnect-every", "--conn-life",
            ],
            expected: "none with --protocol resp, which has no such thing"
        )
        guard !hasSeveralTargets else {
            throw FlagError(
                flag: "--target",
                expected: "one server with --protocol resp",
                actual: target
            )
        }
        if mix.operations.contains(.create) {
            throw FlagValue("--mix", options.mix)
                .error("vote, list, page and get with --protocol resp")
        }
    }
}

extension SeriesPlan {
    /// The series that `options` ask for; nil where they ask for one run.
    ///
    /// Shuffled steps are in an order of `seed`.
    package init?(_ options: Options, seed: UInt64) throws(FlagError) {
        let asked = ["--search", "--steps", "--ramp", "--runs"]
            .filter { options.given($0) != nil }
        if let flag = asked.first {
            try options.refuse(Array(asked.dropFirst()), expected: "no \(flag) beside it")
        }
        for (owner, flags) in Self.flagsOfSeries where owner != asked.first {
            try options.refuse(flags, expected: "\(owner) with it")
        }
        if options.given("--rate") == nil, asked.isEmpty || asked == ["--runs"] {
            let others = "--rate, --ramp, --steps or --search with it"
            try options.refuse(["--arrival"], expected: others)
        }
        guard let flag = asked.first else { return nil }
        try options.refuse(["--ab", "--compare"], expected: "no \(flag) beside it")
        guard flag != "--ramp" else { return nil }
        if flag != "--runs" { try Self.checkAlone(flag, options) }
        let given = options.series
        if let text = given.search {
            self = .search(try Self.search(text, given))
        } else if let text = given.steps {
            self = try Self.steps(text, options.series, seed: seed)
        } else {
            let count = try FlagValue("--runs", given.runs).count(1...Self.mostRuns)
            self = .runs(count, restartCommand: given.restartCmd)
        }
    }

    /// The flags that mean nothing without the series they belong to.
    private static let flagsOfSeries = [
        ("--runs", ["--restart-cmd"]),
        (
            "--search",
            ["--search-from", "--search-precision", "--search-trial", "--search-confirm"]
        ),
        ("--steps", ["--steps-order"]),
    ]

    /// Refuses flags that say how long or how fast a run is beside one that says it too.
    static func checkAlone(_ flag: String, _ options: Options) throws(FlagError) {
        let expected = "no \(flag) beside it"
        let length = " (--search-trial and --search-confirm say how long it measures)"
        try options.refuse(["--rate"], expected: expected)
        try options.refuse(
            ["--duration"],
            expected: expected + (flag == "--search" ? length : "")
        )
        try options.refuse(["--requests", "--verify-only", "--think"], expected: expected)
        try options.refuse(
            ["--pipeline-mode"],
            expected: "window with \(flag) (batches are a closed loop)"
        )
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
        plan.precision = try FlagValue("--search-precision", options.searchPrecision).share()
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
            try options.refuse(
                ["--ab-protocol", "--rounds", "--slice", "--aa"],
                expected: "--ab with it"
            )
            return nil
        }
        var wireProtocol = configuration.wireProtocol
        if let text = options.abProtocol {
            wireProtocol = try FlagValue("--ab-protocol", text).choice()
        }
        let address = wireProtocol.address(of: target)
        for text in [configuration.target, address] where text.contains(",") {
            throw FlagError(
                flag: "--ab",
                expected: "one server on each side",
                actual: text
            )
        }
        guard address != configuration.target else {
            throw FlagError(flag: "--ab", expected: "another server than --target", actual: target)
        }
        self.init(target: address, wireProtocol: wireProtocol)
        let pairs = RatioEstimate.fewestPairs...Self.mostPairs
        if let text = options.rounds { rounds = try FlagValue("--rounds", text).count(pairs) }
        if let text = options.aa {
            let count = try FlagValue("--aa", text).count(0...pairs.upperBound)
            guard count == 0 || pairs.contains(count) else {
                throw FlagValue("--aa", text)
                    .error("0, or \(pairs.lowerBound) to \(pairs.upperBound)")
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
        try options.refuse(
            [
                "--duration", "--requests", "--verify-only", "--hdr", "--slo", "--compare",
                "--html", "--search", "--steps", "--ramp", "--runs", "--split", "--server-pid",
            ],
            expected: "no --ab beside it (--slice says how long to measure)"
        )
    }
}

extension Options {
    /// What was given for a flag that does not go with all others; nil where it has its default.
    fileprivate func given(_ flag: String) -> String? {
        /// The text of a count that is its default, also in another spelling, as 1.0.
        func usual(_ text: String, _ count: UInt64) -> String? {
            Quantity.count(text) == count ? text : nil
        }
        let (text, ordinary): (String?, String?) =
            switch flag {
            case "--aa": (aa, nil)
            case "--ab": (ab, nil)
            case "--ab-protocol": (abProtocol, nil)
            case "--arrival": (load.arrival, "poisson")
            case "--batch": (load.batch, usual(load.batch, 1))
            case "--cleanup": (load.cleanup ? flag : nil, nil)
            case "--compare": (compare, nil)
            case "--compare-limit": (compareLimit, nil)
            case "--conn-life": (load.connLife, "0")
            case "--duration": (duration, nil)
            case "--feed": (feed, nil)
            case "--hdr": (load.hdr, nil)
            case "--html": (load.html, nil)
            case "--pipeline-mode": (load.pipelineMode, "window")
            case "--ramp": (series.ramp, nil)
            case "--rate": (load.rate, "0")
            case "--reconnect-every": (load.reconnectEvery, "0")
            case "--requests": (requests, nil)
            case "--restart-cmd": (series.restartCmd, nil)
            case "--retry": (load.retry, load.retry.flatMap { usual($0, 0) })
            case "--rounds": (rounds, nil)
            case "--runs": (series.runs, "1")
            case "--search": (series.search, nil)
            case "--search-confirm": (series.searchConfirm, SeriesOptions.usualConfirmation)
            case "--search-from": (series.searchFrom, nil)
            case "--search-precision": (series.searchPrecision, SeriesOptions.usualPrecision)
            case "--search-trial": (series.searchTrial, SeriesOptions.usualTrial)
            case "--server-pid": (load.serverPID, "auto")
            case "--service-key-file": (load.serviceKeyFile, nil)
            case "--slice": (slice, nil)
            case "--slo": (load.slo.first, nil)
            case "--split": (load.split ? flag : nil, nil)
            case "--steps": (series.steps, nil)
            case "--steps-order": (series.stepsOrder, SeriesOptions.usualOrder)
            case "--think": (load.think, "0")
            case "--tls": (load.tls ? flag : nil, nil)
            case "--verify-only": (verifyOnly, nil)
            case "--voters": (voters, usual(voters, 0))
            default: preconditionFailure("\(flag) goes with all others.")
            }
        return text == ordinary ? nil : text
    }

    /// Refuses the first of some flags that was given.
    fileprivate func refuse(_ flags: [String], expected: String) throws(FlagError) {
        try FlagError.refuse(flags.map { ($0, given($0)) }, expected: expected)
    }
}

/// One flag and the text it was given; each method reads the text as one kind of value.
struct FlagValue {
    private let name: String
    private let text: String

    init(_ name: String, _ text: String) {
        self.name = name
        self.text = text
    }

    func count(_ range: ClosedRange<Int>) throws(FlagError) -> Int {
        guard let value = Quantity.count(text), let count = Int(exactly: value),
            range.contains(count)
        else { throw error("\(range.lowerBound) to \(range.upperBound)") }
        return count
    }

    /// Requests a second; nil for 0.
    func rate() throws(FlagError) -> Double? {
        let limits = SeriesPlan.lowestRate...SeriesPlan.highestRate
        guard let rate = Quantity.rate(text), limits.contains(rate) || rate == 0 else {
            throw error("0, or \(limits.lowerBound) to 10000000")
        }
        return rate == 0 ? nil : rate
    }

    /// A difference that counts, or a precision.
    func share() throws(FlagError) -> Double {
        guard let percent = Quantity.percent(text), (0.1...50).contains(percent) else {
            throw error("0.1% to 50%")
        }
        return percent / 100
    }

    func duration(_ range: ClosedRange<Duration>) throws(FlagError) -> Duration {
        guard let value = Quantity.duration(text), range.contains(value) else {
            let lowest = NumberFormat.duration(range.lowerBound)
            throw error("\(lowest) to \(NumberFormat.duration(range.upperBound))")
        }
        return value
    }

    func choice<Choice>() throws(FlagError) -> Choice
    where Choice: RawRepresentable<String> & CaseIterable {
        guard let choice = Choice(rawValue: text) else {
            throw error(Choice.allCases.map(\.rawValue).joined(separator: " or "))
        }
        return choice
    }

    func parse<Value>(_ expected: String, _ parse: (String) -> Value?) throws(FlagError) -> Value {
        guard let value = parse(text) else { throw error(expected) }
        return value
    }

    /// A process id, or nil for `auto`.
    func processID() throws(FlagError) -> Int? {
        if text == "auto" { return nil }
        guard let id = Int(text), id > 0, id <= 1 << 22 else { throw error("auto or a process id") }
        return id
    }

    /// Percentiles above 0 and below 100, in rising order.
    func percentiles() throws(FlagError) -> [Double] {
        let values = text.split(separator: ",").map { Double($0) ?? .nan }
        guard !values.isEmpty, values.count <= 12, values.allSatisfy({ $0 > 0 && $0 < 100 }) else {
            throw error("1 to 12 numbers above 0 and below 100, as 50,99,99.9")
        }
        return values.sorted()
    }

    func error(_ expected: String) -> FlagError {
        FlagError(flag: name, expected: expected, actual: text.isEmpty ? "nothing" : text)
    }
}

/// A flag with an invalid value: names the flag, what it takes and what it got.
package struct FlagError: Error, Equatable, CustomStringConvertible {
    package let flag: String
    package let expected: String
    package let actual: String

    /// The one line that the program prints.
    package var description: String { "\(flag): expected \(expected), got \(actual)." }

    /// Refuses the first of some flags that has a value.
    static func refuse(
        _ flags: [(flag: String, value: String?)],
        expected: String
    ) throws(FlagError) {
        for case (let flag, let value?) in flags {
            throw FlagError(flag: flag, expected: expected, actual: value)
        }
    }
}
