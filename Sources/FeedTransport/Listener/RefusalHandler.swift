/// Sends the refusal to a connection over the maximum, and closes it.
final class RefusalHandler: ConnectionHandler {
    private let refusal: [UInt8]
    private let closed: () -> Void

    /// Sends `refusal`; calls `closed` when the connection is gone.
    init(_ refusal: [UInt8], closed: @escaping () -> Void) {
        self.refusal = refusal
        self.closed = closed
    }

    func connectionOpened(_ connection: TCPConnection) {
        connection.write(refusal)
        connection.closeAfterFlush()
    }

    func connection(_ connection: TCPConnection, received bytes: RawSpan) -> ReadProgress {
        ReadProgress(consumedByteCount: bytes.byteCount)
    }

    func connectionEndedInput(_ connection: TCPConnection) {}

    func connectionClosed(_ connection: TCPConnection, reason: CloseReason) {
        closed()
    }
}
