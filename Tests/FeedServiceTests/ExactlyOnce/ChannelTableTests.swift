import FeedConcurrency
import FeedLog
import FeedRanking
import FeedService
import FeedTestSupport
import Testing

/// Which channels are remembered, for how long, and under which numbers.
struct ChannelTableTests {
    /// A clock that is set by hand.
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
        ChannelTable(
            limits: ChannelTable.Limits(
                byteCount: byteCount,
                quietByteCount: quietByteCount,
                retention: .seconds(600),
                shortRetention: .seconds(20),
                newChannelBurst: burst,
                newChannelsPerMinute: 60
            ),
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
        var request = ChannelTable.Request(
            clientHigh: client,
            clientLow: 2,
            channel: channel,
            host: .address(host)
        )
        change(&request)
        return try table.open(request, log: log)
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
