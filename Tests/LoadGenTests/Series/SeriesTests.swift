import FeedTestSupport
import Foundation
import Histogram
import LoadGen
import LoadGenCommand
import Testing

@Suite struct SeriesTests {
    /// The result of the series that `flags` ask for, against a simulated server.
    private static func run(
        _ flags: [String],
        _ server: inout SimulatedServer,
        change: (Int, inout RunReport) -> Void = { _, _ in },
        restart: @escaping (String) throws(RunFailure) -> Void = { _ throws(RunFailure) in }
    ) throws -> RunReport {
        let configuration = try configure(flags)
        let options = try Options.reading(flags)
        let plan = try #require(try SeriesPlan(options, seed: configuration.seed))
        return try withoutActuallyEscaping(change) { change in
            let box = Locked(server)
            let series = Series(
                configuration,
                execute: { configuration throws(RunFailure) in
                    var result = box.withLock { $0.run(configuration) }
                    change(box.withLock { $0.rates.count }, &result)
                    return result
                },
                restart: restart
            )
            defer { server = box.withLock { $0 } }
            return try series.run(plan)
        }
    }

    private static let quickSearch = ["--search-trial", "2s", "--search-confirm", "3x4s"]

    /// Even arrivals meet a server that is as regular: it keeps up exactly to its capacity.
    @Test(arguments: [1_000, 10_000, 41_500] as [Double], ["uniform", "poisson"])
    func findsAKnownCapacity(capacity: Double, arrival: String) throws {
        var server = SimulatedServer(capacity: capacity)
        // The longest queue of random arrivals within the level takes a few percent.
        let level = "p99<\(Int(1000 * 200 / capacity))ms"
        let result = try Self.run(["--search", level, "--arrival", arrival], &server)
        let series = try #require(result.series)
        let found = try #require(series.capacity)
        #expect(abs(found / capacity - 1) < 0.05, "found \(found) of \(capacity)")
        #expect(!series.isGeneratorLimit)
        #expect(result.exitStatus == .success)
        #expect(result.configuration.ratePerSecond == found)
        #expect(series.entries.first?.phase == "probe")
        #expect(series.entries.suffix(6).allSatisfy { $0.phase == "curve" })
        let text = TextReport(result).rendered()
        #expect(text.contains("capacity at \(level)  \(NumberFormat.rate(found))/s"))
    }

    @Test func beginsWhereItIsTold() throws {
        var server = SimulatedServer(capacity: 500)
        let flags = ["--search", "p99<1s", "--search-from", "16k", "--arrival", "uniform"]
        let result = try Self.run(flags + Self.quickSearch, &server)
        #expect(server.rates.prefix(6) == [16_000, 8_000, 4_000, 2_000, 1_000, 500])
        let found = try #require(result.series?.capacity)
        #expect(abs(found / 500 - 1) < 0.05)
    }

    @Test func saysWhereTheGeneratorWasTheLimit() throws {
        var server = SimulatedServer(capacity: 100_000)
        server.generatorLimit = 20_000
        let flags = ["--search", "p99<5ms", "--arrival", "uniform"]
        let result = try Self.run(flags + Self.quickSearch, &server)
        let series = try #require(result.series)
        #expect(series.isGeneratorLimit)
        #expect(abs(try #require(series.capacity) / 20_000 - 1) < 0.05)
        let text = TextReport(result).rendered()
        #expect(text.contains("≥ "))
        #expect(text.contains("(generator limit)"))
    }

