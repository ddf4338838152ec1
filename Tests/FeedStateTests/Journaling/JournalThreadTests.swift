import FeedConcurrency
import FeedJournal
import FeedLog
import FeedRanking
import FeedState
import FeedTestSupport
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct JournalThreadTests {
    /// Keeps the commit batches that it takes, and says that all are checkpointed.
    private final class Receiver: CommitBatchReceiver {
        let batches = Locked<[JournalPosition]>([])

        var checkpointedRecord: UInt64 { batches.withLock { $0.last?.number ?? 0 } }

        func submit(_ body: [UInt8], at position: JournalPosition) -> [UInt8] {
            batches.withLock { $0.append(position) }
            return []
        }

        let waiting = Locked(0)

        /// The first record has deleted an account.
        var erasedRecord: UInt64 { min(checkpointedRecord, 1) }

        var backlog: CheckpointBacklog {
            CheckpointBacklog(pendingByteCount: waiting.withLock { $0 }, limitByteCount: 1 << 20)
        }
    }

    /// A thread over a fake journal, and what it says.
    private final class Harness: Sendable {
        let logs: ChangeLogs
        let thread: any CommitThread
        var progress: CommitProgress { thread.progress }
        let durable = Locked<[UInt64]>([])
        let failures = Locked<[StorageError]>([])
        let receiver = Receiver()
        let news = Locked<[CheckpointNews]>([])
        let space = Locked<[SpaceNews]>([])
        let said = DispatchSemaphore(value: 0)
        private let started = Locked<(any CommitThread)?>(nil)

        init(_ journal: FakeJournal, beforeStart: () -> Void = {}) {
            let started = started
            logs = ChangeLogs(count: 2, firstBatch: 1) { started.withLock { $0 }?.wake() }
            var events = CommitEvents()
            let (durable, failures, said) = (durable, failures, said)
            let news = news
            let space = space
            events.space = { told in space.withLock { $0.append(told) } }
            events.checkpoints = { told in news.withLock { $0.append(told) } }
            events.durable = { batch in
                durable.withLock { $0.append(batch) }
                said.signal()
            }
            let parts = CommitParts(
                journal: Transferred(journal),
                chain: .ofOneMachine,
                logs: logs,
                receiver: receiver,
                maximumWaitingByteCount: 1 << 20,
                keepsSegments: false,
                events: events
            ) { error in
                failures.withLock { $0.append(error) }
                said.signal()
            }
            thread = JournalThread(parts)
            started.withLock { [thread] in $0 = thread }
            beforeStart()
            do { try thread.start() } catch { Issue.record("\(error)") }
        }

        // The logs lead to the thread, and the thread to the logs.
        deinit { started.withLock { $0 = nil } }

        /// Appends the log entry of a vote to a log, as a transaction of its own.
        func log(_ loop: Int, revision: UInt64) {
            let log = logs[loop]
            log.transaction {
                let counts = PostCounts(
                    id: PostID(rawValue: 1),
                    upvoteCount: revision,
                    downvoteCount: 0,
                    revision: revision
                )
                log.append(LogEntry.counts(counts))
            }
        }
    }

    /// Between the log entry and its wake-up, a look may not take the time of an earlier batch for its own.
    @Test func aLogEntryThatIsNotNotedYetHasNotWaited() {
        let logs = ChangeLogs(count: 1, firstBatch: 1) {}
        let progress = CommitProgress(of: logs, Receiver(), maximumWaitingByteCount: 1 << 20)
        var body: [UInt8] = []
        for batch in 1...3 as ClosedRange<UInt64> {
            logs[0].transaction { logs[0].append(.counters(lastID: batch, revision: batch)) }
            #expect(progress.oldestWait == .zero)
            progress.noteFirstEntry()
            let time = progress.openTime
            #expect(logs.takeBatch(into: &body)?.number == batch)
            progress.noteTaken(since: time)
            #expect(progress.oldestWait.map { $0 > .zero } == true)
            progress.noteDurable(batch)
            #expect(progress.oldestWait == nil)
        }
    }

    @Test func saysThatABatchIsDurableOnlyAfterTheJournalHasItAndGathersTheNextMeanwhile() {
        let journal = FakeJournal()
        let harness = Harness(journal)
        harness.log(0, revision: 1)
        journal.begun.wait()
        // The first commit batch is on its way. New entries are for the next one, of both logs.
        harness.log(1, revision: 2)
        harness.log(0, revision: 3)
        #expect(harness.progress.durableBatch == 0)
        #expect(harness.logs.newestBatch == 2)
        #expect(harness.progress.oldestWait != nil)
        #expect(harness.durable.withLock { $0 }.isEmpty)
        journal.permits.signal()
        harness.said.wait()
        #expect(harness.durable.withLock { $0 } == [1])
        journal.permits.signal()
        harness.said.wait()
        #expect(harness.progress.durableBatch == 2)
        #expect(harness.progress.oldestWait == nil)
        harness.thread.stop()
        #expect(journal.state.withLock { $0.counts } == [1, 2])
        #expect(harness.progress.statistics.commitCount == 2)
        #expect(harness.progress.statistics.entryCount == 3)
        #expect(harness.receiver.batches.withLock { $0.map(\.number) } == [1, 2])
        #expect(journal.state.withLock { $0.forgotten } == 2)
        #expect(journal.state.withLock { $0.eraseCount } == 1)
    }

    @Test func commitsWhatWaitsBeforeItStops() {
        let journal = FakeJournal()
        let harness = Harness(journal)
        for _ in 0..<8 { journal.permits.signal() }
        harness.log(0, revision: 1)
        harness.thread.stop()
        #expect(harness.progress.durableBatch == 1)
        #expect(journal.state.withLock { $0.records.count } == 1)
    }

    @Test func aFailureIsToldOnceAndNothingIsDurableAfterIt() {
        let journal = FakeJournal()
        let error = StorageError.syncFailed(.system("sync", "journal", code: EIO))
        journal.state.withLock { $0.failure = error }
        let harness = Harness(journal)
        for _ in 0..<8 { journal.permits.signal() }
        harness.log(0, revision: 1)
        harness.said.wait()
        harness.log(0, revision: 2)
        harness.thread.stop()
        #expect(harness.failures.withLock { $0 } == [error])
        #expect(harness.progress.durableBatch == 0)
        #expect(harness.durable.withLock { $0 }.isEmpty)
    }

    @Test func aFullDiskIsNoticedAndItsEndToo() {
        let journal = FakeJournal()
        journal.state.withLock { $0.mode = .readOnly }
        let harness = Harness(journal) { journal.state.withLock { $0.hasBallast = false } }
        journal.permits.signal()
        harness.log(0, revision: 1)
        harness.said.wait()
        // What was let in is committed all the same.
        #expect(!harness.progress.isWritable)
        #expect(harness.progress.writableByteCount == 1 << 41)
        let news: [SpaceNews] = [
            .gaveUpBallast, .full(freeByteCount: 1 << 40, writableByteCount: 1 << 41),
        ]
        #expect(harness.space.withLock { $0 } == news)
        #expect(harness.progress.durableBatch == 1)
        harness.thread.stop()
    }

    @Test func commitsWhatWasLetInHoweverMuchWaitsForCheckpoints() {
        let journal = FakeJournal()
        let harness = Harness(journal)
        harness.receiver.waiting.withLock { $0 = 2 << 20 }
        for _ in 0..<8 { journal.permits.signal() }
        harness.log(0, revision: 1)
        harness.said.wait()
        #expect(harness.progress.durableBatch == 1)
        harness.log(0, revision: 2)
        harness.said.wait()
        #expect(harness.progress.durableBatch == 2)
        harness.thread.stop()
    }

    @Test func letsNothingInWhileCheckpointsLagAndChangesAgainOnceTheyHaveCaughtUp() throws {
        let journal = FakeJournal()
        let harness = Harness(journal)
        for _ in 0..<8 { journal.permits.signal() }
        #expect(harness.progress.congestion == nil)
        harness.receiver.waiting.withLock { $0 = 1 << 20 }
        harness.log(0, revision: 1)
        harness.said.wait()
        while harness.progress.congestion == nil {}
        guard case .checkpoints(let backlog, let retryTime) = harness.progress.congestion
        else { throw Unexpected(harness.progress.congestion) }
        #expect(backlog.pendingByteCount == 1 << 20)
        #expect(retryTime == .seconds(1))
        harness.progress.countRefusalByCheckpoints()
        // The thread looks by itself: with nothing let in, nobody would wake it.
        harness.receiver.waiting.withLock { $0 = 0 }
        while harness.progress.congestion != nil {}
        harness.thread.stop()
        let news = harness.news.withLock { $0 }
        guard news.count == 2, case .lagging(let told, _, _) = news[0],
            case .caughtUp(_, let refusedCount) = news[1]
        else { throw Unexpected(news) }
        #expect(told.pendingByteCount == 1 << 20)
        #expect(refusedCount == 1)
    }
}

