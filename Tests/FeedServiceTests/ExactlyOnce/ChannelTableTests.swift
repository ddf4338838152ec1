import FeedConcurrency
import FeedLog
import FeedRanking
import FeedService
import FeedTestSupport
import Testing

/// Which channels are remembered, for how long, and under which numbers.
struct ChannelTableTests {
    final class Clock: Sendable {
        private let seconds = Locked<UInt64>(0)
        func advance(by more: UInt64) { seconds.withLock { $0 += more } }
        var now: MonotonicInstant {
            MonotonicInstant(nanoseconds: seconds.withLock { $0 } * 1_000_000_000)
        }
    }

    let clock = Clock()

    func table(
        byteCount: Int = 1 << 20,
        quietByteCount: Int = 1 << 20,
        burst: Int = 1_000_000
    ) -> ChannelTable {
        var limits = ChannelLimits()
        limits.byteCount = byteCount
        limits.quietByteCount = quietByteCount
        limits.newChannelBurst = burst
        limits.newChannelsPerMinute = 60
        return ChannelTable(
            limits: limits,
            collectsEvicted: true,
            clock: { [clock] in clock.now }
        )
    }

    static func open(
        _ table: ChannelTable,
        client: UInt64 = 1,
        channel: UInt32 = 0,
        host: UInt32 = 1,
        log: ChangeLog = .none,
        _ change: (inout ChannelTable.Request) -> Void = { _ in }
    ) throws -> ChannelTable.Opening {
        let key = key(client, channel: channel)
        var request = ChannelTable.Request(key, from: .address(host))
        change(&request)
        return try table.open(request, log: log)
    }

    static func key(_ client: UInt64, channel: UInt32 = 0) -> ChannelTable.Key {
        ChannelTable.Key(Device16(high: client, low: 2), channel: channel)
    }

    static func call(_ held: HeldChannel, _ sequence: UInt64) -> RecentCalls.Decision {
        held.withCalls { calls in
            let decision = calls.decision(sequence: sequence, hash: 0, epoch: held.epoch)
            if decision == .execute { calls.record(sequence: sequence, hash: 0, .done) }
            return decision
        }
    }

    @Test func remembersEachChannelOfEachClient() throws {
        let table = table()
        let first = try Self.open(table)
        #expect(!first.wasKnown)
        #expect(first.lastSequence == 0)
        #expect(Self.call(first.held, 7) == .execute)
        for (client, channel) in [(1, 1), (2, 0), (2, 1)] as [(UInt64, UInt32)] {
            let other = try Self.open(table, client: client, channel: channel)
            #expect(!other.wasKnown)
            #expect(other.held.channel !== first.held.channel)
            #expect(other.held.channel.identity.number != first.held.channel.identity.number)
        }
        let again = try Self.open(table)
        #expect(again.wasKnown)
        #expect(again.lastSequence == 7)
        #expect(Self.call(again.held, 7) == .answer(.done))
        #expect(table.count == 4)
    }

    @Test func aHelloFencesTheOneBefore() throws {
        let table = table()
        let old = try Self.open(table).held
        let new = try Self.open(table).held
        #expect(Self.call(old, 1) == .fenced)
        #expect(Self.call(new, 1) == .execute)
        // The end of the fenced connection does not change the new one's channel.
        table.close(old)
        clock.advance(by: 10_000)
        #expect(table.evict() == 0)
        #expect(Self.call(new, 1) == .answer(.done))
    }

    @Test func forgetsAChannelOnceItsConnectionWasClosedForTheRetention() throws {
        let table = table()
        let held = try Self.open(table).held
        clock.advance(by: 100_000)
        #expect(table.evict() == 0)
        table.close(held)
        clock.advance(by: 599)
        #expect(table.evict() == 0)
        clock.advance(by: 1)
        #expect(table.evict() == 1)
        #expect(table.count == 0)
        #expect(table.evictedCount == 1)
        #expect(table.takeEvicted() == [held.channel.identity.number])
        #expect(table.takeEvicted() == [])
        let again = try Self.open(table)
        #expect(!again.wasKnown)
        #expect(again.held.channel.identity.number > held.channel.identity.number)
    }

    @Test func aChannelThatIsUsedAgainStays() throws {
        let table = table()
        for _ in 0..<10 {
            table.close(try Self.open(table).held)
            clock.advance(by: 400)
            #expect(table.evict() == 0)
        }
        let again = try Self.open(table)
        #expect(again.wasKnown)
        clock.advance(by: 10_000)
        #expect(table.evict() == 0)
        table.close(again.held)
        clock.advance(by: 600)
        #expect(table.evict() == 1)
    }

    @Test func evictsAtMostSoManyAtOnce() throws {
        let table = table()
        for client in 0..<100 as Range<UInt64> {
            table.close(try Self.open(table, client: client).held)
        }
        clock.advance(by: 600)
        #expect(table.evict(limit: 30) == 30)
        #expect(table.count == 70)
        #expect(table.evict(limit: 1000) == 70)
    }

