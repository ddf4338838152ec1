import LoadGen
import Testing

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