    /// Others use the machine while the rate is above 600: those trials fail, and do not say why.
    @Test func cannotTellACapacityOnABusyMachine() throws {
        var server = SimulatedServer(capacity: 1000)
        let flags = ["--search", "p99<1s", "--search-from", "500", "--arrival", "uniform"]
        let busy = MachineUsage(busyShare: 1, stealShare: 0.2)
        let result = try Self.run(flags + Self.quickSearch, &server) { _, result in
            guard result.configuration.ratePerSecond ?? 0 > 600 else { return }
            result.machine = busy
            result.totals.measuredRequestCount = 0
        }
        let series = try #require(result.series)
        let bound = try #require(series.capacity)
        #expect(series.isBusy && bound <= 600)
        #expect(result.exitStatus == .invalid)
        let text = TextReport(result).rendered()
        #expect(text.contains("capacity at p99<1s  ≥ \(NumberFormat.rate(bound))/s  CANNOT TELL"))
        let root = try JSONSerialization.jsonObject(with: Data(result.json.utf8))
        let json = (root as? [String: Any])?["series"] as? [String: Any]
        #expect(json?["capacity_per_second"] is NSNull)
        #expect(json?["at_least_per_second"] as? Double == bound)
    }

    /// What others used while a trial passed, or far above the capacity, changes nothing.
    @Test func tellsACapacityThatABusyMachineDoesNotBound() throws {
        var server = SimulatedServer(capacity: 1000)
        let flags = ["--search", "p99<1s", "--search-from", "500", "--arrival", "uniform"]
        let busy = MachineUsage(busyShare: 1, stealShare: 0.2)
        let result = try Self.run(flags + Self.quickSearch, &server) { _, result in
            let rate = result.configuration.ratePerSecond ?? 0
            if rate < 900 || rate > 1500 { result.machine = busy }
        }
        let found = try #require(result.series?.capacity)
        #expect(abs(found / 1000 - 1) < 0.05 && result.exitStatus == .success)
    }

    @Test func missesALevelThatNoRateKeeps() throws {
        var server = SimulatedServer(capacity: 100)
        let result = try Self.run(["--search", "p50<1us"] + Self.quickSearch, &server)
        #expect(result.series?.capacity == nil)
        #expect(result.exitStatus == .sloMissed)
        #expect(TextReport(result).rendered().contains("p50<1us was kept at no rate, down to "))
    }

    @Test func endsASearchWithTheFirstFailedAudit() throws {
        var server = SimulatedServer(capacity: 1000)
        let result = try Self.run(["--search", "p99<1s"] + Self.quickSearch, &server) {
            if $0 == 3 { $1.totals.outcomes.sent += 1 }
        }
        #expect(server.rates.count == 3)
        #expect(result.exitStatus == .auditFailed)
    }

    @Test func reportsEveryStepInItsOrder() throws {
        var server = SimulatedServer(capacity: 10_000)
        let result = try Self.run(["--steps", "1k:5k:5:1s"], &server)
        #expect(server.rates == [1000, 2000, 3000, 4000, 5000])
        #expect(result.series?.entries.map(\.offered) == [1000, 2000, 3000, 4000, 5000])
        #expect(result.configuration.warmup == SeriesPlan.settleTime)
        var shuffled = SimulatedServer(capacity: 10_000)
        _ = try Self.run(["--steps", "1k:5k:5:1s", "--steps-order", "shuffled"], &shuffled)
        #expect(shuffled.rates.sorted() == server.rates)
        #expect(shuffled.rates != server.rates)
    }

    @Test func repeatsARunWithARestartBetween() throws {
        var server = SimulatedServer(capacity: 10_000)
        let commands = Locked<[String]>([])
        let result = try Self.run(
            ["--runs", "3", "--restart-cmd", "systemctl restart it", "-d", "1s"],
            &server,
            change: { $1.totals.measuredRequestCount = UInt64(9_000 + 1_000 * $0) },
            restart: { command throws(RunFailure) in commands.withLock { $0.append(command) } }
        )
        #expect(commands.withLock { $0 } == ["systemctl restart it", "systemctl restart it"])
        let series = try #require(result.series)
        let estimate = try #require(MeanEstimate(series.entries.map(\.achieved)))
        // 10,000, 11,000 and 12,000: deviation 1,000, and t = 4.303 over the root of 3.
        #expect(estimate.mean == 11_000)
        #expect(abs(try #require(estimate.halfWidth) - 4.303 * 1000 / 3.0.squareRoot()) < 0.01)
        let text = TextReport(result).rendered()
        #expect(text.contains("3 runs   11.0k ± 2484 requests/s"))
    }

