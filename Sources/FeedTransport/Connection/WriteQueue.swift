/// The byte counts of what a connection has to send and the kernel has not taken; the bytes are
/// stored elsewhere.
///
/// Bytes are appended and then in flight. One write at a time takes all appended bytes, because the
/// event loop completes one write request an iteration, however small. Bytes that the handler owes
/// count as unsent too, though they are not here yet.
package struct WriteQueue {
    /// Bytes that the handler keeps and will write later.
    package private(set) var owedByteCount = 0

    /// Bytes that wait for the write before them.
    package private(set) var appendedByteCount = 0

    /// Bytes passed to the event loop.
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

    /// Everything unsent, with what is owed.
    package var byteCount: Int { owedByteCount + ownByteCount }

    /// The unsent bytes that are here.
    package var ownByteCount: Int { appendedByteCount + inFlightByteCount }

    /// Whether everything was sent.
    package var isEmpty: Bool { byteCount == 0 }

    /// Whether no bytes wait that may be sent, so that new bytes can go out at once.
    package var isClear: Bool { ownByteCount == 0 }

    /// Adds bytes that will be written later.
    package mutating func owe(_ byteCount: Int) {
        owedByteCount += byteCount
        rise()
    }

    /// Takes bytes from those owed, to be sent or appended now.
    package mutating func pay(_ byteCount: Int) {
        precondition(byteCount <= owedByteCount, "More is written than was owed.")
        owedByteCount -= byteCount
        sink()
    }

    /// Adds bytes; returns true if a write must start now.
    package mutating func append(_ byteCount: Int) -> Bool {
        appendedByteCount += byteCount
        rise()
        return inFlightByteCount == 0
    }

    /// Puts all appended bytes in flight.
    package mutating func startWrite() {
        precondition(inFlightByteCount == 0, "A write is in flight already.")
        inFlightByteCount = appendedByteCount
        appendedByteCount = 0
    }

    /// Counts the write in flight as sent; returns true if the next one must start now.
    package mutating func endWrite() -> Bool {
        inFlightByteCount = 0
        sink()
        return appendedByteCount > 0
    }

    /// Drops everything.
    package mutating func removeAll() {
        owedByteCount = 0
        appendedByteCount = 0
        inFlightByteCount = 0
        isAboveHighWatermark = false
    }

    private mutating func rise() {
        if byteCount >= highWatermarkByteCount { isAboveHighWatermark = true }
    }

    private mutating func sink() {
        if byteCount <= lowWatermarkByteCount { isAboveHighWatermark = false }
    }
}
