import LoadGen
import LoadGenCommand
import Testing

@Suite struct OptionsTests {
    @Test func hasDefaultsForEverything() throws {
        let configuration = try configure([])
        #expect(configuration.target == "127.0.0.1:7433")
        #expect(configuration.clientCount == 50)
        #expect(configuration.threadCount == 1)
        #expect(configuration.pipelineDepth == 1)
        #expect(configuration.pipelineMode == .window)
        #expect(configuration.ratePerSecond == nil)
        #expect(configuration.duration == .seconds(10))
        #expect(configuration.warmup == .seconds(2))
        #expect(configuration.mix == .vote)
        #expect(configuration.postCount == 1000)
        #expect(configuration.keys == .zipf(exponent: 0.99))
        #expect(configuration.timeout == .seconds(2))
        #expect(!configuration.isLatencySplit)
        #expect(configuration.isVerified)
        #expect(configuration.percentiles == [50, 90, 99, 99.9, 99.99])
        #expect(configuration.progressInterval == nil)
    }

    @Test func takesTheServicesOfACluster() throws {
        let configuration = try configure(["--target", "a.test,[::1]:9,10.0.0.1"])
        #expect(configuration.target == "a.test:7433,[::1]:9,10.0.0.1:7433")
        #expect(configuration.targets == ["a.test:7433", "[::1]:9", "10.0.0.1:7433"])
        for arguments in [["--protocol", "resp"], ["--ab", "c.test"]] {
            #expect(throws: FlagError.self) {
                let options = try Options.reading(["--target", "a.test,b.test"] + arguments)
                let configuration = try RunConfiguration(options, coreCount: 2, isTerminal: false)
                _ = try SideBySideConfiguration(options, configuration)
            }
        }
    }

    @Test func takesEveryFlag() throws {
        let configuration = try configure([
            "--target", "[::1]:9", "-c", "1k", "-t", "4", "-P", "16", "--rate", "250k",
            "--arrival", "uniform", "-d", "1500ms", "-w", "500us", "--mix", "feed",
            "--posts", "10M", "--feed", "tweets", "--keys", "hot:0.2:0.8", "--page-size", "100",
            "--seed", "9", "--timeout", "30s", "--connect-timeout", "1", "--no-verify",
            "--split",
            "--json", "-", "--hdr", "x", "--slo", "p99<5ms", "--slo", "audit=ok",
            "--server-pid", "12", "--progress", "5s", "--percentiles", "99.9,50",
        ])
        #expect(configuration.target == "[::1]:9")
        #expect(configuration.clientCount == 1000)
        #expect(configuration.threadCount == 4)
        #expect(configuration.pipelineDepth == 16)
        #expect(configuration.ratePerSecond == 250_000)
        #expect(configuration.arrival == .uniform)
        #expect(configuration.duration == .milliseconds(1500))
        #expect(configuration.warmup == .microseconds(500))
        #expect(configuration.mix == .feed)
        #expect(configuration.postCount == 10_000_000)
        #expect(configuration.feed == "tweets")
        #expect(configuration.keys == .hot(fraction: 0.2, share: 0.8))
        #expect(configuration.pageSize == 100)
        #expect(configuration.seed == 9)
        #expect(configuration.timeout == .seconds(30))
        #expect(configuration.connectTimeout == .seconds(1))
        #expect(!configuration.isVerified)
        #expect(configuration.isLatencySplit)
        #expect(configuration.jsonPath == "-")
        #expect(configuration.histogramPrefix == "x")
        #expect(configuration.serviceLevels.map(\.text) == ["p99<5ms", "audit=ok"])
        #expect(configuration.serverPID == 12)
        #expect(configuration.progressInterval == .seconds(5))
        #expect(configuration.percentiles == [50, 99.9])
    }

    @Test func votersGetAFeedOfBallots() throws {
        let plain = try configure([])
        #expect(plain.voterCount == 0 && plain.feed == "loadgen" && plain.ballotByteCount == 0)
        #expect(plain.usesOwnFeed)
        let voters = try configure(["--voters", "10k", "-c", "500"])
        #expect(
            voters.voterCount == 10_000 && voters.feed == "loadgen-ballots" && voters.usesOwnFeed
        )
        #expect(voters.ballotByteCount == 5_000_000)
        let named = try configure(["--voters", "50", "--feed", "polls"])
        #expect(named.feed == "polls" && !named.usesOwnFeed)
    }

    @Test func aTargetNeedsNoPort() throws {
        #expect(try configure(["--target", "feed.example.org"]).target == "feed.example.org:7433")
        let audit = try configure(["--target", "[::1]", "--verify-only", "x"])
        #expect(audit.target == "[::1]:7433")
        let redis = try comparison(["--ab", "10.0.0.7", "--ab-protocol", "resp"])
        #expect(redis?.target == "10.0.0.7:6379")
    }

    @Test func aClusterIsTriedAgainUnlessTheRunSaysOtherwise() throws {
        #expect(try configure([]).retryLimit == 0)
        #expect(try configure(["--target", "a,b,c"]).retryLimit == 30)
        #expect(try configure(["--target", "a,b,c", "--retry", "0"]).retryLimit == 0)
        let error = #expect(throws: FlagError.self) {
            try configure(["--target", "a,b", "-P", "512"])
        }
        #expect(error?.description.contains("where --target has several services") == true)
    }

    @Test func redisServerIsLookedForAtItsOwnPort() throws {
        let plain = try configure(["--protocol", "resp"])
        #expect(plain.wireProtocol == .resp && plain.target == "127.0.0.1:6379")
        let named = try configure(["--protocol", "resp", "--target", "[::1]:9"])
        #expect(named.target == "[::1]:9")
    }

    @Test(arguments: [
        (["--feed", "x"], "--feed"), (["--voters", "50"], "--voters"),
        (["--retry", "1"], "--retry"),
        (["--verify-only", "x"], "--verify-only"), (["--batch", "2"], "--batch"),
        (["--tls"], "--tls"), (["--split"], "--split"), (["--mix", "feed"], "--mix"),
    ])
    func refusesWhatRedisServerDoesNotHave(_ arguments: [String], _ flag: String) throws {
        let error = #expect(throws: FlagError.self) {
            try configure(["--protocol", "resp"] + arguments)
        }
        #expect(error?.flag == flag)
        #expect(error?.expected.contains("with --protocol resp") == true)
    }

    @Test func comparesTwoServersAsAsked() throws {
        let plain = try #require(try comparison(["--ab", "127.0.0.1:1"]))
        #expect(plain.target == "127.0.0.1:1" && plain.wireProtocol == .feed)
        #expect(plain.rounds == 24 && plain.controlCount == 8 && plain.repeatLimit == 3)
        #expect(plain.slice == .seconds(3) && plain.settle == .milliseconds(500))
        let all = try #require(
            try comparison([
                "--ab", "127.0.0.1:1", "--ab-protocol", "resp", "--rounds", "6", "--aa", "0",
                "--slice", "100ms",
            ])
        )
        #expect(all.wireProtocol == .resp && all.rounds == 6 && all.controlCount == 0)
        #expect(all.slice == .milliseconds(100))
        #expect(try comparison([]) == nil)
    }

    @Test(
        arguments: [
            (["--rounds", "6"], "--rounds: expected --ab with it, got 6."),
            (["--ab-protocol", "resp"], "--ab-protocol: expected --ab with it, got resp."),
            (["--ab", "x", "--rounds", "5"], "--rounds: expected 6 to 200, got 5."),
            (["--ab", "x", "--aa", "5"], "--aa: expected 0, or 6 to 200, got 5."),
            (["--ab", "x", "--slice", "99ms"], "--slice: expected 100ms to 600s, got 99ms."),
            (
                ["--compare-limit", "5%"],
                "--compare-limit: expected --compare or --ab with it, got 5%."
            ),
            (
                ["--compare", "x", "--compare-limit", "0"],
                "--compare-limit: expected 0.1% to 50%, got 0."
            ),
            (
                ["--ab", "x", "-d", "3s"],
                "--duration: expected no --ab beside it (--slice says how long to measure), got 3s."
            ),
            (
                ["--target", "x:7433", "--ab", "x"],
                "--ab: expected another server than --target, got x."
            ),
            (
                ["--ab", "x", "--runs", "3"],
                "--runs: expected no --ab beside it (--slice says how long to measure), got 3."
            ),
            (
                ["--ab", "x", "--html", "y"],
                "--html: expected no --ab beside it (--slice says how long to measure), got y."
            ),
            (
                ["--ab", "x", "--split"],
                "--split: expected no --ab beside it (--slice says how long to measure), got --split."
            ),
            (
                ["--ab", "x", "--slo", "p99<5ms"],
                "--slo: expected no --ab beside it (--slice says how long to measure), got p99<5ms."
            ),
            (
                ["--ab", "x", "--ab-protocol", "resp", "--feed", "y"],
                "--feed: expected none with --protocol resp, which has no such thing, got y."
            ),
        ] as [([String], String)]
    )
    func refusesFlagsThatDoNotFitAComparison(_ arguments: [String], _ text: String) throws {
        let error = #expect(throws: FlagError.self) { try comparison(arguments) }
        #expect(error?.description == text)
    }

    @Test func takesADefaultInAnySpellingBesideRESP() throws {
        let given = ["--batch", "1.0", "--retry", "00", "--voters", "0k"]
        #expect(try configure(["--protocol", "resp"] + given).wireProtocol == .resp)
    }

    @Test func refusesALevelOfWhatTheRunDoesNot() throws {
        let error = #expect(throws: FlagError.self) {
            try configure(["--mix", "vote=9,page=1", "--slo", "list.p99<5ms"])
        }
        #expect(
            error?.description
                == "--slo: expected operations of the run (vote, page), got list.p99<5ms."
        )
        #expect(
            try configure(["--mix", "list=1", "--slo", "list.max<5ms"]).serviceLevels.count == 1
        )
    }

    private func comparison(_ arguments: [String]) throws -> SideBySideConfiguration? {
        let options = try Options.reading(arguments)
        let configuration = try RunConfiguration(options, coreCount: 2, isTerminal: false)
        return try SideBySideConfiguration(options, configuration)
    }

    @Test(arguments: [
        (["--voters", "49"], "0, or 50 to 2147450 with 50 clients and 1000 posts"),
        (["--voters", "2148k"], "0, or 50 to 2147450 with 50 clients and 1000 posts"),
        (["--voters", "65537", "-c", "1"], "0, or 1 to 65536 with 1 clients and 1000 posts"),
        (["--voters", "11M", "-c", "500"], "0 to 10000000"),
    ])
    func boundsTheVoters(_ arguments: [String], _ expected: String) throws {
        let error = #expect(throws: FlagError.self) { try configure(arguments) }
        #expect(error?.flag == "--voters")
        #expect(error?.expected == expected)
    }

    @Test func aNumberOfRequestsReplacesTheDuration() throws {
        let configuration = try configure(["-n", "50k", "--pipeline-mode", "batch", "-P", "8"])
        #expect(configuration.requestCount == 50_000)
        #expect(configuration.duration == nil)
        #expect(configuration.pipelineMode == .batch)
    }

    @Test func spreadsManyClientsOverTheCores() throws {
        let options = try Options.reading(["-c", "2000"])
        let large = try RunConfiguration(options, coreCount: 16, isTerminal: true)
        let small = try RunConfiguration(options, coreCount: 1, isTerminal: true)
        #expect(large.threadCount == 8)
        #expect(small.threadCount == 1)
        #expect(large.progressInterval == .seconds(1))
    }

    @Test func drawsASeedWhereItIsRandom() throws {
        #expect(try configure(["--seed", "random"]).seed > 0)
    }

    @Test(
        arguments: [
            (["--clients", "0"], "--clients: expected 1 to 10000, got 0."),
            (["--clients", "10001"], "--clients: expected 1 to 10000, got 10001."),
            (["--clients", ""], "--clients: expected 1 to 10000, got nothing."),
            (["--threads", "65"], "--threads: expected 1 to 64, got 65."),
            (
                ["--threads", "3", "-c", "2"],
                "--threads: expected at most one for each of the 2 clients, got 3."
            ),
            (["--pipeline", "2000"], "--pipeline: expected 1 to 1024, got 2000."),
            (["--batch", "0"], "--batch: expected 1 to 256, got 0."),
            (["--batch", "257"], "--batch: expected 1 to 256, got 257."),
            (
                ["--batch", "256", "-c", "10000", "-P", "256"],
                "--batch: expected at most 26 with 10000 clients and pipeline 256 "
                    + "(67108864 votes in flight), got 256."
            ),
            (["--pipeline-mode", "x"], "--pipeline-mode: expected window or batch, got x."),
            (
                ["--pipeline-mode", "batch", "-R", "5"],
                "--pipeline-mode: expected window with --rate (batches are a closed loop), got batch."
            ),
            (["--rate=-1"], "--rate: expected 0, or 0.001 to 10000000, got -1."),
            (["--rate", "0.0001"], "--rate: expected 0, or 0.001 to 10000000, got 0.0001."),
            (["--server-name", "x"], "--server-name: expected --tls with it, got x."),
            (["--protocol", "http"], "--protocol: expected feed or resp, got http."),
            (["--arrival", "often"], "--arrival: expected poisson or uniform, got often."),
            (["--duration", "0"], "--duration: expected 1ms to 86400s, got 0."),
            (["--duration", "5x"], "--duration: expected 1ms to 86400s, got 5x."),
            (
                ["-n", "5", "-d", "1s"],
                "--requests: expected no --duration beside it, got --duration 1s."
            ),
            (["--requests", "0"], "--requests: expected 1 to 1000000000000, got 0."),
            (["--warmup", "2h"], "--warmup: expected 0s to 3600s, got 2h."),
            (
                ["--mix", "vote=0"],
                "--mix: expected vote, feed, or weights as vote=95,page=5, got vote=0."
            ),
            (["--posts", "11M"], "--posts: expected 1 to 10000000, got 11M."),
            (
                ["--feed", "9lives"],
                "--feed: expected a name of a-z, 0-9 and -, a letter first, at most 63, got 9lives."
            ),
            (
                ["--keys", "zip"],
                "--keys: expected uniform, zipf:S, hot:F:P, latest:S, seq or one, got zip."
            ),
            (["--page-size", "101"], "--page-size: expected 1 to 100, got 101."),
            (["--seed", "x"], "--seed: expected a number or random, got x."),
            (["--timeout", "2m"], "--timeout: expected 1ms to 60s, got 2m."),
            (["--connect-timeout", "0"], "--connect-timeout: expected 1ms to 60s, got 0."),
            (["--server-pid", "0"], "--server-pid: expected auto or a process id, got 0."),
            (["--progress", "10ms"], "--progress: expected 1s to 3600s, got 10ms."),
            (
                ["--percentiles", "50,100"],
                "--percentiles: expected 1 to 12 numbers above 0 and below 100, as 50,99,99.9, got 50,100."
            ),
            (["--slo", "p99"], "--slo: expected \(ServiceLevel.forms), got p99."),
            (["--slo", "p99<5"], "--slo: expected \(ServiceLevel.forms), got p99<5."),
            (["--slo", "max<1s,"], "--slo: expected \(ServiceLevel.forms), got max<1s,."),
        ] as [([String], String)]
    )
    func saysWhichFlagIsWrong(_ arguments: [String], _ text: String) throws {
        let error = #expect(throws: FlagError.self) { try configure(arguments) }
        #expect(error?.description == text)
    }

    @Test(arguments: [("0.5", 0.5), ("1.5k", 1500), ("10M", 1e7)] as [(String, Double)])
    func takesRatesWithAFraction(_ text: String, _ rate: Double) throws {
        #expect(try configure(["--rate", text]).ratePerSecond == rate)
    }

    @Test func takesSeveralLevelsInOneFlag() throws {
        let configuration = try configure(["--slo", "p99<5ms,errors<1%", "--slo", "audit=ok"])
        #expect(configuration.serviceLevels.map(\.text) == ["p99<5ms", "errors<1%", "audit=ok"])
    }
}