    @Test func failsWhereTheCommandBetweenRunsFails() throws {
        #expect(throws: RunFailure.self) { try RestartCommand.execute("exit 3") }
        try RestartCommand.execute("true")
        var server = SimulatedServer(capacity: 10)
        #expect(throws: RunFailure.restartFailed("x", "no")) {
            try Self.run(
                ["--runs", "2", "--restart-cmd", "x"],
                &server,
                restart: { command throws(RunFailure) in throw .restartFailed(command, "no") }
            )
        }
    }

    @Test func writesItsRunsAsJSON() throws {
        var server = SimulatedServer(capacity: 1000)
        let result = try Self.run(["--search", "p99<1s"] + Self.quickSearch, &server)
        let data = Data(result.json.utf8)
        let object = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        let series = try #require(object?["series"] as? [String: Any])
        #expect(series["kind"] as? String == "search")
        #expect(series["goal"] as? String == "p99<1s")
        #expect(series["capacity_per_second"] as? Double == result.series?.capacity)
        let runs = try #require(series["runs"] as? [[String: Any]])
        #expect(runs.count == result.series?.entries.count)
        #expect(runs.last?["p99_ms"] is Double)
    }

    @Test(arguments: [
        ["--search", "p99<5ms", "--rate", "5"], ["--search", "rate>=5"], ["--search", "p99"],
        ["--search", "audit=ok"], ["--search", "p99<5ms", "--steps", "1:2:3:4"],
        ["--search", "p99<5ms", "--search-confirm", "3"], ["--steps", "1k:5k:5"],
        ["--search", "p99<5ms", "--search-precision", "60%"], ["--steps", "0:5k:5:1s"],
        ["--steps", "1k:5k:5:1s", "-d", "3s"], ["--runs", "0"], ["--restart-cmd", "true"],
        ["--search", "p99<5ms", "--think", "5ms"], ["--steps", "1:9:3:1s", "-n", "5"],
        ["--search", "p99<5ms", "--pipeline-mode", "batch"],
        ["--search", "p99<5ms", "--ab", "127.0.0.1:1"], ["--runs", "3", "--compare", "base.json"],
        ["--ramp", "1k:2k:3s", "--ab", "127.0.0.1:1"],
        ["--search-from", "5"], ["--search-precision", "3%"], ["--search-trial", "1s"],
        ["--runs", "3", "--search-confirm", "1x1s"], ["--steps-order", "shuffled"],
        ["--search", "p99<5ms", "--steps-order", "shuffled"], ["--arrival", "uniform"],
        ["--runs", "3", "--arrival", "uniform"],
    ])
    func refusesWhatDoesNotFit(flags: [String]) throws {
        #expect(throws: FlagError.self) {
            let configuration = try configure(flags)
            _ = try SeriesPlan(Options.reading(flags), seed: configuration.seed)
        }
    }

    @Test func saysHowLongASearchMeasures() throws {
        let options = try Options.reading(["--search", "p99<5ms", "--duration", "10s"])
        let error = #expect(throws: FlagError.self) { _ = try SeriesPlan(options, seed: 1) }
        #expect(
            error?.description
                == "--duration: expected no --search beside it (--search-trial and --search-confirm "
                + "say how long it measures), got 10s."
        )
    }

    @Test func isNoSeriesUnlessAskedFor() throws {
        for flags in [[], ["--ramp", "1:2:3s"], ["--runs", "1"]] {
            #expect(try SeriesPlan(Options.reading(flags), seed: 1) == nil)
        }
    }
}

