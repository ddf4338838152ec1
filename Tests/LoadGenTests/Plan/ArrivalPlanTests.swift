import LoadGen
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
