import Dispatch
import FeedDiskFaults
import FeedJournal
import FeedState
import FeedTestSupport
import Glibc
import Testing

/// How the journal of a cluster is synced beside appends; the tests are both threads.
@Suite struct ReplicaSyncTests {
    private let disk = FakeDisk()
    private let begin = ContinuousClock.now
    private let wakeCount = Locked(0)

    private static var configuration: JournalConfiguration {
        var configuration = JournalConfiguration(instanceID: 7)
        configuration.segmentByteCount = 1 << 20
        configuration.space.ballastByteCount = 0
        configuration.durability = .replicated
        return configuration
    }

    private func journal() throws -> SegmentJournal {
        try SegmentJournal(disk, Self.configuration)
    }

    private func sync() -> ReplicaSync {
        let count = wakeCount
        return ReplicaSync(syncedRecord: 0) { count.withLock { $0 += 1 } }
    }

    private func append(_ journal: SegmentJournal, byteCount: Int = 100) throws {
        let body = [UInt8](repeating: 7, count: byteCount)
        _ = try journal.append(body.span, count: 1, at: 5)
    }

    @Test func itSyncsEachSecondIfThereIsSomething() throws {
        let (journal, sync) = (try journal(), sync())
        try append(journal)
        try sync.advance(journal, at: begin)
        #expect(!sync.syncMark())
        try sync.advance(journal, at: begin + .seconds(1))
        // A record that comes behind the mark is none of it.
        try append(journal)
        #expect(sync.syncMark())
        #expect(sync.syncedRecord == 1)
        #expect(wakeCount.withLock { $0 } == 1)
        try sync.advance(journal, at: begin + .milliseconds(1_900))
        #expect(!sync.syncMark())
        try sync.advance(journal, at: begin + .seconds(2))
        #expect(sync.syncMark())
        #expect(sync.syncedRecord == 2)
        try sync.advance(journal, at: begin + .seconds(9))
        #expect(!sync.syncMark())
    }

    @Test func itSyncsAtOnceBehindEightMebibytes() throws {
        let (journal, sync) = (try journal(), sync())
        for number in 1...12 {
            try append(journal, byteCount: 700_000)
            try sync.advance(journal, at: begin)
            #expect(sync.syncMark() == (number == 12))
        }
    }

    @Test func itSyncsAtOnceWhenRecordsAreWanted() throws {
        let (journal, sync) = (try journal(), sync())
        try append(journal)
        #expect(!sync.areDurable(through: 1))
        #expect(!sync.areDurable(through: 1))
        // To be asked once is enough.
        #expect(wakeCount.withLock { $0 } == 1)
        try sync.advance(journal, at: begin)
        #expect(sync.syncMark())
        #expect(sync.areDurable(through: 1))
    }

    @Test func aFailedSyncEndsTheJournal() throws {
        let (journal, sync) = (try journal(), sync())
        try append(journal)
        #expect(!sync.areDurable(through: 1))
        try sync.advance(journal, at: begin)
        disk.failure = { call, _ in call == .sync ? EIO : nil }
        #expect(sync.syncMark())
        disk.failure = { _, _ in nil }
        #expect(sync.syncedRecord == 0)
        do throws(StorageError) {
            try sync.advance(journal, at: begin)
            Issue.record("The failure was not told.")
        } catch {
            guard case .syncFailed = error else { throw error }
        }
        #expect(throws: StorageError.self) { try append(journal) }
    }

    @Test func theEndSyncsAllThatIsLeft() throws {
        let (journal, sync) = (try journal(), sync())
        try append(journal)
        #expect(!sync.areDurable(through: 1))
        try sync.advance(journal, at: begin)
        try append(journal)
        // The mark that waits, and what has come since.
        try sync.finish(journal)
        #expect(sync.syncedRecord == 2)
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<9 {
            let found = try SegmentJournal(disk.afterPowerCut(&generator), Self.configuration)
            #expect(found.last == journal.last)
        }
    }

    @Test(.timeLimit(.minutes(5))) func itSyncsOnAThreadOfItsOwn() throws {
        let directory = try TemporaryDirectory()
        let files = try POSIXFiles(path: directory.path)
        let woken = DispatchSemaphore(value: 0)
        let sync = ReplicaSync(syncedRecord: 0) { woken.signal() }
        var configuration = Self.configuration
        configuration.space.ballastByteCount = 1 << 20
        let journal = try SegmentJournal(files, configuration)
        try sync.start()
        for number in 1...20 as ClosedRange<UInt64> {
            // Some are the first of a segment.
            try append(journal, byteCount: 200_000)
            while !sync.areDurable(through: number) {
                woken.wait()
                try sync.advance(journal, at: .now)
            }
        }
        try append(journal)
        try sync.finish(journal)
        #expect(sync.syncedRecord == 21)
    }
}

/// What a checkpoint waits for.
@Suite(.timeLimit(.minutes(10))) struct DurableRecordsTests {
    /// Records that are durable when the test says so.
    private final class LateRecords: DurableRecords {
        let asked = DispatchSemaphore(value: 0)
        private let isDurable = Locked(false)

        func areDurable(through number: UInt64) -> Bool {
            asked.signal()
            return isDurable.withLock { $0 }
        }

        func release() { isDurable.withLock { $0 = true } }
    }

    private static func submit(to thread: CheckpointThread) {
        for number in 1...3 as ClosedRange<UInt64> {
            let body = StateFixture.body([StateFixture.post(number, revision: number)])
            _ = thread.submit(body, at: JournalPosition(number: number, hash: number))
        }
    }

    private static func thread(
        _ database: StateDatabase,
        _ records: LateRecords
    ) -> CheckpointThread {
        CheckpointThread(
            CheckpointWork(database, checkpointByteCount: 1),
            Backups(BackupOptions(), reservedByteCount: 0) { _ in },
            durableRecords: records,
            longestStop: .seconds(600),
            failed: { _ in }
        )
    }

    @Test func noRowIsWrittenBeforeItsRecordIsDurable() throws {
        let directory = try DataDirectory()
        let gate = SyncGate()
        let database = try directory.create(vfs: gate.name)
        let records = LateRecords()
        let thread = Self.thread(database, records)
        let syncCount = gate.syncCount
        Self.submit(to: thread)
        try thread.start()
        records.asked.wait()
        records.asked.wait()
        #expect(gate.syncCount == syncCount)
        #expect(thread.checkpointedRecord == 0)
        records.release()
        thread.stop()
        #expect(thread.checkpointedRecord == 3)
    }

    @Test func aStopDoesNotWaitForThem() throws {
        let records = LateRecords()
        let thread = Self.thread(try DataDirectory().create(), records)
        Self.submit(to: thread)
        try thread.start()
        thread.stop()
        #expect(thread.checkpointedRecord == 0)
    }
}
