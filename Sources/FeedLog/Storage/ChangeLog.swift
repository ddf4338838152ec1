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
    init(block: UnsafeMutablePointer<LogBlock>?) {
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
