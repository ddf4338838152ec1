import FeedAccounts
import FeedDiskFaults
import FeedJournal
import FeedLog
import FeedRanking
import FeedSQLite
import FeedState
import FeedTestSupport
import Testing

/// The numbers that a start skips, on a disk in memory.
@Suite struct SkippedNumberTests {
    private let disk = FakeDisk()
    private let clock = Locked<Int64>(1_000)

    @Test func aStartThatDoesNotKnowWhatWasGivenSkipsNumbersOnce() throws {
        do {
            var life = try start()
            #expect(life.state.summary.skippedAccountID == 0)
            try commit(&life, [Self.account(5), StateFixture.post(7, revision: (1 << 24) + 1)])
        }
        do {
            let life = try start()
            #expect(life.state.summary.skippedAccountID == 0)
            #expect(life.store.highestID == 7)
            let database = life.state.checkpointWork.database
            try database.updateMeta { $0.skipNumbersAtNextStart() }
        }
        let skipped: UInt64
        do {
            let life = try start()
            let instance = life.state.checkpointWork.database.meta.instanceID
            skipped = SkippedNumbers.accounts(above: 5, instance: instance)
            #expect(life.state.summary.skippedAccountID == skipped)
            #expect(life.store.highestID == 7 + (1 << 24))
            #expect(life.store.revision > 1 << 40)
            // Also where the start ends before its record is durable.
            #expect(life.state.checkpointWork.database.meta.highestID == 7 + (1 << 24))
            #expect(life.state.checkpointWork.database.meta.highestRevision > 1 << 40)
        }
        let life = try start()
        #expect(life.state.summary.skippedAccountID == skipped)
        #expect(life.store.highestID == 7 + (1 << 24))
    }

    @Test func copiesThatMayHaveLostPostsAreBegunAnew() throws {
        let revision: UInt64
        do {
            let life = try start()
            revision = life.store.revision
            #expect(!Self.isReset(life.store, since: revision))
        }
        do {
            let life = try start()
            #expect(!Self.isReset(life.store, since: revision))
            try life.state.checkpointWork.database.updateMeta { $0.skipNumbersAtNextStart() }
        }
        for _ in 0..<2 {
            let life = try start()
            #expect(Self.isReset(life.store, since: revision))
        }
    }

    /// Whether a client that has come to a revision begins a new copy.
    private static func isReset(_ store: FeedStore, since revision: UInt64) -> Bool {
        var page = PostPage()
        var allowance = RefreshAllowance(keyCount: .max)
        let position = SyncPosition(revision: revision, copyRevision: 0)
        let query = SyncQuery(position: position, size: 1)
        guard case .done(let read) = store.sync(query, into: &page, allowance: &allowance) else {
            return false
        }
        return read.isReset
    }

    @Test(arguments: ["UPDATE account_numbers SET skipped = 8", "DELETE FROM account_numbers"])
    func aRowThatIsNotAsItWasWrittenIsDamage(change: String) throws {
        do {
            let life = try start()
            let database = life.state.checkpointWork.database
            try database.updateMeta(skippedAccountID: 9) { _ in }
            try database.connection.execute(change)
        }
        let error = #expect(throws: StateStartError.self) { _ = try start() }
        #expect("\(String(describing: error))".contains("account_numbers"))
    }

    @Test func instancesSkipDifferentCountsOfAccountNumbers() {
        let counts = Set((0..<4096).map { SkippedNumbers.accounts(above: 3, instance: $0) })
        #expect(counts.count == 4096)
        let (least, most) = (counts.min() ?? 0, counts.max() ?? 0)
        #expect(least == 3 + (1 << 32))
        #expect(most == 3 + (1 << 44))
        // The top bit is for the users of a service's own.
        let last: UInt64 = .max >> 1
        #expect(SkippedNumbers.accounts(above: last, instance: 0) == last)
    }

    private static func account(_ id: UInt64) -> LogEntry {
        .account(
            AccountRow(
                id: id,
                email: "\(id)@x",
                displayName: "",
                passwordHash: "hash",
                createTimeMilliseconds: 0
            )
        )
    }

    private func start() throws -> DurableLife {
        var journal = JournalConfiguration(instanceID: 0)
        journal.segmentByteCount = 1 << 20
        journal.space.ballastByteCount = 0
        return try DurableLife(disk, journal, clock: clock)
    }

    /// A commit batch with these log entries.
    private func commit(_ life: inout DurableLife, _ entries: [LogEntry]) throws {
        let log = life.state.logs[0]
        log.transaction { for entry in entries { log.append(entry) } }
        var body: [UInt8] = []
        _ = life.state.logs.takeBatch(into: &body)
        _ = try life.state.journal.append(body.span, count: 1, at: 0)
    }
}
