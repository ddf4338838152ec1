internal import FeedConcurrency
internal import FeedTransport

/// A connection that a loop's ``Outbox`` sends answers to, and the count of the bytes that the outbox
/// holds for it.
///
/// Held bytes are unsent like those that the transport has. Together they are limited: above the
/// limit the connection is suspended, so that nothing more is executed for it. It is closed only
/// after its held answers have been sent.
final class Recipient {
    /// The transport releases its handler, and with it this object, once the connection is closed.
    private let connection: TCPConnection
    /// The unsent bytes at which the connection is suspended.
    private let unsentLimitByteCount: Int
    /// The answers that the outbox holds.
    private var heldByteCount = 0
    private var isSuspended = false
    private var closesAfterRelease = false

    private static var hotByteCount: Int { 48 }

    init(_ connection: TCPConnection, unsentLimitByteCount: Int) {
        self.connection = connection
        self.unsentLimitByteCount = unsentLimitByteCount
    }

    var peer: SocketAddress { connection.peer }

    /// The bytes of answers that the peer's kernel or this one has not taken.
    var unsentByteCount: Int { heldByteCount + connection.pendingByteCount }

    var isOpen: Bool { connection.isOpen }

    /// Its memory and its connection's, to be requested some time before answers are released.
    var memory: Memory {
        Memory(
            own: .of(self, byteCount: Self.hotByteCount),
            connection: .of(connection, byteCount: TCPConnection.hotByteCount)
        )
    }

    /// Requests its own memory, some time before answers are held.
    func prefetch() { ObjectMemory.of(self, byteCount: Self.hotByteCount).prefetch() }

    /// Sends answers that need not be held.
    func send(_ bytes: RawSpan) {
        precondition(heldByteCount == 0, "An answer would pass those that are held.")
        connection.write(bytes)
    }

    /// Sends answers that pass those that are held.
    func sendAhead(_ bytes: RawSpan) { connection.write(bytes) }

    func hold(_ byteCount: Int) {
        heldByteCount += byteCount
        if unsentByteCount >= unsentLimitByteCount { suspend() }
    }

    /// Sends the first of the answers that are held; without effect where the connection is closed.
    func release(_ bytes: RawSpan) { release(bytes, inPlaceOf: bytes.byteCount) }

    /// Sends bytes in place of some that are held.
    func release(_ bytes: RawSpan, inPlaceOf byteCount: Int) {
        heldByteCount -= byteCount
        connection.write(bytes)
        if closesAfterRelease {
            if heldByteCount == 0 { connection.closeAfterFlush() }
        } else if isSuspended,
            heldByteCount == 0 || unsentByteCount <= unsentLimitByteCount / 4
        {
            isSuspended = false
            connection.resume()
        }
    }

    /// The connection has requests left and no room for their answers.
    ///
    /// If the outbox holds all unsent bytes, only a release makes room, so the connection is
    /// suspended until then. Otherwise the transport waits for its own writes.
    func waitForRoom() {
        if heldByteCount > 0, connection.pendingByteCount == 0 { suspend() }
    }

    /// Closes the connection once all answers have been sent, also those that are held now.
    ///
    /// Nothing more can be sent.
    func closeAfterFlush() {
        guard heldByteCount > 0 else { return connection.closeAfterFlush() }
        closesAfterRelease = true
        suspend()
    }

    private func suspend() {
        isSuspended = true
        connection.suspend()
    }
}

extension Recipient {
    /// The memory that a release of answers looks at.
    struct Memory: BitwiseCopyable {
        fileprivate let own: ObjectMemory
        fileprivate let connection: ObjectMemory

        func prefetch() {
            own.prefetch()
            connection.prefetch()
        }
    }
}

@available(*, unavailable)
extension Recipient: Sendable {}