/// A journal that keeps its records in memory and commits one only when the test says so.
final class FakeJournal: WatchedJournal {
    /// What the test and the journal's thread share.
    struct State {
        var records: [[UInt8]] = []
        var counts: [UInt32] = []
        /// What the next appends fail with.
        var failure: StorageError?
        var mode = SpaceWatch.Mode.writable
        var hasBallast = true
        var forgotten: UInt64 = 0
        /// The numbers that were handed over, each once.
        var eraseCount = 0
    }

    let state = Locked(State())
    /// One signal for each append that may proceed.
    let permits = DispatchSemaphore(value: 0)
    /// One signal for each append that has begun.
    let begun = DispatchSemaphore(value: 0)

    var last: JournalPosition {
        JournalPosition(number: UInt64(state.withLock { $0.records.count }), hash: 0)
    }

    func append(
        _ body: Span<UInt8>,
        count: UInt32,
        at microseconds: UInt64
    ) throws(StorageError) -> JournalPosition {
        begun.signal()
        permits.wait()
        if let failure = state.withLock({ $0.failure }) { throw failure }
        let bytes = Array(copying: body)
        state.withLock { state in
            state.records.append(bytes)
            state.counts.append(count)
        }
        return last
    }

    func replay(
        after number: UInt64,
        _ body: (JournalRecord, Span<UInt8>) -> Bool
    ) throws(StorageError) {}

