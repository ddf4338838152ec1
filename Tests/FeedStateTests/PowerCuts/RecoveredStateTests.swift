import FeedAccounts
import FeedDiskFaults
import FeedJournal
import FeedLog
import FeedRanking
import FeedSQLite
import FeedState
import FeedTestSupport
import Testing

/// What a start makes of a directory, on a disk in memory.
@Suite struct RecoveredStateTests {
    private let disk: FakeDisk
    private let clock = Locked<Int64>(1_000)

    init() { self.init(disk: FakeDisk()) }

    private init(disk: FakeDisk) { self.disk = disk }

    @Test func aNewDirectoryIsMade() throws {
        let life = try start()
        #expect(life.state.summary.isNew)
        #expect(life.state.summary.last.number == 1)
        #expect(disk.names.contains("state.db"))
        #expect(life.store.revision == 1 << 24)
    }

    @Test func aLaterStartContinuesFromTheJournal() throws {
        do {
            var life = try start()
            try commit(&life, [StateFixture.post(7, revision: (1 << 24) + 1)])
        }
        let life = try start()
        #expect(!life.state.summary.isNew)
        #expect(life.state.summary.recordCount == 2)
        #expect(life.state.logs.openBatch == 4)
        #expect(life.store.postCount == 1)
        #expect(life.store.highestID == 7)
        #expect(life.store.revision == (2 << 24) + 1)
    }

    /// A channel moves to another loop before the commit batch is taken, and makes a call that
    /// changes nothing.
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

    /// Votes come before and after edits, deletions and votes in other records.
    @Test func theStoreIsAsIfAllEntriesWereAppliedInOrder() throws {
        let base: UInt64 = 1 << 24
        let records: [[LogEntry]] = [
            (1...300).map { StateFixture.post($0, revision: base + $0) },
            (1...9_000).map { Self.counts($0 % 300 + 1, votes: $0, revision: base + 300 + $0) },
            [
                .deletion(PostID(rawValue: 5), revision: base + 9_301),
                StateFixture.post(6, revision: base + 9_302),
                Self.counts(5, votes: 9, revision: base + 9_303),
                Self.counts(7, votes: 9, revision: base + 9_304),
            ],
        ]
        do {
            var life = try start()
            for entries in records { try commit(&life, entries) }
        }
        let life = try start()
        let bodies = records.map(StateFixture.body)
        #expect(try life.stateHash == StateFixture.storeHash(nil, bodies))
        #expect(life.store.revision == 2 * base + 9_304)
        #expect(life.state.summary.entryCount == 9_305)
    }

    @Test func theFirstImpossibleValueOfARecordIsNamed() throws {
        let base: UInt64 = 1 << 24
        let feed = StateFixture.post(2, revision: base + 2, feed: 99)
        let votes = Self.counts(1, votes: .max, revision: base + 3)
        let lateFeed = StateFixture.post(2, revision: base + 4, feed: 99)
        let post = StateFixture.post(1, revision: base + 1)
        #expect(try refusal([post, feed, votes]).contains("99"))
        let words = try refusal([post, votes, lateFeed])
        #expect(words.contains("\(UInt64.max)"), "\(words)")
    }

    private static func counts(_ id: UInt64, votes: UInt64, revision: UInt64) -> LogEntry {
        .counts(
            PostCounts(
                id: PostID(rawValue: id),
                upvoteCount: votes,
                downvoteCount: 1,
                revision: revision
            )
        )
    }

    /// Why a journal with these log entries in record 2 is refused.
    private func refusal(_ entries: [LogEntry]) throws -> String {
        let disk = FakeDisk()
        let tests = RecoveredStateTests(disk: disk)
        do {
            var life = try tests.start()
            try tests.commit(&life, entries)
        }
        do throws(StateStartError) {
            _ = try DurableLife(disk, Self.configuration, clock: clock)
            return "none"
        } catch {
            guard case .storage(.brokenRecord(2, _)) = error else { return "another: \(error)" }
            return "\(error)"
        }
    }

    private func start() throws -> DurableLife {
        try DurableLife(disk, Self.configuration, clock: clock)
    }

    private static var configuration: JournalConfiguration {
        var journal = JournalConfiguration(instanceID: 0)
        journal.segmentByteCount = 1 << 20
        journal.space.ballastByteCount = 0
        return journal
    }

    /// A commit batch with these log entries of each of the two loops.
    private func commit(
        _ life: inout DurableLife,
        _ first: [LogEntry],
        _ second: [LogEntry] = []
    ) throws {
        for (loop, entries) in [first, second].enumerated() {
            let log = life.state.logs[loop]
            log.transaction { for entry in entries { log.append(entry) } }
        }
        var body: [UInt8] = []
        _ = life.state.logs.takeBatch(into: &body)
        _ = try life.state.journal.append(body.span, count: 1, at: 0)
    }
}

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
            try database.update { $0.skipNumbersAtNextStart() }
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

    /// A cluster that is made of such a state gives no number twice either, and logs nothing for that.
    @Test func aNodeOfAClusterSkipsThemOnce() throws {
        do {
            var life = try start()
            try commit(&life, [Self.account(5), StateFixture.post(7, revision: (1 << 24) + 1)])
            try life.state.checkpointWork.database.update { $0.skipNumbersAtNextStart() }
        }
        let begun = try ClusterBeginning.run(DurableLife.directory(disk, Self.configuration))
        var revisions: [UInt64] = []
        for _ in 0..<2 {
            let store = FeedStore(stripeCount: 4) { 1_000 }
            var options = StateOptions(path: ".", logCount: 2)
            options.journal = Self.configuration
            options.replica = ReplicaOptions(socketPath: "/unused", address: "")
            let state = try RecoveredState(
                StateDirectory(options, disk, vfs: disk.databaseDiskName),
                into: store,
                channels: { _ in }
            )
            #expect(state.journal.last == begun.last)
            #expect(store.highestID == 7 + (1 << 24))
            let skipped = SkippedNumbers.accounts(above: 5, instance: begun.instanceID)
            #expect(state.summary.skippedAccountID == skipped)
            #expect(Self.isReset(store, since: (1 << 24) + 1))
            revisions.append(store.revision)
        }
        #expect(revisions[0] > 1 << 40 && revisions[1] == revisions[0])
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
            try life.state.checkpointWork.database.update { $0.skipNumbersAtNextStart() }
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
            try database.update(skippedAccountID: 9) { _ in }
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

    private static var configuration: JournalConfiguration {
        var journal = JournalConfiguration(instanceID: 0)
        journal.segmentByteCount = 1 << 20
        journal.space.ballastByteCount = 0
        return journal
    }

    private func start() throws -> DurableLife {
        try DurableLife(disk, Self.configuration, clock: clock)
    }

    private func commit(_ life: inout DurableLife, _ entries: [LogEntry]) throws {
        let log = life.state.logs[0]
        log.transaction { for entry in entries { log.append(entry) } }
        var body: [UInt8] = []
        _ = life.state.logs.takeBatch(into: &body)
        _ = try life.state.journal.append(body.span, count: 1, at: 0)
    }
}