    @Test func logsANewChannelOnce() throws {
        let logs = ChangeLogs(count: 1, firstBatch: 1) {}
        let table = table()
        for channel in [0, 1, 0] as [UInt32] {
            try logs[0].transaction {
                _ = try Self.open(table, client: 8, channel: channel, log: logs[0])
            }
        }
        var body: [UInt8] = []
        #expect(logs.takeBatch(into: &body)?.entryCount == 2)
    }

    @Test func restoresChannelsAndOutcomes() throws {
        let table = table()
        let state = ChannelState(number: 41, clientHigh: 1, clientLow: 2, channel: 0)
        table.restore(state)
        let outcomes: [(UInt64, Outcome)] = [
            (5, .done), (3, .id(9)), (4, .items(ItemMask(1))), (4, .items(ItemMask(2))), (5, .done),
            (0, .done),
        ]
        for (sequence, outcome) in outcomes {
            table.restore(
                ChannelOutcome(channel: 41, sequence: sequence, requestHash: 6, outcome: outcome)
            )
        }
        // Of a channel that is not there.
        table.restore(ChannelOutcome(channel: 40, sequence: 1, requestHash: 6, outcome: .done))
        table.restore(nextNumber: 50)
        table.endRestoring()
        let opening = try Self.open(table)
        #expect(opening.wasKnown)
        #expect(opening.lastSequence == 5)
        opening.held.withCalls { calls in
            let epoch = calls.epoch
            #expect(calls.decision(sequence: 5, hash: 6, epoch: epoch) == .answer(.done))
            #expect(calls.decision(sequence: 3, hash: 6, epoch: epoch) == .answer(.id(9)))
            let both = Outcome.items(ItemMask(3))
            #expect(calls.decision(sequence: 4, hash: 6, epoch: epoch) == .answer(both))
            #expect(calls.decision(sequence: 2, hash: 6, epoch: epoch) == .execute)
        }
        #expect(try Self.open(table, client: 2).held.channel.identity.number == 50)
    }

