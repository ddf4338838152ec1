/// The byte counts of what a connection has to send and the kernel has not taken; the bytes are
/// stored elsewhere.
///
/// Bytes are appended and then in flight. One write at a time takes all appended bytes, because the
/// event loop completes one write request an iteration, however small.
package struct WriteQueue {
    /// Bytes that wait for the write before them.
    package private(set) var appendedByteCount = 0
    package private(set) var inFlightByteCount = 0
    /// Whether the high watermark was reached and the low one not yet.
    package private(set) var isAboveHighWatermark = false

    private let highWatermarkByteCount: Int
    private let lowWatermarkByteCount: Int

    package init(_ configuration: TransportConfiguration) {
        highWatermarkByteCount = configuration.highWatermarkByteCount
        lowWatermarkByteCount = configuration.lowWatermarkByteCount
    }

    package var byteCount: Int { appendedByteCount + inFlightByteCount }

    /// Whether all bytes were sent, so that new ones can go out at once.
    package var isEmpty: Bool { byteCount == 0 }

    /// Adds bytes; returns true if a write must start now.
    package mutating func append(_ byteCount: Int) -> Bool {
        appendedByteCount += byteCount
        if self.byteCount >= highWatermarkByteCount { isAboveHighWatermark = true }
        return inFlightByteCount == 0
    }

    package mutating func startWrite() {
        precondition(inFlightByteCount == 0, "A write is in flight already.")
        inFlightByteCount = appendedByteCount
        appendedByteCount = 0
    }

    /// Counts the write in flight as sent; returns true if the next one must start now.
    package mutating func endWrite() -> Bool {
        inFlightByteCount = 0
        if byteCount <= lowWatermarkByteCount { isAboveHighWatermark = false }
        return appendedByteCount > 0
    }

    package mutating func removeAll() {
        appendedByteCount = 0
        inFlightByteCount = 0
        isAboveHighWatermark = false
    }
}