@Suite struct HelpTests {
    /// A text over several lines of the source has a gap where a line lacks its backslash.
    @Test(arguments: [[], ["dataset"], ["report"]])
    func helpHasNoGaps(_ command: [String]) throws {
        let arguments = CommandLineArguments(command + ["--experimental-dump-help"])
        let error = #expect(throws: (any Error).self) { try arguments.options() }
        let text = arguments.message(for: try #require(error))
        let lines = text.split(separator: "\n").filter { $0.contains(#""abstract""#) }
        #expect(lines.count > 3 || command == ["report"])
        for line in lines + text.split(separator: "\n").filter({ $0.contains(#""discussion""#) }) {
            let value = line.drop { $0 == " " }
            #expect(!value.contains("  "), "\(value)")
        }
    }
}

@Suite struct QuantityTests {
    @Test(
        arguments: [
            ("250", 250), ("2k", 2000), ("1.5M", 1_500_000), ("1G", 1_000_000_000),
        ] as [(String, UInt64)]
    )
    func readsCounts(_ text: String, _ value: UInt64) {
        #expect(Quantity.count(text) == value)
    }

    @Test(arguments: ["", "k", "1.5", "-1", "1e3", "2 k", "1kk", "0x10", "٣"])
    func refusesWhatIsNoCount(_ text: String) {
        #expect(Quantity.count(text) == nil)
    }

    @Test(
        arguments: [
            ("1", 1_000_000_000), ("5ms", 5_000_000), ("1.5us", 1500), ("20ns", 20),
            ("2m", 120_000_000_000),
            ("1h", 3_600_000_000_000), ("1m30s", 90_000_000_000), ("1h0.5m2ms", 3_630_002_000_000),
        ] as [(String, Int64)]
    )
    func readsDurations(_ text: String, _ nanoseconds: Int64) {
        #expect(Quantity.duration(text) == .nanoseconds(nanoseconds))
    }

    @Test(arguments: ["", "s", "1m30", "30s1m", "1m1m", "-1s", "1 s", "1m s", ".", "1e3s"])
    func refusesWhatIsNoDuration(_ text: String) {
        #expect(Quantity.duration(text) == nil)
    }
}