@Suite struct CapacitySearchTests {
    /// One disturbed trial of three decides nothing.
    @Test func confirmsARateByMostOfItsTrials() throws {
        var search = CapacitySearch(SearchPlan(levels: []), startRate: 1000, seed: 1)
        var trials: [CapacitySearch.Trial] = []
        var confirmations = 0
        while let trial = search.next {
            trials.append(trial)
            var passes = trial.rate <= 3000
            if trial.phase == .confirm {
                confirmations += 1
                if confirmations == 2 { passes = false }
            }
            search.record(passes ? .passed : .failed)
        }
        let capacity = try #require(search.capacity)
        #expect((2_900...3_000).contains(capacity))
        #expect(trials.prefix(3).map(\.rate) == [1000, 2000, 4000])
        // Three at the rate, one of them disturbed; two at 5% more.
        #expect(confirmations == 5)
        #expect(search.limit == .failed)
    }

    /// A rate that only the short trials kept is lowered.
    @Test func lowersARateThatIsNotConfirmed() throws {
        var search = CapacitySearch(SearchPlan(levels: []), startRate: 1000, seed: 1)
        while let trial = search.next {
            let limit = trial.phase == .confirm ? 2_700.0 : 3_000
            search.record(trial.rate <= limit ? .passed : .failed)
        }
        #expect((2_647...2_700).contains(try #require(search.capacity)))
    }

    @Test func endsAtTheHighestRateThereIs() throws {
        var search = CapacitySearch(SearchPlan(levels: []), startRate: 4_000_000, seed: 1)
        while search.next != nil { search.record(.passed) }
        #expect(search.capacity == SeriesPlan.highestRate)
    }
}

/// A server that answers one request after another, each in the same time, without a clock: a run
/// against it is computed.
struct SimulatedServer {
    /// The requests that it answers a second.
    var capacity: Double
    /// The rate that the generator can send; it is saturated beyond.
    var generatorLimit = Double.infinity
    /// The rates of the runs so far, 0 in a closed loop.
    private(set) var rates: [Double] = []

    init(capacity: Double) { self.capacity = capacity }

    mutating func run(_ configuration: RunConfiguration) -> RunReport {
        rates.append(configuration.ratePerSecond ?? 0)
        var result = RunReport(configuration: configuration, environment: Environment())
        result.openedConnectionCount = configuration.clientCount
        result.measuredSeconds = configuration.duration.map { $0 / .seconds(1) } ?? 1
        result.loopIdleShares = [0.5]
        let end = result.measuredSeconds * 1e9
        let service = 1e9 / capacity
        var histogram = LatencyScale.makeHistogram()
        var freeAt = 0.0
        var answeredCount: UInt64 = 0
        guard let rate = configuration.ratePerSecond else {
            histogram.record(UInt64(service), count: UInt64(capacity * result.measuredSeconds))
            result.totals.latencies[LatencyKey(.vote, .service)] = histogram
            result.count(UInt64(capacity * result.measuredSeconds))
            return result
        }
        if rate > generatorLimit { result.loopIdleShares = [0.02] }
        var plan = ArrivalPlan(
            configuration.arrival,
            ratePerSecond: rate,
            thread: 0,
            threadCount: 1,
            seed: configuration.seed
        )
        while Double(plan.nextNanoseconds) < end {
            let due = Double(plan.nextNanoseconds)
            freeAt = max(freeAt, due) + service
            histogram.record(UInt64(freeAt - due))
            if freeAt <= end { answeredCount += 1 }
            plan.advance()
        }
        if histogram.totalCount > 0 {
            result.totals.latencies[LatencyKey(.vote, .response)] = histogram
        }
        result.count(answeredCount)
        return result
    }
}

extension RunReport {
    fileprivate mutating func count(_ requests: UInt64) {
        totals.measuredRequestCount = requests
        totals.measuredAnswers[0] = requests
        totals.outcomes.sent = requests
        totals.outcomes.ok = requests
    }
}
