import LoadGen
import LoadGenCommand
import Testing

@Suite struct ArrivalPlanTests {
    @Test(arguments: [1, 2, 3])
    func uniformArrivalsAreOneExactSequenceDealtRound(_ threadCount: Int) {
        var due: [UInt64] = []
        for thread in 0..<threadCount {
            var plan = ArrivalPlan(
                .uniform,
                ratePerSecond: 1000,
                thread: thread,
                threadCount: threadCount,
                seed: 1
            )
            for _ in 0..<(600 / threadCount) {
                due.append(plan.nextNanoseconds)
                plan.advance()
            }
        }
        #expect(due.sorted() == (0..<600).map { UInt64($0) * 1_000_000 })
    }

    @Test(arguments: [1, 7, 1234] as [UInt64])
    func poissonGapsHaveTheMeanAndTheVarianceOfAnExponential(_ seed: UInt64) {
        var plan = ArrivalPlan(
            .poisson,
            ratePerSecond: 100_000,
            thread: 1,
            threadCount: 2,
            seed: seed
        )
        let count = 200_000
        var gaps: [Double] = []
        var last: UInt64 = 0
        for _ in 0..<count {
            gaps.append(Double(plan.nextNanoseconds - last))
            last = plan.nextNanoseconds
            plan.advance()
        }
        // Each of two threads gets half the rate: a mean gap of 20 µs, and as much deviation.
        let mean = gaps.reduce(0, +) / Double(count)
        let variance = gaps.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(count)
        #expect(abs(mean / 20_000 - 1) < 0.01, "seed \(seed): mean \(mean)")
        #expect(abs(variance.squareRoot() / 20_000 - 1) < 0.02, "seed \(seed)")
    }

    @Test func threadsDrawArrivalsOfTheirOwn() {
        let plans = (0..<2).map {
            ArrivalPlan(.poisson, ratePerSecond: 10, thread: $0, threadCount: 2, seed: 1)
        }
        #expect(plans[0].nextNanoseconds != plans[1].nextNanoseconds)
    }
}

/// Pauses of clients and lives of connections.
@Suite struct PausesTests {
    @Test(arguments: [
        ("0", "0"), ("5ms", "5ms"), ("exp:5ms", "exp:5ms"), ("uniform:1ms,9ms", "uniform:1ms,9ms"),
        ("", nil), ("exp:0", nil), ("exp:1ms,2ms", nil), ("uniform:9ms,1ms", nil),
        ("uniform:1ms", nil),
        ("normal:5ms", nil), ("5ms:5ms", nil), ("2h", nil), ("1ms,2ms", nil),
    ])
    func readsPauses(text: String, expected: String?) {
        #expect(ThinkTime(parsing: text)?.description == expected)
    }

    @Test func drawsPausesOfTheRightLength() {
        var stream = RandomStream(seed: 2, thread: 0, client: 0, purpose: .thoughts)
        func draw(_ time: ThinkTime) -> [Double] {
            (0..<100_000).map { _ in Double(time.next(&stream)) }
        }
        let mean = { (values: [Double]) in values.reduce(0, +) / Double(values.count) }
        #expect(Set(draw(.constant(.milliseconds(3)))) == [3_000_000])
        let even = draw(.uniform(.milliseconds(1), .milliseconds(9)))
        #expect(even.allSatisfy { (1_000_000...9_000_000).contains($0) })
        #expect(abs(mean(even) / 5_000_000 - 1) < 0.02)
        let random = draw(.exponential(.milliseconds(5)))
        #expect(abs(mean(random) / 5_000_000 - 1) < 0.02)
        // One of e^2 pauses is more than twice the mean.
        #expect(abs(Double(random.count { $0 > 1e7 }) / 13_534 - 1) < 0.05)
    }

    @Test func readsTheLivesOfConnections() throws {
        let configuration = try configure(["--reconnect-every", "1k", "--conn-life", "30s±5s"])
        #expect(configuration.connectionLife.requestCount == 1000)
        #expect(configuration.connectionLife.age == .seconds(30))
        #expect(configuration.connectionLife.jitter == .seconds(5))
        #expect(try configure(["--conn-life", "2s+-1s"]).connectionLife.jitter == .seconds(1))
        #expect(try configure(["--conn-life", "2s"]).connectionLife.jitter == .zero)
        #expect(try configure([]).connectionLife.isEndless)
        for text in ["1ms", "5s±5s", "5s±", "x", "5s±1s±1s", "25h"] {
            #expect(throws: FlagError.self, "\(text)") { try configure(["--conn-life", text]) }
        }
        #expect(throws: FlagError.self) { try configure(["--connect-rate", "0"]) }
        #expect(throws: FlagError.self) { try configure(["--think", "5ms", "--rate", "10"]) }
    }

