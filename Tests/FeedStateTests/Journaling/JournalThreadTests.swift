import FeedJournal
import FeedRanking
import FeedState
import FeedTestSupport
import Foundation
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct JournalThreadTests {
    /// A thread over a fake journal, and what it says.
    private final class Harness: Sendable {
        let logs: EffectLogs
        let thread: JournalThread
        let durable = Locked<[UInt64]>([])
        let failures = Locked<[JournalError]>([])
        let said = DispatchSemaphore(value: 0)

        init(_ journal: FakeJournal, _ directory: DataDirectory) throws {
            let wake = WakeUp()
            logs = EffectLogs(count: 2, firstCut: 1) { wake.call() }
            var events = JournalThread.Events()
            let (durable, failures, said) = (durable, failures, said)
            events.durable = { cut in
                durable.withLock { $0.append(cut) }
                said.signal()
            }
            events.failed = { error in
                failures.withLock { $0.append(error) }
                said.signal()
            }
            thread = JournalThread(
                journal: Handed(journal),
                keepsSegments: false,
                logs: logs,
                folding: try directory.foldThread(),
                events: events
            )
            wake.set { [weak thread] in thread?.wake() }
            thread.start()
        }

        /// Appends a vote's effect to a log, as a section of its own.
        func log(_ loop: Int, revision: UInt64) {
            let log = logs[loop]
            log.lock()
            let counts = PostCounts(
                id: PostID(rawValue: 1),
                upvoteCount: revision,
                downvoteCount: 0,
                revision: revision
            )
            log.append(Effect.counts(counts))
            log.unlock()
        }
    }

    @Test func saysThatACutIsDurableOnlyAfterTheJournalHasItAndGathersTheNextMeanwhile() throws {
        let journal = FakeJournal()
        let harness = try Harness(journal, DataDirectory())
        harness.log(0, revision: 1)
        journal.begun.wait()
        // The first cut is on its way: what comes now is for the next one, of both logs.
        harness.log(1, revision: 2)
        harness.log(0, revision: 3)
        #expect(harness.thread.durableCut == 0)
        #expect(harness.logs.newestCut == 2)
        #expect(harness.thread.oldestWait != nil)
        #expect(harness.durable.withLock { $0 }.isEmpty)
        journal.permits.signal()
        harness.said.wait()
        #expect(harness.durable.withLock { $0 } == [1])
        journal.permits.signal()
        harness.said.wait()
        #expect(harness.thread.durableCut == 2)
        #expect(harness.thread.oldestWait == nil)
        harness.thread.stop()
        #expect(journal.state.withLock { $0.counts } == [1, 2])
        #expect(harness.thread.statistics.commitCount == 2)
        #expect(harness.thread.statistics.effectCount == 3)
    }

    @Test func commitsWhatWaitsBeforeItStops() throws {
        let journal = FakeJournal()
        let harness = try Harness(journal, DataDirectory())
        for _ in 0..<8 { journal.permits.signal() }
        harness.log(0, revision: 1)
        harness.thread.stop()
        #expect(harness.thread.durableCut == 1)
        #expect(journal.state.withLock { $0.records.count } == 1)
    }

    @Test func aFailureIsToldOnceAndNothingIsDurableAfterIt() throws {
        let journal = FakeJournal()
        let error = JournalError.syncFailed(FileError("sync", "journal", code: EIO))
        journal.state.withLock { $0.failure = error }
        let harness = try Harness(journal, DataDirectory())
        for _ in 0..<8 { journal.permits.signal() }
        harness.log(0, revision: 1)
        harness.said.wait()
        harness.log(0, revision: 2)
        harness.thread.stop()
        #expect(harness.failures.withLock { $0 } == [error])
        #expect(harness.thread.durableCut == 0)
        #expect(harness.durable.withLock { $0 }.isEmpty)
    }

    @Test func aFullDiskIsNoticedAndItsEndToo() throws {
        let journal = FakeJournal()
        journal.state.withLock { $0.mode = .readOnly }
        let harness = try Harness(journal, DataDirectory())
        journal.permits.signal()
        harness.log(0, revision: 1)
        harness.said.wait()
        // What was let in is committed all the same.
        #expect(!harness.thread.isWritable)
        #expect(harness.thread.durableCut == 1)
        harness.thread.stop()
    }
}