    func forget(through number: UInt64) throws(StorageError) {
        state.withLock { $0.forgotten = number }
    }

    func erase() throws(StorageError) { state.withLock { $0.eraseCount += 1 } }

    var unmarkedByteCount: Int { 0 }

    func syncMark() throws(StorageError) -> SyncMark? { nil }

    func noteSynced(_ mark: SyncMark) throws(StorageError) {}

    func noteFailedSync(_ error: StorageError) {}

    func freeByteCount() throws(StorageError) -> Int { 1 << 40 }

    var fileByteCount: Int { 0 }

    var writableByteCount: Int { 1 << 41 }

    var hasBallast: Bool { state.withLock { $0.hasBallast } }

    func checkSpace() throws(StorageError) -> SpaceWatch.Mode { state.withLock { $0.mode } }
}

@Suite struct CommitStatisticsTests {
    @Test func addsUpWhatWasCommitted() {
        let statistics = CommitStatistics()
        statistics.count(entryCount: 3, took: .microseconds(250))
        statistics.count(entryCount: 1, took: .milliseconds(2))
        #expect(statistics.commitCount == 2)
        #expect(statistics.entryCount == 4)
        #expect(statistics.maximumMicroseconds == 2_000)
    }

    @Test func percentilesAreOfTheLatestCommits() {
        let statistics = CommitStatistics()
        #expect(statistics.microseconds(percentile: 50) == 0)
        // Long ones, that the later thousand push out.
        for _ in 0..<10 { statistics.count(entryCount: 1, took: .seconds(1)) }
        for microseconds in 1...CommitStatistics.recentCount {
            statistics.count(entryCount: 1, took: .microseconds(microseconds))
        }
        #expect(statistics.microseconds(percentile: 50) == 512)
        #expect(statistics.microseconds(percentile: 99) == 1_014)
        #expect(statistics.microseconds(percentile: 100) == 1_024)
        #expect(statistics.maximumMicroseconds == 1_000_000)
    }
}