    @Test func opensConnectionsAtTheirRateAndFewAtOnce() {
        var counts = ConnectionCounts(clientCount: 6)
        #expect(counts.nextToConnect(dueCount: 1, limit: 3) == 0)
        #expect(counts.nextToConnect(dueCount: 1, limit: 3) == nil)
        #expect(counts.nextToConnect(dueCount: 9, limit: 3) == 1)
        #expect(counts.nextToConnect(dueCount: 9, limit: 3) == 2)
        #expect(counts.nextToConnect(dueCount: 9, limit: 3) == nil)
        counts.decide(isOpen: true)
        counts.decide(isOpen: false)
        #expect(counts.nextToConnect(dueCount: 9, limit: 3) == 3)
        #expect(counts.nextToConnect(dueCount: 9, limit: 3) == 4)
        #expect(counts.nextToConnect(dueCount: 9, limit: 3) == nil)
        counts.decide(isOpen: true)
        #expect(counts.nextToConnect(dueCount: 9, limit: 3) == 5)
        #expect(counts.areBegun)
        #expect(counts.nextToConnect(dueCount: 9, limit: 9) == nil)
    }
}

@Suite struct PhasesTests {
    private let second: UInt64 = 1_000_000_000

    @Test func measuresFromTheEndOfTheWarmUpToTheEnd() {
        let phases = Phases(start: 5, warmup: .seconds(2), duration: .seconds(3))
        #expect(!phases.isMeasured(4 + 2 * second))
        #expect(phases.isMeasured(5 + 2 * second))
        #expect(phases.isMeasured(4 + 5 * second))
        #expect(!phases.isMeasured(5 + 5 * second))
    }

    @Test func hasNoEndWhereANumberOfRequestsEndsIt() {
        let phases = Phases(start: 0, warmup: .zero, duration: nil)
        #expect(phases.isMeasured(.max - 1))
    }

    @Test func endsAnIntervalWithTheWarmUp() {
        let phases = Phases(start: 0, warmup: .milliseconds(2500), duration: .seconds(2))
        #expect((0..<5).map(phases.intervalEnd) == [5, 15, 25, 35, 45].map { $0 * second / 10 })
        #expect((0..<6).map(phases.isMeasuredInterval) == [false, false, false, true, true, false])
    }
}

@Suite struct RateRampTests {
    /// Of a ramp from A to B over D, A·t + (B − A)·t² / 2D requests are due until t.
    @Test(arguments: [(0, 1000), (1000, 0), (200, 1800), (500, 500)] as [(Double, Double)])
    func followsTheRampAndThenItsLastRate(first: Double, last: Double) {
        let ramp = RateRamp(from: first, to: last, over: .seconds(4))
        for step in 1..<40 {
            let seconds = Double(step) / 10
            let due = first * seconds + (last - first) * seconds * seconds / 8
            let found = ramp.nanoseconds(ofRequest: due) / 1e9
            #expect(abs(found - seconds) < 1e-6, "\(due) requests at \(found) s, not \(seconds)")
        }
        #expect(ramp.meanRate == (first + last) / 2)
        guard last > 0 else {
            #expect(ramp.nanoseconds(ofRequest: 4 * ramp.meanRate) > 1e15)
            return
        }
        let after = ramp.nanoseconds(ofRequest: 4 * ramp.meanRate + last)
        #expect(abs(after - 5e9) < 1)
    }

    @Test(arguments: [1, 3])
    func dealsEvenArrivalsOfARampToTheThreads(threadCount: Int) {
        let ramp = RateRamp(from: 100, to: 300, over: .seconds(2))
        var due: [UInt64] = []
        for thread in 0..<threadCount {
            var plan = ArrivalPlan(
                .uniform,
                ratePerSecond: ramp.meanRate,
                ramp: ramp,
                thread: thread,
                threadCount: threadCount,
                seed: 1
            )
            for _ in 0..<(300 / threadCount) {
                due.append(plan.nextNanoseconds)
                plan.advance()
            }
        }
        #expect(due.sorted() == (0..<300).map { UInt64(ramp.nanoseconds(ofRequest: Double($0))) })
    }

