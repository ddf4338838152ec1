import FeedJournal
import FeedState
import FeedTestSupport
import Foundation

/// A journal that keeps its records in memory and commits one only when the test says so.
final class FakeJournal: WatchedJournal {
    /// What the test and the journal's thread share.
    struct State {
        var records: [[UInt8]] = []
        var counts: [UInt32] = []
        /// What the next appends fail with.
        var failure: JournalError?
        var mode = SpaceWatch.Mode.writable
        var hasBallast = true
        var forgotten: UInt64 = 0
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
    ) throws(JournalError) -> JournalPosition {
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
    ) throws(JournalError) {}

    func forget(through number: UInt64) throws(JournalError) {
        state.withLock { $0.forgotten = number }
    }

    func freeByteCount() throws(JournalError) -> Int { 1 << 40 }

    var fileByteCount: Int { 0 }

    var writableByteCount: Int { 1 << 41 }

    var hasBallast: Bool { state.withLock { $0.hasBallast } }

    func checkSpace() throws(JournalError) -> SpaceWatch.Mode {
        state.withLock { $0.mode }
    }
}
