public import FeedConcurrency
import Synchronization

/// Takes the log entries of the writes of one event loop.
///
/// It is a handle, copied freely, that is valid as long as its `ChangeLogs`. The entries that the body
/// of ``transaction(_:)`` appends are one *transaction*. A commit batch takes all of a transaction or
/// nothing. Lock order: the log's lock comes before every other. `Sendable` because the lock guards
/// the block's contents.
@safe
public struct ChangeLog: BitwiseCopyable, @unchecked Sendable {
    @usableFromInline let block: UnsafeMutablePointer<LogBlock>?

    /// The log of a block, which outlives the handle.
    fileprivate init(block: UnsafeMutablePointer<LogBlock>?) {
        unsafe self.block = block
    }

    /// No log: appended entries are dropped, and there is nothing to lock.
    package static var none: ChangeLog {
        @inline(__always) get { unsafe ChangeLog(block: nil) }
    }

    package var isNone: Bool {
        @inline(__always) get { unsafe block == nil }
    }

    // Public and inlinable, because each vote is in a transaction: the compiler does not inline a
    // `package` function into another module.

    /// Runs a transaction: appends the log entries of the body, and notifies of the first entry of a
    /// commit batch afterwards.
    ///
    /// Waits for a commit batch that is being taken. Transactions of one log do not nest.
    @inlinable
    @inline(__always)
    public func transaction<Result, Failure: Error>(
        _ body: () throws(Failure) -> sending Result
    ) throws(Failure) -> Result {
        guard let block = unsafe block else { return try body() }
        var isFirst = false
        defer { if isFirst { unsafe block.pointee.batchState.pointee.onFirstEntry() } }
        return try unsafe block.pointee.lock.withLock { (_) throws(Failure) -> sending Result in
            unsafe block.pointee.beginTransaction()
            defer { isFirst = unsafe block.pointee.endTransaction() }
            return try body()
        }
    }

    /// Counts the bytes of the transaction so far as waiting, before the transaction ends.
    package func countWaitingBytes() {
        guard let block = unsafe block else { return }
        unsafe block.pointee.waitingByteCount.store(byteCount, ordering: .relaxed)
    }

    /// The bytes appended since the last commit batch; within a transaction only.
    package var byteCount: Int {
        guard let block = unsafe block else { return 0 }
        assert(
            unsafe block.pointee.contents.pointee.isInTransaction,
            "A log is read within a transaction."
        )
        return unsafe block.pointee.contents.pointee.buffer.count
    }

    /// Appends a log entry of at most so many bytes, which `body` writes; O(bytes).
    ///
    /// A revision is written as the difference to the previous one.
    @inline(__always)
    func write(
        _ kind: UInt8,
        revision: UInt64?,
        atMost byteCount: Int,
        _ body: (inout LogEntryWriter) -> Void
    ) {
        guard let block = unsafe block else { return }
        assert(
            unsafe block.pointee.contents.pointee.isInTransaction,
            "An entry is appended within a transaction."
        )
        let contents = unsafe block.pointee.contents
        let count = unsafe contents.pointee.buffer.count
        if unsafe contents.pointee.buffer.capacity - count
            < byteCount + LogEntryWriter.headByteCount
        {
            unsafe contents.pointee.buffer.grow(by: byteCount + LogEntryWriter.headByteCount)
        }
        if unsafe contents.pointee.entryCount == 0 { unsafe block.pointee.openBatchHasEntry() }
        var writer = unsafe LogEntryWriter(next: contents.pointee.buffer.base + count)
        writer.byte(kind)
        if let revision {
            let previous = unsafe contents.pointee.previousRevision
            assert(revision >= previous, "The revisions of a log rise.")
            writer.varint(revision &- previous)
            unsafe contents.pointee.previousRevision = revision
        }
        body(&writer)
        let end = unsafe writer.next - contents.pointee.buffer.base
        precondition(
            unsafe end <= contents.pointee.buffer.capacity,
            "An entry took more bytes than it announced."
        )
        unsafe contents.pointee.buffer.count = end
        unsafe contents.pointee.entryCount &+= 1
    }
}

/// Writes the fields of a log entry into room that was made for them.
@safe
struct LogEntryWriter {
    /// The most bytes of a kind and a revision.
    static let headByteCount = 1 + maximumVarintByteCount
    static let maximumVarintByteCount = 10

    fileprivate var next: UnsafeMutablePointer<UInt8>

