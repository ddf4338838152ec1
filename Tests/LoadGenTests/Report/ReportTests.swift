import FeedClient
import FeedProto
import Foundation
import Histogram
import LoadGen
import LoadGenCommand
import Testing

@Suite struct ReportTests {
    /// A run as a closed loop of 500 clients might have gone.
    func sample(_ arguments: [String] = ["-c", "500", "-d", "3s"]) throws -> RunReport {
        var result = RunReport(configuration: try configure(arguments), environment: Environment())
        result.environment.coreCount = 2
        var histogram = LatencyScale.makeHistogram()
        histogram.record(2_000_000, count: 999)
        histogram.record(30_000_000, count: 1)
        for measure in result.configuration.isOpenLoop ? Measure.allCases : [.service] {
            result.totals.latencies[LatencyKey(.vote, measure)] = histogram
        }
        result.totals.outcomes.sent = 1200
        result.totals.outcomes.ok = 1197
        result.totals.outcomes.error = 2
        result.totals.outcomes.timeout = 1
        result.totals.failures.count(.requestTimeout)
        result.totals.failures.countServerError("RESOURCE_EXHAUSTED/OVERLOADED")
        result.totals.measuredAnswers[0] = 1_200_000
        result.totals.measuredRequestCount = 1_200_000
        result.totals.traffic.bytesIn = 5_000_000
        result.totals.traffic.bytesOut = 250_000
        result.measuredSeconds = 3
        result.startMicroseconds = 1_780_000_000_250_000
        for second in 1...5 {
            let counts = IntervalCounts(
                answered: [UInt64(second) * 100_000, 0, 0, 0, 0],
                latencies: histogram
            )
            result.intervals.append(
                RunReport.Interval(
                    endSeconds: Double(second),
                    seconds: 1,
                    isMeasured: second > 2,
                    counts: counts
                )
            )
        }
        result.hottestShare = 0.129
        result.openedConnectionCount = 500
        result.serverPID = 4121
        result.loopIdleShares = [0.28]
        result.server = usage(2.94, busiest: 0.98)
        result.generator = usage(2.13, busiest: 0.71)
        var summary = AuditSummary()
        summary.acknowledgedVoteCount = 1197
        summary.countedVoteCount = 1198
        summary.unknownVoteCount = 1
        summary.failedVoteCount = 2
        summary.exactPostCount = 999
        summary.postCount = 1000
        summary.listedPostCount = 1000
        result.audit = .done(summary)
        return result
    }

    private func usage(_ seconds: Double, busiest: Double, cores: Set<Int> = []) -> ProcessUsage {
        let run = UInt64(busiest * 3e9)
        let other = UInt64(seconds * 1e9) - run
        return ProcessUsage(
            from: ProcessSample(tasks: [:]),
            to: ProcessSample(
                tasks: [
                    1: .init(runNanoseconds: run, waitNanoseconds: 0),
                    2: .init(runNanoseconds: other, waitNanoseconds: 0),
                ],
                userTicks: 40,
                systemTicks: 60,
                residentByteCount: 20_000_000,
                cores: cores
            ),
            intervalSeconds: 3
        )
    }

