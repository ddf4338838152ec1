import FeedTestSupport
import Foundation
import Histogram
import LoadGen
import Testing

@Suite struct ComparisonTests {
    private static let rates = (0..<10).map { 100_000 + 500 * Double($0) }

    private func figures(
        _ arguments: [String] = [],
        times factor: Double = 1,
        isComparable: Bool = true
    ) throws -> RunFigures {
        RunFigures(
            settings: RunSettings(try configure(arguments)),
            machine: "a processor, 2 cores",
            isComparable: isComparable,
            rates: Self.rates.map { $0 * factor },
            response99s: Self.rates.map { $0 / 10_000 * factor },
            serverCost: 2 * factor
        )
    }

    @Test(
        arguments: [
            ([], 1.08, .faster), ([], 1, .same), ([], 0.92, .slower), ([], 1.03, .cannotTell),
            (["-R", "50k"], 1.08, .slower), (["-R", "50k"], 1, .same),
            (["-R", "50k"], 0.92, .faster),
        ] as [([String], Double, Judgement)]
    )
    func saysInAWordWhetherARunIsFaster(
        _ arguments: [String],
        _ factor: Double,
        _ word: Judgement
    ) throws {
        let comparison = Comparison(
            try figures(arguments, times: factor),
            with: try figures(arguments),
            at: "base.json",
            limit: 0.03
        )
        #expect(comparison.judgement == word)
        #expect(comparison.figure == (arguments.isEmpty ? .throughput : .response99))
        let ratio = try #require(comparison.ratio)
        #expect(abs(ratio.ratio - factor) < 0.005)
        #expect(ratio.low < factor && factor < ratio.high)
        #expect(comparison.serverCostRatio == factor)
        #expect(comparison.reasons == [])
    }

    @Test func cannotTellWhereTheFiguresAreNotToBeCompared() throws {
        let base = try figures()
        var elsewhere = base
        elsewhere.machine = "another, 64 cores"
        var short = base
        short.rates = Array(base.rates.prefix(4))
        let slow = try figures(times: 0.5)
        let slowAndCrowded = try figures(times: 0.5, isComparable: false)
        let crowded = try figures(isComparable: false)
        for (run, baseline, part) in [
            (slow, elsewhere, "on another machine (another, 64 cores)"),
            (slow, short, "Five whole seconds"), (slow, crowded, "The earlier run says"),
            (slowAndCrowded, base, "This run's figures"),
        ] {
            let comparison = Comparison(run, with: baseline, at: "base.json", limit: 0.03)
            #expect(comparison.judgement == .cannotTell)
            #expect(comparison.reasons.count == 1 && comparison.reasons[0].contains(part))
        }
    }

    /// A run of some seconds whose figures may be compared.
    private func run(_ arguments: [String] = [], votes: UInt64 = 100_000) throws -> RunReport {
        var result = RunReport(configuration: try configure(arguments), environment: Environment())
        var histogram = LatencyScale.makeHistogram()
        histogram.record(2_000_000, count: 2000)
        for second in 1...8 {
            let counts = IntervalCounts(
                answered: [votes + UInt64(second), 0, 0, 0, 0],
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
        result.measuredSeconds = 6
        result.totals.measuredAnswers[0] = 6 * votes
        result.totals.latencies[LatencyKey(.vote, result.shownMeasure)] = histogram
        result.openedConnectionCount = 50
        return result
    }

    @Test func readsTheFiguresThatAReportHas() async throws {
        let loads = [
            [], ["-R", "50k", "-P", "4", "--mix", "vote=9,page=1"],
            ["--think", "exp:5ms", "--reconnect-every", "100", "--conn-life", "3s"],
        ]
        for arguments in loads {
            let result = try run(arguments)
            let read = try await withReport(of: result) { path in
                try RunFigures(baselineAt: path, for: result.configuration)
            }
            #expect(read == result.figures)
            #expect(read.rates.count == 6)
        }
    }

    @Test func endsWithFiveWhereARunIsSlower() throws {
        let base = try run().figures
        var result = try run(votes: 80_000)
        #expect(result.exitStatus == .success)
        result.comparison = Comparison(result.figures, with: base, at: "base.json", limit: 0.03)
        #expect(result.exitStatus == .regression && ExitStatus.regression.rawValue == 5)
        let text = TextReport(result).rendered()
        #expect(text.contains("Compare      SLOWER  throughput 0.800 of that in base.json"))
        #expect(text.contains("exit 5"))
        let root = try JSONSerialization.jsonObject(with: Data(result.json.utf8))
        let compare = (root as? [String: Any])?["compare"] as? [String: Any]
        #expect(compare?["verdict"] as? String == "slower")
        #expect(compare?["baseline"] as? String == "base.json")
    }

    @Test(
        arguments: [
            (["-c", "500"], "with --clients 50, and this run has 500;"),
            (["--protocol", "resp"], "with --protocol feed, and this run has resp;"),
            (["--mix", "vote=1,page=1"], "with --mix vote=100, and this run has vote=1,page=1;"),
            (["-R", "9k"], "with --rate 0, and this run has 9000;"),
            (["--think", "5ms"], "with --think 0, and this run has 5"),
            (["--reconnect-every", "100"], "with --reconnect-every 0, and this run has 100;"),
            (["--conn-life", "3s"], "with --conn-life 0.000s, and this run has 3.000s;"),
        ]
    )
    func refusesARunOfAnotherLoad(_ arguments: [String], _ part: String) async throws {
        let failure = try await withReport(of: try run()) { path in
            #expect(throws: RunFailure.self) {
                try RunFigures(baselineAt: path, for: configure(arguments))
            }
        }
        #expect(failure?.description.contains(part) == true)
        #expect(failure?.exitStatus == .usage)
    }

    @Test(arguments: ["", "{}", "[]", "{\"schema\":1}"])
    func refusesAFileThatIsNoReport(_ text: String) throws {
        let file = FileManager.default.temporaryDirectory
            .appending(path: UUID().uuidString + ".json")
        try text.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let failure = #expect(throws: RunFailure.self) {
            try RunFigures(baselineAt: file.path(), for: configure([]))
        }
        #expect(failure?.description.contains("no JSON report of loadgen") == true)
    }
}

extension LiveTests {
    /// `--compare` of the program.
    @Suite struct CompareProgramTests {
        @Test func comparesWithTheReportOfAnEarlierRun() async throws {
            let service = try await FakeService.start()
            let file = FileManager.default.temporaryDirectory
                .appending(path: UUID().uuidString + ".json")
            defer { try? FileManager.default.removeItem(at: file) }
            let arguments = ["--target", "\(service.address)"] + shortLoad
            let first = try RunningProcess(
                Programs.loadGenerator,
                arguments + ["--json", file.path()]
            )
            let (status, _) = await first.finish()
            #expect(status == 0)
            let second = try RunningProcess(
                Programs.loadGenerator,
                arguments + ["--compare", file.path(), "--compare-limit", "5%"]
            )
            let (_, output) = await second.finish()
            // A load of some milliseconds has no whole second.
            #expect(output.contains { $0.hasPrefix("Compare      CANNOT TELL") })
            let other = try RunningProcess(
                Programs.loadGenerator,
                arguments + ["-P", "2", "--compare", file.path()]
            )
            let (refused, message) = await other.finish()
            await service.stop()
            #expect(refused == 2)
            #expect(
                message.first?.contains("of a run with --pipeline 1, and this run has 2") == true
            )
        }
    }
}
