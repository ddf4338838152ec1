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

    @Test func reportsTheDegreesOfWant() {
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

    /// The bytes of each level where the limit is 800, and the sum that is compared with them.
    private static let levels: [BudgetLevel: (byteCount: Int, sum: BudgetLevel.Sum)] = [
        .notable: (100, .all),
        .crowded: (200, .all),
        .sharing: (300, .connections),
        .answering: (400, .all),
        .closing: (500, .connections),
        .unfinished: (600, .connections),
        .nearlyExhausted: (600, .all),
        .exhausted: (800, .all),
    ]

    @Test(arguments: BudgetLevel.allCases)
    func comparesALevelWithItsPartAndItsSum(_ level: BudgetLevel) throws {
        let expected = try #require(Self.levels[level])
        let budget = BufferBudget(limitByteCount: 800)
        budget.add(expected.byteCount, for: Self.first)
        #expect(!budget.isAbove(level))
        budget.addReserved(1)
        #expect(budget.isAbove(level) == (expected.sum == .all))
        budget.add(1, for: Self.first)
        #expect(budget.isAbove(level))
    }

    @Test func closesNoConnectionForReservedBytes() {
        let budget = BufferBudget(limitByteCount: 800)
        budget.addReserved(801)
        #expect(budget.isExhausted)
        #expect(!budget.isAbove(.sharing) && !budget.isAbove(.closing))
        #expect(budget.hasRoom(forUnfinished: 300, of: Self.first))
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

    @Test func keepsUnfinishedFramesOfAHostWithinItsShareOnly() {
        let budget = BufferBudget(limitByteCount: 800)
        var kept = 0
        while budget.hasRoom(forUnfinished: 10, of: Self.first) {
            budget.add(10, for: Self.first)
            kept += 10
        }
        #expect(kept == budget.answerLimitByteCount)
        // Now there are two hosts, and one of them is above its share.
        budget.add(100, for: Self.second)
        #expect(!budget.hasRoom(forUnfinished: 1, of: Self.first))
        budget.add(-220, for: Self.first)
        #expect(budget.hasRoom(forUnfinished: 20, of: Self.first))
        #expect(budget.hasRoom(forUnfinished: 100, of: Self.second))
        #expect(!budget.hasRoom(forUnfinished: 101, of: Self.second))
    }

    @Test("hosts that come one after another do not pass the limit with the shares they each had")
    func boundsTheSumOfSharesThatBecomeSmaller() {
        let budget = BufferBudget(limitByteCount: 8_000_000)
        for number in 1...200 as ClosedRange<UInt32> {
            let host = HostSlot(.v4(number))
            while budget.hasRoom(forUnfinished: 1_000, of: host) { budget.add(1_000, for: host) }
        }
        #expect(budget.bufferedByteCount > budget.limitByteCount / 2)
        #expect(budget.bufferedByteCount <= budget.limitByteCount / 4 * 3)
    }

    @Test func sharesEvenlyWhereHostsTakeTurns() {
        let budget = BufferBudget(limitByteCount: 8_000_000)
        let hosts = Set((1...40).map { HostSlot(.v4($0)) })
        var isFull = false
        while !isFull {
            isFull = true
            for host in hosts where budget.hasRoom(forUnfinished: 1_000, of: host) {
                budget.add(1_000, for: host)
                isFull = false
            }
        }
        let share = budget.hostShareByteCount
        #expect(hosts.allSatisfy { budget.byteCount(of: $0) > share - 1_000 })
        #expect(budget.bufferedByteCount <= budget.answerLimitByteCount)
    }

    @Test func countsAnIPv6HostByItsNetwork() {
        let one = HostSlot(.v6(high: 0x2001_0db8_0000_0001, low: 1))
        #expect(one == HostSlot(.v6(high: 0x2001_0db8_0000_0001, low: 2)))
    }
}