    @Test func readsAsItShould() throws {
        let text = TextReport(try sample()).rendered()
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.contains("debug build") }
        #expect(lines.joined(separator: "\n") == Self.golden)
    }

    private static let golden = """
        loadgen  seed 1  500 clients × pipeline 1 (window)  closed loop  1 thread
        target 127.0.0.1:7433 (pid 4121)  feed loadgen  1000 posts  zipf:0.99 (hottest post 12.9%)  mix vote=100
        warm-up 2s, measured 3.00 s    VERDICT  NOT COMPARABLE, SERVER-BOUND
          Compare no figure of this run with another's: find out first why answers are missing.
          1 of 1,200 requests had no answer (limit 0.01%): they are in no latency.

        Throughput   400.0k op/s   per-second min 300.0k  p50 400.0k  max 500.0k
                     vote 400.0k/s   in 1.00 MB/s   out 0.05 MB/s (with the warm-up)

        Latency [ms]           mean      p50      p90      p99    p99.9   p99.99      max   (closed loop: response = service)
          vote                 2.03     2.00     2.00    ~2.00        -        -     30.0

        CPU          server     0.98 cores  2.450 CPU-s/Mop (user 40%)  20.0 MB resident
                     generator  0.71 cores  1.775 CPU-s/Mop (user 40%)  20.0 MB resident, loop idle 28%
                     Little: X·W = 811.4 of 500 in flight

        Outcomes     sent 1,200 = ok 1,197 + error 2 + timeout 1 + lost 0   connections 500, lost 0
                     request timeout 1   RESOURCE_EXHAUSTED/OVERLOADED 1

        Audit        PASS  votes acked 1,197  unknown 1  failed 2  counted by server 1,198
                     999 of 1000 posts exact   0 created   1000 listed

        """

    /// A run of two saturated processes, with the cores that each might run on.
    private func crowded(
        _ serverCores: Set<Int>,
        _ generatorCores: Set<Int>,
        _ flags: [String] = []
    ) throws -> RunReport {
        var result = try sample(flags)
        result.loopIdleShares = [0.01]
        result.server = usage(2.94, busiest: 0.96, cores: serverCores)
        result.generator = usage(2.94, busiest: 0.97, cores: generatorCores)
        return result
    }

    @Test func callsARunOnSharedCoresALowerBound() throws {
        let result = try crowded([0, 1], [0, 1])
        #expect(result.crowdedCoreCount == 2)
        let text = TextReport(result).rendered()
        #expect(text.contains("VERDICT  LOWER BOUND, BOTH SATURATED\n  A lower bound: the "))
        #expect(text.contains("as the generator shares 2 cores with it. For a figure to compare, "))
        #expect(!text.contains("INVALID"))
    }

    @Test func callsItInvalidForThoseWhoCompare() throws {
        let strict = try crowded([0, 1], [0, 1], ["--strict"])
        let text = TextReport(strict).rendered()
        #expect(text.contains("VERDICT  INVALID, BOTH SATURATED"))
        #expect(text.hasSuffix("exit 4\n"))
        #expect(strict.exitStatus == .invalid)
        #expect(try crowded([0, 1], [0, 1]).exitStatus == .success)
        #expect(try sample(["--strict"]).exitStatus == .invalid)
        // A life of a connection that ends is no loss of it.
        var whole = try sample(["--strict"])
        (whole.totals.retries.reconnectCount, whole.totals.reopenedCount) = (3, 3)
        (whole.totals.outcomes.ok, whole.totals.outcomes.timeout) = (1198, 0)
        #expect(whole.exitStatus == .success)
        whole.totals.reopenedCount = 2
        #expect(whole.verdict.reasons == ["Connections were lost: 1."])
        let json = try crowded([0, 1], [0, 1]).json
        let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
        let verdict = try #require(object?["verdict"] as? [String: Any])
        #expect(verdict["valid"] as? Bool == false)
        #expect(verdict["figures"] as? String == "lower bound")
        #expect(verdict["shared_cores"] as? Int == 2)
        #expect((verdict["summary"] as? String)?.contains("shares 2 cores") == true)
    }

    @Test func seesNoCrowdWhereCoresAreApartOrIdle() throws {
        #expect(try crowded([0], [1]).crowdedCoreCount == nil)
        #expect(try crowded(Set(0..<64), Set(0..<64)).crowdedCoreCount == nil)
        #expect(try crowded([], []).crowdedCoreCount == nil)
        let text = TextReport(try crowded([0], [1])).rendered()
        #expect(text.contains("as the generator was at its limit."))
    }

    @Test func showsAllThreeMeasuresOfAnOpenLoop() throws {
        let text = TextReport(try sample(["-R", "400k", "-c", "500", "-d", "3s"])).rendered()
        for line in [
            "open loop 400.0k/s (poisson)", "achieved 400.0k/s", "\n  response ", "\n  service ",
            "\n  generator slip ", "what a user sees",
        ] {
            #expect(text.contains(line), "\(line)")
        }
    }

    @Test func showsTheTimesOfTheServiceItself() throws {
        var result = try sample()
        #expect(!TextReport(result).rendered().contains("in the service"))
        func times(_ method: String, _ factor: UInt64) -> LatencyStats {
            LatencyStats(
                method: method,
                answerCount: 1000,
                medianNanoseconds: 4_000 * factor,
                p90Nanoseconds: 5_000 * factor,
                p99Nanoseconds: 12_000 * factor,
                p999Nanoseconds: 50_000 * factor,
                maximumNanoseconds: 90_000 * factor
            )
        }
        result.serverTimes = ServerTimes(calls: [times("cast_vote", 1)], held: times("", 300))
        let text = TextReport(result).rendered()
        #expect(text.contains("cast_vote p50 0.004  p99 0.012  p99.9 0.050 ms"))
        #expect(text.contains("of it held until durable p50 1.20  p99 3.60  p99.9 15.0 ms"))
        let json = result.json
        #expect(json.contains("\"server_times_ms\" : {"))
        #expect(json.contains("\"cast_vote\" : {"))
    }

    @Test func showsWhatTheAuditFound() throws {
        var result = try sample()
        guard case .done(var summary) = result.audit else { return }
        summary.findings.note(.lostVote, count: 3, "Post 7: 3 votes acknowledged, 0 counted.")
        result.audit = .done(summary)
        let text = TextReport(result).rendered()
        #expect(text.contains("Audit        FAIL"))
        #expect(text.contains("acknowledged votes lost: 3"))
        #expect(text.contains("Post 7: 3 votes acknowledged, 0 counted."))
        #expect(text.hasSuffix("exit 3\n"))
    }

    @Test func exitsByWhatWeighsMost() throws {
        var result = try sample(["--slo", "p50<1ms"])
        #expect(result.exitStatus == .sloMissed)
        result.configuration.isStrict = true
        result.loopIdleShares = [0.01]
        #expect(result.exitStatus == .invalid)
        result.lostConnectionCount = 1
        #expect(result.exitStatus == .failed)
        result.totals.outcomes.sent += 1
        #expect(result.exitStatus == .auditFailed)
        #expect(TextReport(result).rendered().contains("does not add up"))
    }

    @Test func isValidJSONWithEveryNumberOrNull() throws {
        var results = [
            try sample(), try sample(["-R", "1k", "--slo", "rate>=1", "--mix", "feed"]),
            RunReport(configuration: try configure([]), environment: Environment()),
        ]
        results[0].hottestShare = .nan
        results[0].environment.command = "a \"quoted\"\n\u{1} \\ command"
        for result in results {
            let text = result.json
            let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
            let root = try #require(object)
            #expect(root["schema"] as? Int == 1)
            for member in ["config", "env", "ops", "outcomes", "errors", "cpu", "audit", "verdict"]
            {
                #expect(root[member] is [String: Any], "\(member)")
            }
        }
        let text = results[0].json
        #expect(text.contains("\"hottest_post_share\" : null"))
        #expect(text.contains("\"hdr\" : \"HISTFAAA"))
        #expect(text.contains("\"RESOURCE_EXHAUSTED/OVERLOADED\" : 1"))
        #expect(text.contains("\"server_pid\" : 4121"))
        #expect(text.contains("\"p99\" : 2"))
    }

    @Test func encodesHistogramsAsTheFormatSays() throws {
        var histogram = LatencyScale.makeHistogram()
        histogram.record(64, count: 3)
        histogram.record(64 * 10, count: 200)
        let bytes = HistogramEncoding.encoded(histogram)
        #expect(Array(bytes[..<4]) == [0x1C, 0x84, 0x93, 0x13])
        // One empty bucket, 3, eight empty ones, 200: ZigZag makes them 1, 6, 15 and 400.
        #expect(Array(bytes[40...]) == [1, 6, 15, 0x90, 0x03])
        #expect(Array(bytes[4..<8]) == [0, 0, 0, 5])
        #expect(HistogramEncoding.base64(histogram).hasPrefix("HISTFAAA"))
    }

    @Test func namesItsHistogramFiles() throws {
        var result = try sample()
        let histogram = try #require(result.totals.merged(.service))
        result.intervals[2].encoded = [.vote: LoggedHistogram(histogram)]
        let files = HistogramFiles(result).texts
        #expect(files.map(\.suffix) == [".vote.hgrm", ".hlog"])
        #expect(files[0].text.contains("Total count    =         1000"))
        #expect(files[1].text.contains("\nTag=vote,2.000,1.000,30.0"))
        let start = "#[StartTime: 1780000000.250 (seconds since epoch), 2026-05-28T20:26:40Z]"
        #expect(files[1].text.contains(start), "\(files[1].text)")
    }

    @Test(
        arguments: [
            (0, "0.0"), (0.5, "0.500"), (0.001, "0.001"), (1, "1.0"), (12.34, "12.3"),
            (1234, "1234"), (12_345, "12.3k"), (999_949, "999.9k"),
            (1_250_000, "1.25M"),
        ] as [(Double, String)]
    )
    func printsRates(_ value: Double, _ text: String) {
        #expect(NumberFormat.rate(value) == text)
    }

    @Test(
        arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")]
            as [(UInt64, String)]
    )
    func printsCounts(_ value: UInt64, _ text: String) {
        #expect(NumberFormat.count(value) == text)
    }
}

