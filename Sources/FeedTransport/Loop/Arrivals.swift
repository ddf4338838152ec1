internal import FeedConcurrency

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
