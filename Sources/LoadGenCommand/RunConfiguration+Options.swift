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
            throw FlagError(
                flag: "--no-verify",
                expected: "no --verify-only beside it",
                actual: "--verify-only \(path)"
            )
        }
        comparedPath = options.compare
        comparisonLimit = try Self.comparisonLimit(options)
        if wireProtocol == .resp { try refuseFlagsOfTheFeed(options) }
        try checkLevels()
    }

    /// The load of files that `options` ask for.
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
        let rate = try FlagValue("--rate", options.rate).rate(orNone: true)
        ratePerSecond = rate == 0 ? nil : rate
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
        retryLimit = try FlagValue("--retry", options.retry).count(0...1000)
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
            let files = [
                ("--ca", options.ca), ("--cert", options.cert), ("--key", options.key),
                ("--server-name", options.serverName),
            ]
            for case (let flag, let path?) in files {
                throw FlagError(flag: flag, expected: "--tls with it", actual: path)
            }
            return
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
            throw FlagError(
                flag: "--pipeline-mode",
                expected: "window with --rate (batches are a closed loop)",
                actual: "batch"
            )
        }
        if think != .none && (isOpenLoop || pipelineMode == .batch) {
            throw FlagError(
                flag: "--think",
                expected:
                    "0 with \(isOpenLoop ? "--rate (a closed loop waits)" : "--pipeline-mode batch")",
                actual: think.description
            )
        }
        if retryLimit > 0 && pipelineDepth > RunIdentity.longestPipeline {
            throw FlagError(
                flag: "--pipeline",
                expected: "at most \(RunIdentity.longestPipeline) with --retry",
                actual: "\(pipelineDepth)"
            )
        }
        let mostInFlight = Self.mostVotesInFlight / (clientCount * pipelineDepth)
        if batchVoteCount > max(mostInFlight, 1) {
            throw FlagError(
                flag: "--batch",
                expected: """
                    at most \(max(mostInFlight, 1)) with \(clientCount) clients and pipeline \
                    \(pipelineDepth) (\(Self.mostVotesInFlight) votes in flight)
                    """,
                actual: "\(batchVoteCount)"
            )
        }
        if clientCount < threadCount {
            throw FlagError(
                flag: "--threads",
                expected: "at most one for each of the \(clientCount) clients",
                actual: "\(threadCount)"
            )
        }
    }

    /// Refuses a level of an operation that the run does not have: it would be missed at its end.
    private func checkLevels() throws(FlagError) {
        let names = mix.operations.map(\.name).joined(separator: ", ")
        for level in serviceLevels {
            guard let operation = level.subject.operation, !mix.operations.contains(operation)
            else { continue }
            throw FlagError(
                flag: "--slo",
                expected: "operations of the run (\(names))",
                actual: level.text
            )
        }
    }

    /// The difference that counts between two runs or servers, as a share.
    static func comparisonLimit(_ options: Options) throws(FlagError) -> Double {
        guard let text = options.compareLimit else { return 0.03 }
        guard options.compare != nil || options.ab != nil else {
            throw FlagError(
                flag: "--compare-limit",
                expected: "--compare or --ab with it",
                actual: text
            )
        }
        return try FlagValue("--compare-limit", text).parse("0.1% to 50%") { text in
            Quantity.percent(text).flatMap { (0.1...50).contains($0) ? $0 / 100 : nil }
        }
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
            throw FlagError(
                flag: "--voters",
                expected: """
                    0, or \(clientCount) to \(min(most * clientCount, mostVoters)) with \(clientCount) \
                    clients and \(postCount) posts
                    """,
                actual: options.voters
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
            throw FlagError(
                flag: "--requests",
                expected: "no --duration beside it",
                actual: "--duration \(duration)"
            )
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
        let given: [(flag: String, value: String?)] = [
            ("--feed", options.feed),
            ("--voters", voterCount > 0 ? options.voters : nil),
            ("--verify-only", options.verifyOnly),
            ("--batch", batchVoteCount > 1 ? options.load.batch : nil),
            ("--retry", retryLimit > 0 ? options.load.retry : nil),
            ("--service-key-file", options.load.serviceKeyFile),
            ("--tls", options.load.tls ? "--tls" : nil),
            ("--cleanup", isCleanedUp ? "--cleanup" : nil),
            ("--split", options.load.split ? "--split" : nil),
            (
                "--reconnect-every",
                options.load.reconnectEvery == "0" ? nil : options.load.reconnectEvery
            ),
            ("--conn-life", options.load.connLife == "0" ? nil : options.load.connLife),
        ]
        for case (let flag, let value?) in given {
            throw FlagError(
                flag: flag,
                expected: "none with --protocol resp, which has no such thing",
                actual: value
            )
        }
        if mix.operations.contains(.create) {
            throw FlagError(
                flag: "--mix",
                expected: "vote, list, page and get with --protocol resp",
                actual: options.mix
            )
        }
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

    /// Requests a second; with `orNone` 0 is none.
    func rate(orNone: Bool = false) throws(FlagError) -> Double {
        let limits = SeriesPlan.lowestRate...SeriesPlan.highestRate
        guard let rate = Quantity.rate(text), limits.contains(rate) || orNone && rate == 0 else {
            throw error("\(orNone ? "0, or " : "")\(limits.lowerBound) to 10000000")
        }
        return rate
    }

    /// A length of time within `range`.
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
    /// The flag, with its dashes.
    package let flag: String
    package let expected: String
    package let actual: String

    /// The one line that the program prints.
    package var description: String { "\(flag): expected \(expected), got \(actual)." }
}