/// Reports with numbers that no run has: each is an error that names the member, and none a trap.
@Suite struct ReportLimitsTests {
    /// A member, the number that its first place in the file gets, and how the error begins.
    static let wrong: [(key: String, number: String, cause: String)] = [
        (
            "warmup_seconds", "9223372036854775808",
            "config.warmup_seconds: expected 0 to 3600, got 9.223372036854776e+18."
        ),
        ("duration_seconds", "1e308", "config.duration_seconds: expected 0 to 86400, got 1e+308."),
        ("timeout_seconds", "-1", "config.timeout_seconds: expected 0 to 60, got -1."),
        (
            "pipeline", "-9223372036854775808",
            "config.pipeline: expected 1 to 1024, got -9223372036854775808."
        ),
        ("clients", "9223372036854775807", "config.clients: expected 1 to 10000000, got "),
        ("voters", "-1", "config.voters: expected 0 to 10000000, got -1."),
        ("first_bucket", "9223372036854775807", "intervals[0].response_ms: first_bucket "),
        ("first_bucket", "-1", "intervals[0].response_ms: first_bucket "),
        ("max", "1e308", "intervals[0].response_ms.max: expected 0 to 1000000000, got 1e+308."),
        ("end_seconds", "-1", "intervals[0].end_seconds: expected 0 to "),
        ("errors", "-1", "intervals[0].errors: expected 0 to 68719476736, got -1."),
        ("vote", "1e30", "intervals[0].vote: expected 0 to 68719476736, got 1e+30."),
        ("sent", "18446744073709551615", "outcomes.sent: expected 0 to 1125899906842624, got "),
        ("bytes_in", "18446744073709551615", "connections.bytes_in: expected 0 to "),
        ("opened", "-1", "connections.opened: expected 0 to "),
        ("votes_counted", "-9223372036854775808", "audit.votes_counted: expected -"),
        ("measured_seconds", "-1", "measured_seconds: expected 0 to "),
    ]

