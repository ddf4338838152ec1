import FeedService
import FeedTestSupport
import FeedTransport
import Testing

/// When memory is given back to the system.
@Suite struct MemoryReturnTests {
    @Test func givesMemoryBackOnceAPeakIsOverForAWhile() {
        let budget = BufferBudget(limitByteCount: 800)
        let trims = Locked(0)
        let memory = MemoryReturn { trims.withLock { $0 += 1 } }
        let look = { (seconds: Int) in
            for _ in 0..<seconds { memory.giveBack(after: budget) }
            return trims.withLock { $0 }
        }
        #expect(look(60) == 0)
        budget.addReserved(400)
        #expect(look(60) == 0)
        budget.addReserved(-390)
        #expect(look(MemoryReturn.calmSeconds - 1) == 0)
        #expect(look(1) == 1)
        #expect(look(60) == 1)
    }

    /// A flood of handshakes holds nothing but what OpenSSL has for it.
    @Test(arguments: [(MemoryReturn.plainByteCount, 0), (MemoryReturn.securedByteCount, 1)])
    func connectionsWithTLSAreAPeak(byteCount: Int, expectedCount: Int) {
        let budget = BufferBudget(limitByteCount: 192 << 20)
        let trims = Locked(0)
        let memory = MemoryReturn(connectionByteCount: byteCount) { trims.withLock { $0 += 1 } }
        memory.giveBack(after: budget, connectionCount: 2_000)
        for _ in 0..<60 { memory.giveBack(after: budget, connectionCount: 10) }
        #expect(trims.withLock { $0 } == expectedCount)
    }

    @Test func waitsForThePeakToEnd() {
        let budget = BufferBudget(limitByteCount: 800)
        let trims = Locked(0)
        let memory = MemoryReturn { trims.withLock { $0 += 1 } }
        for _ in 0..<20 {
            budget.addReserved(400)
            memory.giveBack(after: budget)
            budget.addReserved(-400)
            memory.giveBack(after: budget)
        }
        #expect(trims.withLock { $0 } == 0)
    }

    /// A load with a spike every 30 s, which only the peak shows.
    @Test func givesMemoryBackOnceAMinuteAtMost() {
        let budget = BufferBudget(limitByteCount: 800)
        let trims = Locked(0)
        let memory = MemoryReturn { trims.withLock { $0 += 1 } }
        for second in 0..<600 {
            if second % 30 == 0 {
                budget.addReserved(400)
                budget.addReserved(-400)
            }
            memory.giveBack(after: budget)
        }
        #expect(trims.withLock { $0 } == 10)
    }

    @Test func aPeakThatComesBackBetweenTwoLooksIsNotOver() {
        let budget = BufferBudget(limitByteCount: 800)
        let trims = Locked(0)
        let memory = MemoryReturn { trims.withLock { $0 += 1 } }
        for second in 0..<600 {
            if second % (MemoryReturn.calmSeconds - 1) == 0 {
                budget.addReserved(400)
                budget.addReserved(-400)
            }
            memory.giveBack(after: budget)
        }
        #expect(trims.withLock { $0 } == 0)
    }

    /// The idle channels of a host are forgotten half a minute after its connections have closed.
    @Test func waitsForChannelsThatHoldMoreThanHalfOfThePeak() {
        let budget = BufferBudget(limitByteCount: 800)
        let trims = Locked(0)
        let memory = MemoryReturn { trims.withLock { $0 += 1 } }
        let look = { (seconds: Int, channelByteCount: Int) in
            for _ in 0..<seconds {
                memory.giveBack(after: budget, channelByteCount: channelByteCount)
            }
            return trims.withLock { $0 }
        }
        budget.addReserved(300)
        #expect(look(60, 400) == 0)
        budget.addReserved(-300)
        #expect(look(30, 400) == 0)
        #expect(look(MemoryReturn.calmSeconds, 100) == 1)
    }

    @Test func givesBackWhatIsFreedLaterToo() {
        let budget = BufferBudget(limitByteCount: 800)
        let trims = Locked(0)
        let memory = MemoryReturn { trims.withLock { $0 += 1 } }
        let look = { (seconds: Int, channelByteCount: Int) in
            for _ in 0..<seconds {
                memory.giveBack(after: budget, channelByteCount: channelByteCount)
            }
            return trims.withLock { $0 }
        }
        budget.addReserved(500)
        #expect(look(60, 300) == 0)
        budget.addReserved(-500)
        #expect(look(MemoryReturn.calmSeconds, 300) == 1)
        // Most of the rest is freed in the same minute.
        #expect(look(MemoryReturn.intervalSeconds - 1, 100) == 1)
        #expect(look(1, 100) == 2)
        #expect(look(120, 100) == 2)
        // A little is not worth it.
        #expect(look(120, 60) == 2)
    }

    @Test func waitsForChannelsThatAreAboutToBeForgotten() {
        let budget = BufferBudget(limitByteCount: 800)
        let trims = Locked(0)
        let memory = MemoryReturn { trims.withLock { $0 += 1 } }
        let look = { (seconds: Int, forgetsSoon: Bool) in
            for _ in 0..<seconds { memory.giveBack(after: budget, forgetsSoon: forgetsSoon) }
            return trims.withLock { $0 }
        }
        budget.addReserved(400)
        #expect(look(60, true) == 0)
        budget.addReserved(-400)
        #expect(look(20, true) == 0)
        #expect(look(1, false) == 1)
        // Not for ever: a host may always have some.
        budget.addReserved(400)
        #expect(look(60, true) == 1)
        budget.addReserved(-400)
        #expect(look(MemoryReturn.longestCalmSeconds - 1, true) == 1)
        #expect(look(1, true) == 2)
    }
}
