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

@Suite struct PairPlanTests {
    @Test func balancesTheOrderAndDrawsItFromTheSeed() {
        let plan = order(PairPlan(rounds: 24, controlCount: 8, seed: 1, repeatLimit: 0))
        #expect(plan.count { $0 == .firstA } == 12)
        #expect(plan.count { $0 == .firstB } == 12)
        #expect(plan.count { $0 == .control } == 8)
        #expect(plan == order(PairPlan(rounds: 24, controlCount: 8, seed: 1, repeatLimit: 0)))
        #expect(plan != order(PairPlan(rounds: 24, controlCount: 8, seed: 2, repeatLimit: 0)))
        // Not one after another, and the control is not all at one end.
        #expect(plan.prefix(8).contains { $0 != .control })
        #expect(Set(plan.prefix(16).map { "\($0)" }).count == 3)
    }

    @Test func repeatsATaintedPairSoOftenAndCountsIt() {
        var plan = PairPlan(rounds: 6, controlCount: 0, seed: 1, repeatLimit: 2)
        let first = plan.next
        let twice = [plan.measured(isTainted: true), plan.measured(isTainted: true)]
        #expect(twice == [false, false])
        #expect(plan.next == first && plan.remainingCount == 6)
        let third = plan.measured(isTainted: true)
        #expect(third && plan.remainingCount == 5)
        // The next pair has its own repeats.
        let next = [plan.measured(isTainted: true), plan.measured(isTainted: false)]
        #expect(next == [false, true])
        #expect(plan.repeatedCount == 3 && plan.keptTaintedCount == 1)
    }

    private func order(_ plan: PairPlan) -> [PairPlan.Pair] {
        var plan = plan
        var pairs: [PairPlan.Pair] = []
        while let pair = plan.next {
            pairs.append(pair)
            _ = plan.measured(isTainted: false)
        }
        return pairs
    }
}

@Suite struct RatioEstimateTests {
    /// The depression scores of Hollander and Wolfe, "Nonparametric Statistical Methods", whose
    /// estimate is 0.46 and whose interval is 0.010 to 0.786.
    @Test func agreesWithTheTextbookOnPairs() throws {
        let before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
        let after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
        let ratios = zip(before, after).map { exp($0 - $1) }
        let estimate = try #require(RatioEstimate(pairs: ratios))
        #expect(abs(log(estimate.ratio) - 0.46) < 1e-9)
        #expect(abs(log(estimate.low) - 0.010) < 1e-9)
        #expect(abs(log(estimate.high) - 0.786) < 1e-9)
    }

    /// The permeability constants of the same book, whose estimate is 0.305 and whose interval is
    /// -0.15 to 0.76.
    @Test func agreesWithTheTextbookOnSamples() throws {
        let term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
        let early = [1.15, 0.88, 0.90, 0.74, 1.21]
        let estimate = try #require(
            RatioEstimate(of: term.map { exp($0) }, to: early.map { exp($0) })
        )
        #expect(abs(log(estimate.ratio) - 0.305) < 1e-9)
        #expect(abs(log(estimate.low) + 0.15) < 1e-9)
        #expect(abs(log(estimate.high) - 0.76) < 1e-9)
    }

    @Test func hasNoIntervalOfTooFewValues() {
        #expect(RatioEstimate(pairs: [1, 1, 1, 1, 1]) == nil)
        #expect(RatioEstimate(pairs: [1, 1, 1, 1, 1, 1]) != nil)
        #expect(RatioEstimate(pairs: [1, 1, 1, 1, 1, 0]) == nil)
        #expect(RatioEstimate(of: [1, 2, 3, 4], to: [1, 2, 3, 4, 5]) == nil)
    }

    @Test func isMovedLittleByAnOutlier() throws {
        let ratios = [1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0, 30]
        let estimate = try #require(RatioEstimate(pairs: ratios))
        #expect(abs(estimate.ratio - 1) < 0.02)
    }

    /// Of samples without a difference, 95 in 100 intervals hold 1.
    @Test func coversTheTruthAsOftenAsItSays() {
        var stream = RandomStream(seed: 3, thread: 0, client: 0)
        func noise() -> Double {
            exp((0..<12).reduce(-6) { sum, _ in sum + stream.nextUnit() } * 0.05)
        }
        var pairs = 0
        var samples = 0
        for _ in 0..<400 {
            let estimate = RatioEstimate(pairs: (0..<24).map { _ in noise() / noise() })
            if let estimate, estimate.low <= 1, estimate.high >= 1 { pairs += 1 }
            let other = (0..<10).map { _ in noise() }
            let sample = RatioEstimate(of: other, to: (0..<10).map { _ in noise() })
            if let sample, sample.low <= 1, sample.high >= 1 { samples += 1 }
        }
        #expect((368...392).contains(pairs))
        #expect((368...392).contains(samples))
    }

    @Test(
        arguments: [
            (1.04, 1.08, 0.0, .faster), (1.04, 1.08, 0.05, .cannotTell),
            (0.90, 0.95, 0.0, .slower), (0.90, 0.95, 0.2, .cannotTell),
            (0.98, 1.02, 0.0, .same), (0.98, 1.02, 0.2, .same),
            (0.98, 1.04, 0.0, .cannotTell), (0.5, 2, 0.0, .cannotTell),
        ] as [(Double, Double, Double, Judgement)]
    )
    func givesAWord(_ low: Double, _ high: Double, _ floor: Double, _ word: Judgement) {
        let ratio = RatioEstimate(ratio: (low * high).squareRoot(), low: low, high: high)
        #expect(Judgement(ratio, limit: 0.03, floor: floor) == word)
    }

    @Test func cannotTellWhatWasNotMeasured() {
        #expect(Judgement(nil, limit: 0.03) == .cannotTell)
    }
}