    /// The failure of reading a report in which a pattern was replaced once.
    private func failure(
        _ pattern: String,
        _ replacement: String,
        _ arguments: [String] = ["-c", "500", "-d", "3s"]
    ) throws -> (cause: String, isUsage: Bool)? {
        let report = try ReportTests().sample(arguments).json
        let text = report.replacing(try Regex(pattern), with: replacement, maxReplacements: 1)
        try #require(text != report, "\(pattern) is in the report")
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try text.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let failure = #expect(throws: RunFailure.self) {
            try ReportDocument(reading: file.path()).result(path: file.path())
        }
        guard case .badFile(let path, let cause)? = failure else { return nil }
        #expect(path == file.path())
        return (cause, failure?.exitStatus == .usage)
    }

    @Test(arguments: wrong)
    func namesTheMemberAndItsLimits(_ key: String, _ number: String, _ cause: String) throws {
        let found = try failure("\"\(key)\" : -?[0-9][0-9.e+]*", "\"\(key)\" : \(number)")
        #expect(found?.cause.hasPrefix(cause) == true, "\(found?.cause ?? "no cause")")
        #expect(found?.isUsage == true)
    }

    @Test func namesAPercentileThatIsNone() throws {
        let found = try failure(#"\b77\b"#, "1e308", ["--percentiles", "50,77"])
        #expect(found?.cause == "config.percentiles[1]: expected 0 to 100, got 1e+308.")
    }

    @Test(arguments: [("arrival", "sometimes"), ("mix", "vote=0"), ("keys", "hot:2")])
    func namesATextThatIsNoValue(_ key: String, _ text: String) throws {
        let found = try failure("\"\(key)\" : \"[^\"]*\"", "\"\(key)\" : \"\(text)\"")
        let cause = "config.\(key): expected a value that loadgen takes, got \"\(text)\"."
        #expect(found?.cause == cause)
    }

    @Test func namesABucketWithANegativeCount() throws {
        let found = try failure(#""buckets" : \[\s*[0-9]+"#, #""buckets" : [ -1"#)
        #expect(found?.cause.hasPrefix("intervals[0].response_ms: ") == true)
    }

    /// The page of a comparison is made without a result, so its numbers are not looked at before.
    @Test func aPageSurvivesEveryNumber() throws {
        let latencies = [
            #"{"first_bucket":9223372036854775807,"buckets":[1]}"#,
            #"{"first_bucket":-1e308,"buckets":[1]}"#, #"{"first_bucket":3,"buckets":[-1,1e308]}"#,
        ]
        let intervals = (0..<600).map { number in
            #"{"end_seconds":1e308,"seconds":-1,"response_ms":\#(latencies[number % 3])}"#
        }
        let text = """
            {"schema":1,"config":{},"ab":{},"intervals":[\(intervals.joined(separator: ","))]}
            """
        let document = try #require(ReportDocument(parsing: text, name: "run"))
        #expect(document.isSideBySide)
        #expect(ReportPage([document]).rendered().contains(#"data-errors="0""#))
    }
}

/// The files that `--json` and the like name.
@Suite struct OutputFileTests {
    private let manager = FileManager.default

    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = manager.temporaryDirectory.appending(path: UUID().uuidString).path()
        try manager.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? manager.removeItem(atPath: folder) }
        try body(folder)
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOfFile: path, encoding: .utf8)
    }

    private func type(_ path: String) throws -> FileAttributeType? {
        try manager.attributesOfItem(atPath: path)[.type] as? FileAttributeType
    }

    @Test func writesIntoTheFileBehindALinkAndKeepsItsMode() throws {
        try withFolder { folder in
            let (file, link) = (folder + "/run.json", folder + "/latest.json")
            let earlier = "a report of an earlier run\n"
            try earlier.write(toFile: file, atomically: true, encoding: .utf8)
            try manager.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
            try manager.createSymbolicLink(atPath: link, withDestinationPath: file)
            let output = OutputFile(flag: "--json", path: link)
            try output.check()
            #expect(try text(file) == earlier)
            try output.write("new\n")
            #expect(try text(file) == "new\n")
            #expect(try type(link) == .typeSymbolicLink)
            let mode = try manager.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o640)
        }
    }

    @Test("a missing file is made by the report and not before", arguments: [false, true])
    func makesAMissingFile(_ isLinked: Bool) throws {
        try withFolder { folder in
            let file = folder + "/run.json"
            let path = isLinked ? folder + "/latest.json" : file
            if isLinked { try manager.createSymbolicLink(atPath: path, withDestinationPath: file) }
            let output = OutputFile(flag: "--json", path: path)
            try output.check()
            #expect(!manager.fileExists(atPath: file))
            try output.write("new\n")
            #expect(try text(file) == "new\n")
            #expect(try type(path) == (isLinked ? .typeSymbolicLink : .typeRegular))
        }
    }

    // A link stands for the device, which a failure of these tests must not replace.

    @Test func leavesADeviceADevice() throws {
        try withFolder { folder in
            let link = folder + "/null"
            try manager.createSymbolicLink(atPath: link, withDestinationPath: "/dev/null")
            let output = OutputFile(flag: "--html", path: link)
            try output.check()
            try output.write("new\n")
            #expect(try type(link) == .typeSymbolicLink)
            #expect(try type("/dev/null") == .typeCharacterSpecial)
        }
    }

    @Test func knowsTwoPathsToOneFile() throws {
        try withFolder { folder in
            let file = folder + "/run.json"
            let link = folder + "/latest.json"
            func place(_ path: String) -> String? { OutputFile(flag: "--json", path: path).place }
            #expect(place(file) != nil && place(file) == place(folder + "/./run.json"))
            #expect(place(file) != place(folder + "/run.html"))
            try "{}".write(toFile: file, atomically: true, encoding: .utf8)
            try manager.createSymbolicLink(atPath: link, withDestinationPath: file)
            try manager.linkItem(atPath: file, toPath: folder + "/hard.json")
            #expect(place(link) == place(file) && place(folder + "/hard.json") == place(file))
            #expect(place("-") != place(file) && place("/dev/null") == nil)
        }
    }

    @Test func saysThatADiskIsFull() throws {
        try withFolder { folder in
            let link = folder + "/full"
            try manager.createSymbolicLink(atPath: link, withDestinationPath: "/dev/full")
            let output = OutputFile(flag: "--json", path: link)
            try output.check()
            let error = #expect(throws: OutputError.self) { try output.write("new\n") }
            let sentence = "--json: \(link) could not be written: No space left on device."
            #expect(error?.description == sentence)
        }
    }

    @Test func refusesBeforeARunWhatCannotBeWritten() throws {
        try withFolder { folder in
            let reasons = [
                folder: "Is a directory", folder + "/none/run.json": "No such file or directory",
            ]
            for (path, reason) in reasons {
                let output = OutputFile(flag: "--hdr", path: path)
                let error = #expect(throws: FlagError.self) { try output.check() }
                #expect(
                    error?.description
                        == "--hdr: expected a file that can be written, got \(path) (\(reason))."
                )
            }
            let nameless = OutputFile(flag: "--json", path: "")
            let error = #expect(throws: FlagError.self) { try nameless.check() }
            #expect(error?.actual == "nothing")
        }
    }
}
