internal import FeedConcurrency

/// The bytes that a handler left: the start of a frame that it waits to see whole, or work for its
/// next loop iteration.
///
/// It is empty on most connections most of the time, and then holds no memory.
package struct ReadBuffer {
    private var storage: [UInt8] = []
    private var start = 0

    package init() {}

    package var byteCount: Int { storage.count - start }

    /// The memory that it takes; it counts as none if nothing is held.
    package var capacityByteCount: Int { isEmpty ? 0 : storage.capacity }

    package var isEmpty: Bool { byteCount == 0 }

    package mutating func append(_ bytes: RawSpan) {
        if start > 0 {
            storage.removeSubrange(..<start)
            start = 0
        }
        storage.makeRoom(for: bytes.byteCount)
        storage.append(copying: bytes)
    }

    /// Drops bytes from the front; an emptied buffer returns large memory.
    ///
    /// With `overwriting` nothing of them, nor of earlier ones, is left in memory.
    package mutating func consume(_ byteCount: Int, overwriting: Bool = false) {
        precondition(byteCount <= self.byteCount, "More bytes were consumed than were shown.")
        start += byteCount
        if start == storage.count {
            removeAll(overwriting: overwriting)
        } else if overwriting {
            overwriteConsumed()
        }
    }

    package mutating func removeAll(overwriting: Bool = false) {
        if overwriting { storage.overwrite() }
        let keeps = storage.capacity <= TransportLimits.retainedCapacityByteCount
        storage.removeAll(keepingCapacity: keeps)
        start = 0
    }

    /// Moves what is held to other memory, and overwrites all of the old one.
    private mutating func overwriteConsumed() {
        var rest: [UInt8] = []
        storage.withRawSpan(droppingFirst: start) { rest.append(copying: $0) }
        storage.overwrite()
        storage = rest
        start = 0
    }

    package func withBytes<Result>(_ body: (RawSpan) -> Result) -> Result {
        storage.withRawSpan(droppingFirst: start, body)
    }
}

/// The short reads of one wait, shown to their handlers together after all reads.
///
/// The connections are not retained: libuv holds each until its close callback, which comes after
/// the step that shows these reads.
@safe
struct Arrivals: ~Copyable {
    @unsafe private struct Arrival {
        let connection: Unmanaged<TCPConnection>
        let range: Range<Int>
    }

    /// The reads that are announced before the first of them is shown.
    private static let announcedCount = 64
    /// How many reads ahead of the announced one the memory of the handler is requested.
    private static let prefetchDistance = 4

    private var arrivals: [Arrival] = unsafe []
    private var bytes: [UInt8] = []

    var isEmpty: Bool { unsafe arrivals.isEmpty }

    /// Keeps a copy of what a connection has read; O(n), amortised.
    mutating func append(_ connection: TCPConnection, _ read: RawSpan) {
        let start = bytes.count
        bytes.makeRoom(for: read.byteCount)
        bytes.append(copying: read)
        unsafe arrivals.append(
            Arrival(connection: .passUnretained(connection), range: start..<bytes.count)
        )
    }

    /// Overwrites what was shown, so that no secret of it stays in memory; all was shown.
    mutating func overwrite() {
        precondition(isEmpty, "Reads are shown before they are overwritten.")
        bytes.overwrite()
    }

    /// Shows each connection what it has read, and forgets all of it.
    mutating func deliver() {
        bytes.withRawSpan { bytes in
            var first = 0
            while unsafe first < arrivals.count {
                let end = unsafe min(first + Self.announcedCount, arrivals.count)
                for index in first..<min(first + Self.prefetchDistance, end) {
                    prefetchHandler(index)
                }
                for index in first..<end {
                    let ahead = index + Self.prefetchDistance
                    if ahead < end { prefetchHandler(ahead) }
                    let arrival = unsafe arrivals[index]
                    unsafe arrival.connection._withUnsafeGuaranteedRef {
                        unsafe $0.announce(bytes.extracting(arrival.range))
                    }
                }
                for index in first..<end {
                    let arrival = unsafe arrivals[index]
                    unsafe arrival.connection._withUnsafeGuaranteedRef {
                        unsafe $0.show(bytes.extracting(arrival.range))
                    }
                }
                first = end
            }
        }
        unsafe arrivals.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
    }

    /// Requests the memory of a handler that is shown bytes soon.
    private func prefetchHandler(_ index: Int) {
        unsafe arrivals[index].connection._withUnsafeGuaranteedRef {
            $0.receiverMemory.prefetch()
        }
    }
}

extension [UInt8] {
    /// Calls `body` with the bytes, without copying them; the first `dropCount` bytes are left out.
    // Declared here because the standard library marks a span's raw bytes unsafe; for bytes they
    // are safe.
    package func withRawSpan<Result>(
        droppingFirst dropCount: Int = 0,
        _ body: (RawSpan) -> Result
    ) -> Result {
        unsafe body(span.bytes.extracting(droppingFirst: dropCount))
    }

    package mutating func append(copying bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
    }

    /// Removes all bytes and overwrites the memory of the array, which keeps it.
    ///
    /// O(capacity). The array must not share its memory with another one.
    package mutating func overwrite() {
        removeAll(keepingCapacity: true)
        append(contentsOf: repeatElement(0, count: capacity))
        removeAll(keepingCapacity: true)
    }

    /// Makes room for more bytes, and overwrites the memory that the array outgrows, which may have a
    /// part of a secret.
    fileprivate mutating func makeRoom(for byteCount: Int) {
        guard count + byteCount > capacity, capacity > 0 else { return }
        var grown: [UInt8] = []
        grown.reserveCapacity(Swift.max(count + byteCount, 2 * capacity))
        withRawSpan { grown.append(copying: $0) }
        overwrite()
        self = grown
    }
}
