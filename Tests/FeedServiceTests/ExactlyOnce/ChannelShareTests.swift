import FeedLog
import FeedRanking
import FeedService
import FeedTestSupport
import Testing

/// How much of the table a host may take, and which of its channels go first.
struct ChannelShareTests {
    typealias Support = ChannelTableTests

    private let support = ChannelTableTests()

    /// A batch of which some votes were counted, at the far end of the window.
    private static func callBatch(_ channel: HeldChannel) -> RecentCalls.Decision {
        channel.withCalls { calls in
            let decision = calls.decision(
                sequence: 256,
                hash: 0,
                epoch: channel.epoch,
                recordsItems: true
            )
            if decision == .execute {
                calls.record(sequence: 256, hash: 0, .items(ItemMask(2)))
            }
            return decision
        }
    }

    private static func known(_ table: ChannelTable, _ clients: Range<UInt64>) -> Int {
        clients.count { table.isKnown($0, 2, channel: 0) }
    }

    /// One connection says Hello as ever other clients, with a batch behind each.
    @Test func aFloodOfHellosStaysInItsBounds() throws {
        let table = support.table(byteCount: 4 << 20)
        var executedCount = 0
        for client in 0..<30_000 as Range<UInt64> {
            let opening = try Support.open(table, client: client)
            if Self.callBatch(opening.held) == .execute { executedCount += 1 }
            table.close(opening.held, isLeft: true)
        }
        #expect(executedCount == 30_000)
        #expect(table.byteCount <= 3 << 20)
        #expect(table.count > 5000)
        #expect(table.takeEvicted().count == 30_000 - table.count)
        // Its latest are the ones that are left, and another host has its own at once.
        #expect(table.isKnown(29_999, 2, channel: 0))
        let other = try Support.open(table, client: 99_999, host: 2)
        #expect(Self.callBatch(other.held) == .execute)
    }

