/// What a connection has to send and the kernel has not taken: counts only, the bytes are beside.
///
/// Bytes are first appended, then in flight. One flight at a time takes all that was appended, as
/// the event loop completes one write request a turn however small.
package struct WriteQueue {
    /// Bytes that wait for the flight before them.
    package private(set) var appendedByteCount = 0

    /// Bytes handed to the event loop.
    package private(set) var inFlightByteCount = 0

    /// Whether the high watermark was reached and the low one not yet.
    package private(set) var isAboveHighWatermark = false

    private let highWatermarkByteCount: Int
    private let lowWatermarkByteCount: Int

    /// An empty queue with the watermarks of `configuration`.
    package init(_ configuration: TransportConfiguration) {
        highWatermarkByteCount = configuration.highWatermarkByteCount
        lowWatermarkByteCount = configuration.lowWatermarkByteCount
    }

    /// Everything unsent.
    package var byteCount: Int { appendedByteCount + inFlightByteCount }

    /// Whether everything was sent.
    package var isEmpty: Bool { byteCount == 0 }

    /// Adds bytes; true if a flight must start now.
    package mutating func append(_ byteCount: Int) -> Bool {
        appendedByteCount += byteCount
        if self.byteCount >= highWatermarkByteCount { isAboveHighWatermark = true }
        return inFlightByteCount == 0
    }

    /// Puts everything appended in flight.
    package mutating func startFlight() {
        precondition(inFlightByteCount == 0, "A write is in flight already.")
        inFlightByteCount = appendedByteCount
        appendedByteCount = 0
    }

    /// Takes the flight as sent; true if the next one must start now.
    package mutating func endFlight() -> Bool {
        inFlightByteCount = 0
        if byteCount <= lowWatermarkByteCount { isAboveHighWatermark = false }
        return appendedByteCount > 0
    }

    /// Forgets everything.
    package mutating func removeAll() {
        appendedByteCount = 0
        inFlightByteCount = 0
        isAboveHighWatermark = false
    }
}