    @Test func spreadsRandomArrivalsOverTheRamp() {
        let ramp = RateRamp(from: 10_000, to: 90_000, over: .seconds(10))
        var plan = ArrivalPlan(
            .poisson,
            ratePerSecond: ramp.meanRate,
            ramp: ramp,
            thread: 1,
            threadCount: 2,
            seed: 3
        )
        var counts = [Int](repeating: 0, count: 10)
        while plan.nextNanoseconds < 10_000_000_000 {
            counts[Int(plan.nextNanoseconds / 1_000_000_000)] += 1
            plan.advance()
        }
        for (second, count) in counts.enumerated() {
            // Half of 14,000, 22,000 and so on, within five deviations.
            let expected = Double(7_000 + 4_000 * second)
            let deviations = abs(Double(count) - expected) / expected.squareRoot()
            #expect(deviations < 5, "second \(second), seed 3: \(count) of \(expected)")
        }
    }

    @Test func isReadFromItsFlag() throws {
        let configuration = try configure(["--ramp", "1k:3k:10s"])
        #expect(configuration.ramp == RateRamp(from: 1000, to: 3000, over: .seconds(10)))
        #expect(configuration.ratePerSecond == 2000)
        #expect(configuration.duration == .seconds(10))
        #expect(configuration.warmup == .zero)
        for flags in [["1k:3k"], ["0:0:10s"], ["1k:3k:10s", "-d", "2s"], ["1:2:3s", "-w", "1s"]] {
            #expect(throws: (any Error).self, "\(flags)") { try configure(["--ramp"] + flags) }
        }
    }
}

@Suite struct ServiceLevelTests {
    @Test(
        arguments: [
            ("p99<5ms", .percentile(99, nil), .below, 5e6),
            ("p99.9<=20ms", .percentile(99.9, nil), .atMost, 2e7),
            ("vote.p99.9<20ms", .percentile(99.9, .vote), .below, 2e7),
            ("page.max<1s", .maximum(.page), .below, 1e9),
            ("rate>=100k", .rate, .atLeast, 1e5),
            ("rate>5", .rate, .above, 5),
            ("errors<0.01%", .errors, .below, 0.01),
            ("cpu<6s/M", .serverCPU, .below, 6),
            ("audit=ok", .audit, .equal, 1),
        ] as [(String, ServiceLevel.Subject, ServiceLevel.Comparison, Double)]
    )
    func readsExpressions(
        _ text: String,
        _ subject: ServiceLevel.Subject,
        _ comparison: ServiceLevel.Comparison,
        _ limit: Double
    ) throws {
        let level = try #require(ServiceLevel(parsing: text))
        #expect(level.subject == subject)
        #expect(level.comparison == comparison)
        #expect(abs(level.limit - limit) <= 1e-9 * limit)
    }

    @Test(arguments: [
        "", "p99", "p99=5ms", "p0<5ms", "p100<1s", "p99<5x", "like.p99<5ms", "rate>=fast",
        "errors<x%",
        "p99<5", "max<1", "errors<1", "cpu<6", "cpu<s/M", "audit<ok", "audit=bad", "<5ms", "p99<",
    ])
    func refuses(_ text: String) {
        #expect(ServiceLevel(parsing: text) == nil)
    }

    @Test func holdsByItsComparison() throws {
        let below = try #require(ServiceLevel(parsing: "errors<1%"))
        let atLeast = try #require(ServiceLevel(parsing: "rate>=10"))
        #expect(below.holds(0.99) && !below.holds(1))
        #expect(atLeast.holds(10) && !atLeast.holds(9.9))
        #expect(!below.holds(nil))
    }

    @Test(
        arguments: [
            (50, 19, .hidden), (50, 20, .rough), (50, 199, .rough), (50, 200, .good),
            (99, 999, .hidden),
            (99, 1000, .rough), (99, 9999, .rough), (99, 10_000, .good), (99.99, 99_999, .hidden),
            (99.99, 100_000, .rough), (99.99, 1_000_000, .good),
        ] as [(Double, UInt64, PercentileText.Trust)]
    )
    func trustsAPercentileByTheSamplesBeyondIt(
        _ percentile: Double,
        _ count: UInt64,
        _ trust: PercentileText.Trust
    ) {
        #expect(PercentileText.trust(percentile: percentile, count: count) == trust)
    }
}