    @Test func restoredChannelsAreForgottenAfterTheRetention() throws {
        let table = table()
        for number in 1...3 as ClosedRange<UInt64> {
            table.restore(
                ChannelState(number: number, clientHigh: number, clientLow: 2, channel: 0)
            )
        }
        clock.advance(by: 5000)
        table.endRestoring()
        clock.advance(by: 599)
        #expect(table.evict() == 0)
        let held = try Self.open(table, client: 2)
        clock.advance(by: 1)
        #expect(table.evict() == 2)
        #expect(table.takeEvicted().sorted() == [1, 3])
        #expect(held.wasKnown)
    }
}

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
            if decision == .execute { calls.record(sequence: 256, hash: 0, .items(ItemMask(2))) }
            return decision
        }
    }

    private static func known(_ table: ChannelTable, _ clients: Range<UInt64>) -> Int {
        clients.count { table.isKnown(Support.key($0)) }
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
        #expect(table.isKnown(Support.key(29_999)))
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
        for client in 1000..<1163 as Range<UInt64> { _ = try Support.open(table, client: client) }
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
                let key = Support.key(UInt64(held.count))
                let request = ChannelTable.Request(key, from: .address(1))
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
        #expect(table.isKnown(Support.key(189)))
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
        #expect(!table.isKnown(Support.key(1)))
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
            for client in held.keys where !table.isKnown(Support.key(client)) {
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

/// The calls that a channel remembers, compared with a model that remembers all.
struct RecentCallsTests {
    static let window = UInt64(RecentCalls.window)

    /// A call and the decision about it, on a channel that its first Hello holds.
    struct Step: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The sequences that were executed, in this order, each with itself as hash.
        let executed: [UInt64]
        let sequence: UInt64
        var hash: UInt32?
        var epoch: UInt64 = 1
        let decision: RecentCalls.Decision
    }

    static let steps = [
        Step(testDescription: "first", executed: [], sequence: 1, decision: .execute),
        Step(testDescription: "again", executed: [1], sequence: 1, decision: .answer(.done)),
        Step(testDescription: "next", executed: [1], sequence: 2, decision: .execute),
        Step(testDescription: "reused", executed: [1], sequence: 1, hash: 9, decision: .reused),
        Step(testDescription: "a gap", executed: [1, 3], sequence: 2, decision: .execute),
        Step(
            testDescription: "a gap filled",
            executed: [1, 3, 2],
            sequence: 2,
            decision: .answer(.done)
        ),
        Step(
            testDescription: "the last that is remembered",
            executed: [1, window],
            sequence: 1,
            decision: .answer(.done)
        ),
        Step(
            testDescription: "the first that is forgotten",
            executed: [1, window + 1],
            sequence: 1,
            decision: .expired
        ),
        Step(
            testDescription: "what has the place of a forgotten one",
            executed: [1, 2, window + 2],
            sequence: window + 1,
            decision: .execute
        ),
        Step(
            testDescription: "a gap over the whole window",
            executed: [7, 10_000],
            sequence: 9999,
            decision: .execute
        ),
        Step(
            testDescription: "the greatest number",
            executed: [1, .max],
            sequence: .max - 1,
            decision: .execute
        ),
        Step(
            testDescription: "an older Hello's",
            executed: [1],
            sequence: 1,
            epoch: 0,
            decision: .fenced
        ),
    ]

    @Test(arguments: steps)
    func decides(_ step: Step) {
        var calls = RecentCalls(channel: 5)
        #expect(calls.beginEpoch() == 1)
        for sequence in step.executed {
            let hash = UInt32(truncatingIfNeeded: sequence)
            calls.record(sequence: sequence, hash: hash, .done)
        }
        let hash = step.hash ?? UInt32(truncatingIfNeeded: step.sequence)
        let decision = calls.decision(sequence: step.sequence, hash: hash, epoch: step.epoch)
        #expect(decision == step.decision)
    }

    @Test func takesMemoryForWhatWasRecordedOnly() {
        let empty = RecentCalls(channel: 5).byteCount
        var batch = RecentCalls(channel: 5)
        batch.record(sequence: 256, hash: 1, .items(ItemMask(2)))
        #expect(batch.byteCount - empty <= 160)
        // Votes that lie as far apart as they may.
        var sparse = RecentCalls(channel: 5)
        for sequence in stride(from: 1, through: 10_000, by: 64) {
            sparse.record(sequence: UInt64(sequence), hash: 1, .done)
        }
        #expect(sparse.byteCount - empty <= 96)
        var full = RecentCalls(channel: 5)
        for sequence in 1...10_000 as ClosedRange<UInt64> {
            full.record(sequence: sequence, hash: 1, .done)
        }
        #expect(full.byteCount - empty <= 256 * 16 + 32)
        // Batches with all votes counted take no more memory than votes.
        for sequence in 10_001...20_000 as ClosedRange<UInt64> {
            full.record(sequence: sequence, hash: 1, .items(ItemMask(.max, 0xFF)))
        }
        #expect(full.byteCount - empty <= 256 * 16 + 32)
        for sequence in 20_001...30_000 as ClosedRange<UInt64> {
            full.record(sequence: sequence, hash: 1, .items(ItemMask(sequence, 2)))
        }
        #expect(full.byteCount - empty <= 256 * (16 + 32) + 64)
    }

    @Test func hasNoRoomWhereTheShareIsTaken() {
        let budget = ChannelBudget(limitByteCount: 2000)
        let share = ChannelShare(of: budget)
        var calls = RecentCalls(channel: 5, share: share)
        let epoch = calls.beginEpoch()
        var sequence: UInt64 = 1
        func decide(_ items: Bool = false) -> RecentCalls.Decision {
            calls.decision(sequence: sequence, hash: 0, epoch: epoch, recordsItems: items)
        }
        while decide() == .execute, sequence < 300 {
            calls.record(sequence: sequence, hash: 0, .done)
            sequence += 1
        }
        #expect(decide() == .noRoom)
        #expect(sequence > 30 && sequence < 130)
        #expect(share.usedByteCount == calls.byteCount)
        #expect(budget.usedByteCount <= 1500)
        // Recorded calls are still answered.
        let known = calls.decision(sequence: 1, hash: 0, epoch: epoch)
        #expect(known == .answer(.done))
    }

    @Test func saysWhatTheLogIsTold() {
        var calls = RecentCalls(channel: 5)
        #expect(
            calls.record(sequence: 3, hash: 4, .id(6))
                == ChannelOutcome(channel: 5, sequence: 3, requestHash: 4, outcome: .id(6))
        )
        #expect(calls.highest == 3)
    }

    @Test(arguments: TestEnvironment.seeds(1...40))
    func agreesWithAModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var calls = RecentCalls(channel: 1)
        let epoch = calls.beginEpoch()
        var model: [UInt64: (hash: UInt32, outcome: Outcome)] = [:]
        var highest: UInt64 = 0
        let jump: UInt64 = [2, 20, 300, 5000].randomElement(using: &random) ?? 2
        for step in 0..<2000 {
            let reach = highest + .random(in: 0...jump, using: &random)
            let sequence = max(1, reach - min(reach, .random(in: 0...600, using: &random)))
            let hash = UInt32.random(in: 0...1, using: &random)
            let decision = calls.decision(sequence: sequence, hash: hash, epoch: epoch)
            let expected: RecentCalls.Decision =
                if sequence <= highest, highest - sequence >= Self.window {
                    .expired
                } else if let known = model[sequence] {
                    known.hash == hash ? .answer(known.outcome) : .reused
                } else {
                    .execute
                }
            #expect(decision == expected, "seed \(seed), step \(step), sequence \(sequence)")
            guard decision == expected else { return }
            var isRecorded = decision == .execute
            if case .answer(.items) = decision { isRecorded = true }
            guard isRecorded else { continue }
            let outcome = Self.outcome(&random)
            calls.record(sequence: sequence, hash: hash, outcome)
            model[sequence] = (hash, outcome)
            highest = max(highest, sequence)
            #expect(calls.highest == highest)
        }
    }

    private static func outcome(_ random: inout SeededGenerator) -> Outcome {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: .id(.random(in: 1...(.max), using: &random))
        case 1: .items(ItemMask(.random(in: 0...(.max), using: &random), 1, 2, 3))
        default: .done
        }
    }
}
