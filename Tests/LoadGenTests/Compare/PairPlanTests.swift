import LoadGen
import Testing

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
