import FeedConcurrency
import Synchronization

/// The logs of all event loops, and the commit batches that are taken from them.
///
/// A commit batch is the bytes of all logs at a moment when one thread has locked all of them. So a
/// commit batch splits no transaction. It has an entry only together with the entries that the
/// entry depends on, or after them. All its revisions are below the revisions of the next batch.
/// `Sendable` because the logs are locked, and one thread at a time takes a batch.
@safe
package final class ChangeLogs: @unchecked Sendable {
    package let count: Int
    private let blocks: UnsafeMutablePointer<LogBlock>
    private let batchState: UnsafeMutablePointer<BatchState>
    /// The buffers that are swapped with those of the logs; they belong to the thread that takes a batch.
    private let spares: UnsafeMutablePointer<LogBuffer>
    private let taking = Lock(())

    /// Makes empty logs.
    ///
    /// - Parameters:
    ///   - count: The event loops.
    ///   - firstBatch: The number of the first commit batch, from 1.
    ///   - onFirstEntry: Called once for each commit batch, after the transaction that put the
    ///     first log entry into it, on that transaction's thread.
    package init(count: Int, firstBatch: UInt64, onFirstEntry: @escaping @Sendable () -> Void) {
        precondition(count > 0 && firstBatch > 0, "There is at least one log, and no batch 0.")
        self.count = count
        unsafe batchState = .allocate(capacity: 1)
        unsafe batchState.initialize(
            to: BatchState(
                openBatch: Atomic(firstBatch),
                newestBatch: Atomic(firstBatch - 1),
                onFirstEntry: onFirstEntry
            )
        )
        unsafe blocks = .allocate(capacity: count)
        unsafe spares = .allocate(capacity: count)
        for loop in 0..<count {
            unsafe (blocks + loop).initialize(to: LogBlock(batchState))
            unsafe (spares + loop).initialize(to: LogBuffer())
        }
    }

    deinit {
        unsafe blocks.deinitialize(count: count)
        unsafe blocks.deallocate()
        unsafe spares.deinitialize(count: count)
        unsafe spares.deallocate()
        unsafe batchState.deinitialize(count: 1)
        unsafe batchState.deallocate()
    }

    package subscript(loop: Int) -> ChangeLog {
        precondition(loop >= 0 && loop < count, "There is no log of loop \(loop).")
        return unsafe ChangeLog(block: blocks + loop)
    }

    /// The newest commit batch that has a log entry; one below the first where none has.
    ///
    /// A value that is loaded after a read or a write is at least the commit batch of every change
    /// that the read saw or the write made.
    package var newestBatch: UInt64 {
        unsafe batchState.pointee.newestBatch.load(ordering: .relaxed)
    }

    /// The commit batch that takes log entries now.
    package var openBatch: UInt64 { unsafe batchState.pointee.openBatch.load(ordering: .relaxed) }

    /// The bytes in all logs as of their last transactions; O(logs).
    package var waitingByteCount: Int {
        (0..<count).reduce(0) { sum, loop in
            unsafe sum + blocks[loop].waitingByteCount.load(ordering: .relaxed)
        }
    }

    /// Takes the open commit batch, if any log entry waits, into a body, and drops the body's old
    /// bytes; O(bytes).
    ///
    /// The logs are locked only while their buffers are swapped.
    package func takeBatch(into body: inout [UInt8]) -> (number: UInt64, entryCount: Int)? {
        body.removeAll(keepingCapacity: true)
        return taking.withLock { _ in
            var entryCount = 0
            let batch = openBatch
            withLocks(of: 0..<count) {
                for loop in 0..<count {
                    unsafe entryCount += blocks[loop].swapBuffer(for: &spares[loop])
                }
                if entryCount > 0 {
                    unsafe batchState.pointee.openBatch.store(batch + 1, ordering: .relaxed)
                }
            }
            guard entryCount > 0 else { return nil }
            for loop in 0..<count { unsafe spares[loop].move(to: &body) }
            return (batch, entryCount)
        }
    }

    /// Runs the body with the locks of these logs held, which are taken in their order.
    private func withLocks(of loops: Range<Int>, _ body: () -> Void) {
        guard let first = loops.first else { return body() }
        unsafe blocks[first].lock.withLock { _ in withLocks(of: loops.dropFirst(), body) }
    }
}