    @Test func unusedChannelsGoBeforeUsedOnes() throws {
        let table = support.table(byteCount: 64 << 10)
        for client in 0..<40 as Range<UInt64> {
            let channel = try Support.open(table, client: client).held
            if client < 20 { #expect(Support.call(channel, 1) == .execute) }
            table.close(channel)
        }
        // There is room for the channels with a call beside these, and for no others.
        for client in 1000..<1163 as Range<UInt64> {
            _ = try Support.open(table, client: client)
        }
        #expect(Self.known(table, 0..<20) == 20)
        #expect(Self.known(table, 20..<40) == 0)
        #expect(Self.known(table, 1000..<1163) == 163)
    }

    @Test func aHostThatHoldsItsShareGetsNoMore() throws {
        let table = support.table(byteCount: 64 << 10)
        var held: [HeldChannel] = []
        var refusal: ChannelTable.Refusal?
        while refusal == nil, held.count < 1000 {
            do throws(ChannelTable.Refusal) {
                let request = ChannelTable.Request(
                    clientHigh: UInt64(held.count),
                    clientLow: 2,
                    channel: 0,
                    host: .address(1)
                )
                held.append(try table.open(request, log: .none).held)
            } catch {
                refusal = error
            }
        }
        #expect(refusal == .noRoom(hostByteCount: 48 << 10, limitByteCount: 64 << 10))
        #expect(held.count == 48 * 4 - 1)
        #expect(table.refusedCount == 1)
        // Other hosts are not refused because of it, and it keeps its channels.
        for client in 2000..<2040 as Range<UInt64> {
            _ = try Support.open(table, client: client, host: 2)
        }
        #expect(table.evict() == 0)
        #expect(try Support.open(table, client: 0).wasKnown)
        // It has room again once a connection closes.
        table.close(held[5])
        #expect(throws: Never.self) { try Support.open(table, client: 5000, host: 2) }
    }

    /// As other hosts come, the host with the most channels gives up idle ones.
    @Test func theGreediestHostGivesUpItsIdleChannels() throws {
        let table = support.table(byteCount: 64 << 10)
        for client in 0..<190 as Range<UInt64> {
            table.close(try Support.open(table, client: client).held)
        }
        for client in 1000..<1060 as Range<UInt64> {
            if let opening = try? Support.open(table, client: client, host: 2) {
                #expect(Support.call(opening.held, 1) == .execute)
            }
            table.evict()
        }
        #expect(Self.known(table, 1000..<1060) == 60)
        #expect(Self.known(table, 0..<190) < 150)
        #expect(table.isKnown(189, 2, channel: 0))
    }

    @Test func aHostWithManyIdleChannelsKeepsThemForAShortTime() throws {
        let table = support.table(quietByteCount: 100 * 256)
        for client in 0..<300 as Range<UInt64> {
            table.close(try Support.open(table, client: client).held)
        }
        for client in 1000..<1050 as Range<UInt64> {
            table.close(try Support.open(table, client: client, host: 2).held)
        }
        support.clock.advance(by: 19)
        #expect(table.evict() == 0)
        support.clock.advance(by: 1)
        #expect(table.evict() == 200)
        #expect(Self.known(table, 200..<300) == 100)
        #expect(Self.known(table, 1000..<1050) == 50)
        support.clock.advance(by: 580)
        #expect(table.evict() == 150)
        #expect(table.count == 0 && table.byteCount == 0)
    }

    @Test func aChannelThatIsLeftWithoutACallIsForgotten() throws {
        let table = support.table()
        let left = try Support.open(table, client: 1).held
        let used = try Support.open(table, client: 2).held
        let lost = try Support.open(table, client: 3).held
        #expect(Support.call(used, 1) == .execute)
        table.close(left, isLeft: true)
        table.close(used, isLeft: true)
        // The connection broke: a call may have been on its way.
        table.close(lost)
        #expect(Self.known(table, 1..<4) == 2)
        #expect(!table.isKnown(1, 2, channel: 0))
    }

    @Test func newChannelsComeAtAPaceAHost() throws {
        let table = support.table(burst: 10)
        for client in 0..<5 as Range<UInt64> {
            _ = try Support.open(table, client: client) { $0.isFurther = true }
        }
        // Half of it is for the first channel of each connection.
        #expect(throws: ChannelTable.Refusal.tooFast(wait: .seconds(1))) {
            try Support.open(table, client: 5) { $0.isFurther = true }
        }
        for client in 6..<11 as Range<UInt64> { _ = try Support.open(table, client: client) }
        #expect(throws: ChannelTable.Refusal.tooFast(wait: .seconds(1))) {
            try Support.open(table, client: 12)
        }
        #expect(try Support.open(table, client: 3).wasKnown)
        _ = try Support.open(table, client: 12, host: 2)
        support.clock.advance(by: 1)
        _ = try Support.open(table, client: 13)
    }

    @Test func aChannelCountsForTheHostThatHoldsIt() throws {
        let table = support.table(byteCount: 64 << 10)
        for client in 0..<100 as Range<UInt64> {
            table.close(try Support.open(table, client: client).held)
        }
        for client in 0..<100 as Range<UInt64> {
            #expect(try Support.open(table, client: client, host: 2).wasKnown)
        }
        #expect(table.byteCount == 256 + 100 * 256)
    }

    /// A table with as many channels of an earlier run as there is room for.
    private func restoredTable() -> ChannelTable {
        let table = support.table(byteCount: 64 << 10, quietByteCount: 0)
        for number in 1...1000 as ClosedRange<UInt64> {
            table.restore(
                ChannelState(number: number, clientHigh: number, clientLow: 2, channel: 0)
            )
            table.restore(
                ChannelOutcome(
                    channel: number,
                    sequence: 256,
                    requestHash: 0,
                    outcome: .items(ItemMask(2))
                )
            )
        }
        table.endRestoring()
        return table
    }

    /// Restored channels may take the memory of all hosts together, and the oldest of them stay.
    @Test func restoringKeepsToTheBounds() throws {
        let table = restoredTable()
        #expect(table.byteCount <= 64 << 10)
        #expect(table.byteCount > 62 << 10)
        let count = table.count
        #expect(Self.known(table, 1..<UInt64(count) + 1) == count)
        #expect(table.takeEvicted().count == 1000 - count)
        // They are kept for as long as others: their clients are about to come back.
        support.clock.advance(by: 599)
        #expect(table.evict() == 0)
        #expect(try Support.open(table, client: 1).lastSequence == 256)
        support.clock.advance(by: 1)
        table.evict()
        #expect(table.count == 1)
    }

    /// The memory that restored channels take is every host's as soon as one needs it.
    @Test func restoredChannelsGiveWayTheNewestFirst() throws {
        let table = restoredTable()
        let count = table.count
        let flood = 2000..<2060 as Range<UInt64>
        for client in flood {
            let opening = try Support.open(table, client: client)
            #expect(table.byteCount <= 64 << 10)
            #expect(Self.callBatch(opening.held) == .execute)
            table.evict()
        }
        #expect(Self.known(table, flood) == flood.count)
        // Another host's client comes back late, and finds its channel though the table is full.
        let back = try Support.open(table, client: 1, host: 2)
        #expect(back.lastSequence == 256)
        #expect(Support.call(back.held, 257) == .execute)
        table.evict()
        let left = table.count - flood.count
        #expect(left < count)
        #expect(Self.known(table, 1..<UInt64(left) + 1) == left)
        #expect(table.byteCount <= 64 << 10)
    }

    /// In any order of events, held channels stay and the counts are right.
    @Test(arguments: TestEnvironment.seeds(1...10))
    func heldChannelsStayAndNothingIsLost(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let table = support.table(byteCount: 256 << 10, quietByteCount: 8 << 10)
        var held: [UInt64: HeldChannel] = [:]
        for step in 0..<3000 {
            let client = UInt64.random(in: 0..<400, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<4:
                let host = UInt32.random(in: 1...3, using: &random)
                held[client] = try Support.open(table, client: client, host: host).held
            case 4..<6:
                guard let channel = held.removeValue(forKey: client) else { continue }
                table.close(channel, isLeft: Bool.random(using: &random))
            case 6:
                guard let channel = held[client] else { continue }
                _ = Support.call(channel, .random(in: 1...600, using: &random))
            default:
                support.clock.advance(by: .random(in: 0...30, using: &random))
                table.evict()
            }
            for client in held.keys where !table.isKnown(client, 2, channel: 0) {
                Issue.record("seed \(seed), step \(step): \(client) is gone")
                return
            }
        }
        #expect(table.byteCount <= 256 << 10)
        for channel in held.values { table.close(channel) }
        support.clock.advance(by: 600)
        while table.evict() > 0 {}
        #expect(table.count == 0 && table.byteCount == 0)
    }

    @Test func saysWhetherIdleChannelsAreForgottenSoon() throws {
        let table = support.table(quietByteCount: 8 << 10)
        for client in 0..<10 as Range<UInt64> {
            table.close(try Support.open(table, client: client).held)
        }
        table.evict()
        #expect(!table.takeForgetsSoon())
        for client in 10..<80 as Range<UInt64> {
            table.close(try Support.open(table, client: client).held)
        }
        table.evict()
        #expect(table.takeForgetsSoon())
        #expect(!table.takeForgetsSoon())
    }
}