@Suite struct SideBySideResultTests {
    /// Pairs of which B takes `factor` times the processor time, with noise of some percent.
    private func result(
        times factor: Double,
        noise: Double = 0.02,
        controlNoise: Double = 0.01
    ) throws -> SideBySideResult {
        var stream = RandomStream(seed: 5, thread: 0, client: 0)
        func around(_ value: Double, _ noise: Double) -> Double {
            value * (1 + noise * (2 * stream.nextUnit() - 1))
        }
        func slice(_ factor: Double, _ noise: Double) -> Slice {
            var slice = Slice()
            slice.serverCost = around(2 * factor, noise)
            slice.perSecond = around(100_000 / factor, noise)
            slice.response99 = around(1e6 * factor, noise)
            return slice
        }
        var result = SideBySideResult(
            try configure([]),
            SideBySideConfiguration(target: "127.0.0.1:1", wireProtocol: .feed),
            environment: Environment()
        )
        for round in 0..<24 {
            let order: PairPlan.Pair = round.isMultiple(of: 2) ? .firstA : .firstB
            result.pairs.append(SlicePair(order, a: slice(1, noise), b: slice(factor, noise)))
        }
        for _ in 0..<8 {
            let (a, b) = (slice(1, controlNoise), slice(1, controlNoise))
            result.pairs.append(SlicePair(.control, a: a, b: b))
        }
        return result
    }

    @Test(
        arguments: [(1, .same), (1.1, .slower), (0.9, .faster), (1.03, .cannotTell)]
            as [(Double, Judgement)]
    )
    func givesAWordOnEachFigure(_ factor: Double, _ word: Judgement) throws {
        let result = try result(times: factor)
        for figure in ComparedFigure.allCases {
            #expect(result.judgement(figure) == word, "\(figure)")
        }
        let cost = try #require(result.ratio(.serverCost))
        #expect(abs(cost.ratio - factor) < 0.015)
        let rate = try #require(result.ratio(.throughput))
        #expect(abs(rate.ratio - 1 / factor) < 0.015)
        let control = try #require(result.control(.serverCost))
        #expect(control.low <= 1 && 1 <= control.high)
    }

    @Test func cannotTellWhereTheControlIsAsFarFromOne() throws {
        let result = try result(times: 1.1, controlNoise: 0.3)
        #expect(result.judgement(.serverCost) == .cannotTell)
    }

    @Test func cannotTellWithFewerThanSixPairs() throws {
        var result = try result(times: 2)
        result.pairs = result.pairs.suffix(13)
        #expect(result.comparedPairs.count == 5)
        #expect(result.judgement(.serverCost) == .cannotTell)
    }

    @Test func saysWhatTaintsASlice() {
        var slice = Slice()
        slice.foreignShare = 0.03
        #expect(!slice.isTainted)
        slice.foreignShare = 0.031
        #expect(slice.isTainted)
        slice.foreignShare = 0
        slice.isReconnected = true
        #expect(slice.isTainted)
    }

    @Test func exitsByItsAudits() throws {
        var result = try result(times: 2)
        #expect(result.exitStatus == .success)
        var failed = AuditSummary()
        failed.findings.note(.lostVote, "A vote is lost.")
        result.audits = (.done(AuditSummary()), .impossible("The connection ended."))
        #expect(result.exitStatus == .failed)
        result.audits = (.done(failed), .impossible("The connection ended."))
        #expect(result.exitStatus == .auditFailed)
    }
}