    @inline(__always)
    mutating func byte(_ value: UInt8) {
        unsafe next.pointee = value
        unsafe next += 1
    }

    /// Writes a number, seven bits a byte, the lowest first.
    @inline(__always)
    mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            byte(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        byte(UInt8(truncatingIfNeeded: rest))
    }

    /// Writes all bytes of a number, the lowest first.
    @inline(__always)
    mutating func fixed<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value) {
        unsafe UnsafeMutableRawPointer(next)
            .storeBytes(of: value.littleEndian, as: Value.self)
        unsafe next += MemoryLayout<Value>.size
    }

    mutating func text(_ text: String) {
        var text = text
        varint(UInt64(text.utf8.count))
        text.withUTF8 { bytes in
            if let source = bytes.baseAddress {
                unsafe next.update(from: source, count: bytes.count)
            }
            unsafe next += bytes.count
        }
    }
}

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

    /// Whether the open commit batch has a log entry.
    package var hasOpenEntry: Bool { newestBatch >= openBatch }

    /// The bytes in all logs as of their last transactions; O(logs).
    package var waitingByteCount: Int {
        (0..<count).reduce(0) { sum, loop in
            unsafe sum + blocks[loop].waitingByteCount.load(ordering: .relaxed)
        }
    }

    /// Takes the open commit batch, if any log entry waits, into a body, and drops the body's old
    /// bytes; O(bytes).
    ///
    /// The body begins with so many zeros, which the caller has a use for. The logs are locked only while
    /// their buffers are swapped.
    ///
    /// With `leavingOutNext` no batch gets the number after those taken so far: the one before the open batch
    /// is for a record that is none.
    package func takeBatch(
        into body: inout [UInt8],
        after zeroCount: Int = 0,
        leavingOutNext: Bool = false
    ) -> (number: UInt64, entryCount: Int)? {
        body.removeAll(keepingCapacity: true)
        for _ in 0..<zeroCount { body.append(0) }
        return taking.withLock { _ in
            var entryCount = 0
            let batch = openBatch
            withLocks(of: 0..<count) {
                for loop in 0..<count {
                    unsafe entryCount += blocks[loop].swapBuffer(for: &spares[loop])
                }
                let next = batch + (entryCount > 0 ? 1 : 0) + (leavingOutNext ? 1 : 0)
                unsafe batchState.pointee.openBatch.store(next, ordering: .relaxed)
            }
            guard entryCount > 0 else { return nil }
            for loop in 0..<count { unsafe spares[loop].move(to: &body) }
            return (batch, entryCount)
        }
    }

    /// Lets the commit batches go on from a number: another machine has made those before it.
    ///
    /// The logs are empty. The caller has noted the batches before the number as durable.
    package func begin(at batch: UInt64) {
        taking.withLock { _ in
            withLocks(of: 0..<count) {
                precondition(
                    batch >= openBatch && newestBatch < openBatch,
                    "Batches go on from \(batch), behind batch \(newestBatch) and with empty logs."
                )
                unsafe batchState.pointee.openBatch.store(batch, ordering: .relaxed)
                unsafe batchState.pointee.newestBatch.store(batch - 1, ordering: .relaxed)
            }
        }
    }

    /// Runs the body with the locks of these logs held, which are taken in their order.
    private func withLocks(of loops: Range<Int>, _ body: () -> Void) {
        guard let first = loops.first else { return body() }
        unsafe blocks[first].lock.withLock { _ in withLocks(of: loops.dropFirst(), body) }
    }
}

/// The state that all logs of a set share: the open commit batch, and the call for its first entry.
@usableFromInline
struct BatchState: ~Copyable {
    /// The commit batch that takes log entries; it changes while all logs are locked.
    let openBatch: Atomic<UInt64>
    /// The newest commit batch that has a log entry.
    let newestBatch: Atomic<UInt64>
    /// Called without a lock after a transaction has put the first log entry into a commit batch.
    @usableFromInline let onFirstEntry: @Sendable () -> Void
}

/// One log: its lock, the contents that the lock guards, and the state of the set.
///
/// The addresses in the block never change, so they may be read without the lock. The lock has no value
/// of its own, because the log entries of a transaction are appended from inside the closure that
/// holds it.
@safe
@usableFromInline
struct LogBlock: ~Copyable {
    @usableFromInline let lock = Lock(())
    let contents: UnsafeMutablePointer<LogContents>
    @usableFromInline let batchState: UnsafeMutablePointer<BatchState>
    /// The bytes as of the end of the last transaction.
    let waitingByteCount = Atomic<Int>(0)

