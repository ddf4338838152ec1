import FeedDiskFaults
import FeedJournal
import FeedRanking
import FeedState
import FeedTestSupport
import Testing

/// What a start makes of a directory, on a disk in memory.
@Suite struct RecoveredStateTests {
    private let disk = FakeDisk()
    private let clock = Locked<Int64>(1_000)

    @Test func aNewDirectoryIsMade() throws {
        let life = try start()
        #expect(life.state.summary.isNew)
        #expect(life.state.summary.last.sequence == 1)
        #expect(disk.names.contains("state.db"))
        #expect(life.store.revision == 1 << 24)
    }

    @Test func aLaterStartGoesOnFromTheJournal() throws {
        do {
            var life = try start()
            try commit(&life, [StateFixture.post(7, revision: (1 << 24) + 1)])
        }
        let life = try start()
        #expect(!life.state.summary.isNew)
        #expect(life.state.summary.recordCount == 2)
        #expect(life.state.logs.openCut == 4)
        #expect(life.store.postCount == 1)
        #expect(life.store.highestID == 7)
        #expect(life.store.revision == (2 << 24) + 1)
    }

    /// A channel moves to another loop before the cut, and makes a call that changes nothing.
    @Test func anOutcomeMayComeBeforeItsChannel() throws {
        let call = ClientCall(command: .delete(1), channel: 1, sequence: 1)
        do {
            var life = try start()
            let channel = ChannelState(number: 1, clientHigh: 7, clientLow: 8, channel: 1)
            let outcome = ChannelOutcome(
                channel: 1,
                sequence: 1,
                requestHash: call.hash,
                outcome: .done
            )
            try commit(
                &life,
                [StateFixture.post(7, revision: (1 << 24) + 1), .channel(channel)],
                [.outcome(outcome)]
            )
        }
        let life = try start()
        #expect(life.channels.outcome(of: call)?.outcome == .done)
    }

    private func start() throws -> DurableLife {
        var journal = JournalConfiguration(instanceID: 0)
        journal.segmentByteCount = 16 << 10
        journal.space.ballastByteCount = 0
        return try DurableLife(disk, journal, clock: clock)
    }

    /// A cut with the effects of each of the two loops.
    private func commit(
        _ life: inout DurableLife,
        _ first: [Effect],
        _ second: [Effect] = []
    ) throws {
        for (loop, effects) in [first, second].enumerated() {
            let log = life.state.logs[loop]
            log.lock()
            for effect in effects { log.append(effect) }
            log.unlock()
        }
        var body: [UInt8] = []
        _ = life.state.logs.takeCut(into: &body)
        _ = try life.state.journal.append(body.span, count: 1, at: 0)
    }
}
