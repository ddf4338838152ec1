import FeedTransport
import Testing

@Suite struct BufferBudgetTests {
    private static let first = HostSlot(.v4(0x7f00_0001))
    /// Another host, in a slot of its own.
    private static let second: HostSlot = {
        var number: UInt32 = 1
        while HostSlot(.v4(number)) == first { number += 1 }
        return HostSlot(.v4(number))
    }()

    @Test func leavesHalfToChangesWhateverIsAskedFor() {
        let budget = BufferBudget(limitByteCount: 800)
        var taken = 0
        while budget.reserve(10, for: Self.first) { taken += 10 }
        #expect(taken == 600)
        #expect(!budget.isExhausted)
        #expect(budget.bufferedByteCount == taken)
    }

    @Test func takesNothingWhereThereIsNoRoom() {
        let budget = BufferBudget(limitByteCount: 800)
        budget.addReserved(590)
        #expect(!budget.reserve(20, for: Self.first))
        #expect(budget.bufferedByteCount == 590)
    }

    @Test func letsOneAnswerThroughWhereNothingElseIsHeld() {
        let budget = BufferBudget(limitByteCount: 800)
        #expect(budget.reserve(500, for: Self.first))
        #expect(!budget.reserve(500, for: Self.first))
        budget.addReserved(-500)
        #expect(budget.reserve(500, for: Self.second))
    }

    @Test func tellsTheDegreesOfWant() {
        let budget = BufferBudget(limitByteCount: 800)
        budget.addReserved(200)
        #expect(!budget.isCrowded)
        budget.addReserved(1)
        #expect(budget.isCrowded && !budget.isNearlyExhausted)
        budget.addReserved(400)
        #expect(budget.isNearlyExhausted && !budget.isExhausted)
        budget.addReserved(200)
        #expect(budget.isExhausted)
    }

    @Test func remembersThePeakOfAllTimeAndTheLatestOne() {
        let budget = BufferBudget(limitByteCount: 800)
        budget.addReserved(100)
        budget.addReserved(-100)
        #expect(budget.peakByteCount == 0)
        budget.addReserved(300)
        budget.addReserved(-300)
        #expect(budget.peakByteCount == 300)
        #expect(budget.takeLatestPeak() == 300)
        #expect(budget.takeLatestPeak() == 0)
        #expect(budget.peakByteCount == 300)
    }

    @Test func countsAnIPv6HostByItsNetwork() {
        let one = HostSlot(.v6(high: 0x2001_0db8_0000_0001, low: 1))
        #expect(one == HostSlot(.v6(high: 0x2001_0db8_0000_0001, low: 2)))
    }
}