    init(_ batchState: UnsafeMutablePointer<BatchState>) {
        unsafe self.batchState = batchState
        unsafe contents = .allocate(capacity: 1)
        unsafe contents.initialize(to: LogContents())
    }

    @usableFromInline
    deinit {
        unsafe contents.deinitialize(count: 1)
        unsafe contents.deallocate()
    }

    /// Begins a transaction; the lock is held.
    @usableFromInline
    func beginTransaction() {
        unsafe contents.pointee.isInTransaction = true
    }

    /// Ends a transaction; the lock is held.
    ///
    /// - Returns: Whether the transaction put the first log entry into a commit batch.
    @usableFromInline
    func endTransaction() -> Bool {
        let isFirst = unsafe contents.pointee.isFirst
        unsafe contents.pointee.isFirst = false
        unsafe contents.pointee.isInTransaction = false
        let count = unsafe contents.pointee.buffer.count
        waitingByteCount.store(count, ordering: .relaxed)
        return isFirst
    }

    /// Notes that the open commit batch has an entry.
    ///
    /// This comes before the release of any lock under which others could see the change.
    @inline(never)
    func openBatchHasEntry() {
        let batch = unsafe batchState.pointee.openBatch.load(ordering: .relaxed)
        let newest = unsafe batchState.pointee.newestBatch.exchange(batch, ordering: .relaxed)
        if newest != batch { unsafe contents.pointee.isFirst = true }
    }

    /// Begins the next commit batch while the lock is held: swaps the bytes for an empty buffer,
    /// and returns the number of their log entries.
    func swapBuffer(for empty: inout LogBuffer) -> Int {
        let entryCount = unsafe contents.pointee.entryCount
        unsafe swap(&contents.pointee.buffer, &empty)
        unsafe contents.pointee.entryCount = 0
        unsafe contents.pointee.previousRevision = 0
        waitingByteCount.store(0, ordering: .relaxed)
        return entryCount
    }
}

struct LogContents: ~Copyable {
    /// The bytes of the log entries since the last commit batch.
    var buffer = LogBuffer()
    var entryCount = 0
    /// The revision of the last entry that has one; 0 after a commit batch.
    var previousRevision: UInt64 = 0
    var isInTransaction = false
    /// Whether this transaction put the first log entry into a commit batch, so that its end calls
    /// `onFirstEntry`.
    var isFirst = false
}

/// The bytes of a log since the last commit batch, or bytes of a batch that are about to be moved
/// into its body.
@safe
struct LogBuffer: ~Copyable {
    private static let initialCapacity = 64 * 1_024
    /// The bytes that a log keeps of a grown buffer: several iterations' worth of imports.
    private static let keptByteCount = 1 << 22

    /// The first byte; `count` bytes are written, `capacity` may be.
    private(set) var base: UnsafeMutablePointer<UInt8>
    private(set) var capacity = LogBuffer.initialCapacity
    var count = 0

    init() {
        unsafe base = .allocate(capacity: Self.initialCapacity)
    }

    deinit {
        unsafe base.deallocate()
    }

    /// Makes room for so many bytes more; O(1) over many calls.
    @inline(never)
    mutating func grow(by byteCount: Int) {
        let newCapacity = max(capacity * 2, count + byteCount)
        let grown = UnsafeMutablePointer<UInt8>.allocate(capacity: newCapacity)
        unsafe grown.update(from: base, count: count)
        unsafe base.deallocate()
        unsafe base = grown
        capacity = newCapacity
    }

    /// Moves the bytes to the end of a body, behind their count; an empty buffer adds nothing.
    ///
    /// Memory that an import has made large is given back.
    mutating func move(to body: inout [UInt8]) {
        guard count > 0 else { return }
        precondition(count <= Int(UInt32.max), "The byte count of a log's part has 32 bits.")
        for shift in stride(from: 0, to: 32, by: 8) {
            body.append(UInt8(truncatingIfNeeded: count >> shift))
        }
        unsafe body.append(contentsOf: UnsafeBufferPointer(start: base, count: count))
        count = 0
        if capacity > Self.keptByteCount {
            unsafe base.deallocate()
            capacity = Self.initialCapacity
            unsafe base = .allocate(capacity: capacity)
        }
    }
}
