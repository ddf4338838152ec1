import LoadGen
import Testing

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
