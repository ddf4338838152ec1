import FeedConcurrency
import FeedLog
import FeedService
import FeedTestSupport
import Testing

/// The channels of a follower: they come and go as the log says, and are there when it leads.
@Suite struct FollowerChannelTests {
    private let clock = ChannelTableTests.Clock()

    private func table(byteCount: Int = 1 << 20) -> ChannelTable {
        var limits = ChannelLimits()
        limits.byteCount = byteCount
        return ChannelTable(
            limits: limits,
            collectsEvicted: true,
            follows: true,
            clock: { [clock] in clock.now }
        )
    }

    private static func channel(_ number: UInt64, client: UInt64? = nil) -> LogEntry {
        .channel(
            ChannelState(number: number, clientHigh: client ?? number, clientLow: 2, channel: 0)
        )
    }

    private static func outcome(_ channel: UInt64, _ sequence: UInt64) -> LogEntry {
        .outcome(
            ChannelOutcome(channel: channel, sequence: sequence, requestHash: 0, outcome: .done)
        )
    }

    @Test func nothingIsForgottenByItself() throws {
        // Memory for a few channels only, and long after the retention.
        let table = table(byteCount: 4_096)
        for number in 1...100 as ClosedRange<UInt64> {
            table.restore(Self.channel(number))
            table.restore(Self.outcome(number, 7))
        }
        clock.advance(by: 100_000)
        #expect(table.evict() == 0)
        table.endRestoring()
        clock.advance(by: 100_000)
        #expect(table.evict() == 0 && table.count == 100)
        #expect(table.takeEvicted() == [])
        // Entries go on to come, and the log evicts.
        table.restore(Self.outcome(40, 8))
        table.restore(.evictedChannel(41))
        #expect(table.count == 99 && !table.isKnown(ChannelTableTests.key(41)))
        // What was too much for this machine goes once it leads.
        table.beginLeading()
        #expect(table.evict() > 80)
    }

    @Test func aHelloFindsItsChannelAfterATakeover() throws {
        let table = table()
        table.restore(nextNumber: 3)
        table.restore(Self.channel(1))
        table.restore(Self.outcome(1, 5))
        table.restore(Self.channel(8))
        clock.advance(by: 5_000)
        table.restore(Self.outcome(8, 1))
        table.beginLeading()
        let known = try ChannelTableTests.open(table, client: 1)
        #expect(known.wasKnown && known.lastSequence == 5)
        #expect(ChannelTableTests.call(known.held, 5) == .answer(.done))
        #expect(ChannelTableTests.call(known.held, 6) == .execute)
        // Numbers go on behind the greatest of the log.
        let new = try ChannelTableTests.open(table, client: 100)
        #expect(!new.wasKnown && new.held.channel.identity.number == 9)
        // The retention of the other begins now.
        clock.advance(by: 599)
        #expect(table.evict() == 0 && table.isKnown(ChannelTableTests.key(8)))
        clock.advance(by: 1)
        #expect(table.evict() == 1 && !table.isKnown(ChannelTableTests.key(8)))
        // Entries that come again say nothing of channels that are led.
        table.restore(.evictedChannel(1))
        #expect(table.isKnown(ChannelTableTests.key(1)))
    }

    @Test func aClientsNewerChannelTakesThePlaceOfItsOld() throws {
        let table = table()
        table.restore(Self.channel(1, client: 1))
        table.restore(Self.channel(2, client: 2))
        // The leader has forgotten both; it has logged that of one, later than the new channel.
        table.restore(Self.channel(3, client: 1))
        table.restore(Self.channel(4, client: 2))
        table.restore(.evictedChannel(1))
        #expect(table.count == 2)
        table.restore(Self.outcome(3, 9))
        table.beginLeading()
        // The other is logged by the next leader.
        #expect(table.takeEvicted() == [2])
        let known = try ChannelTableTests.open(table, client: 1)
        #expect(known.lastSequence == 9 && known.held.channel.identity.number == 3)
    }

    /// Loops look at a full table while it begins to lead: they wait for no walk through its channels.
    @Test(
        .enabled(
            if: TestEnvironment.number("FEED_QUIET_MACHINE") != nil,
            "FEED_QUIET_MACHINE is not set"
        )
    )
    func aFullTableBeginsToLeadAtOnce() async throws {
        var limits = ChannelLimits()
        limits.byteCount = 1 << 30
        let table = ChannelTable(limits: limits, follows: true)
        let count: UInt64 = 262_144
        for number in 1...count { table.restore(Self.channel(number)) }
        let began = ContinuousClock.now
        table.beginLeading()
        let duration = began.duration(to: .now)
        #expect(duration < .seconds(1))
        #expect(table.count == Int(count))
        #expect(try ChannelTableTests.open(table, client: count).wasKnown)
    }
}
